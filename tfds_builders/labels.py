# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Labels of examples: validation, and conversion to those of a record."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from tfds_builders import errors
from tfds_builders.parsers import example
from tfds_builders.rows import row as row_lib


def checked(row: row_lib.Row, one: example.Example) -> list[example.Label]:
  """Returns the example's labels as a list; DataError if the row has no such label.

  Any name is accepted if the row takes the class names from the source.
  """
  labels = ([] if one.label is None else
            list(one.label) if isinstance(one.label, tuple) else [one.label])
  for label in labels:
    if isinstance(label, str):
      known = row.class_names is None or label in row.class_names
    else:
      known = 0 <= label < row.num_classes
    if not known:
      raise errors.DataError(f"{one.where} has label {label!r}; {row.name} has {row.num_classes} "
                             f"classes: {row.class_names or 'numbered from 0'}.")
  return labels


def in_record(row: row_lib.Row, found: Sequence[example.Label], ids: Mapping[str, int]) -> Any:
  """Converts class names and ids to an id (-1: no label), or to a list of ids in multi-label."""
  numbers = [ids[label] if isinstance(label, str) else label for label in found]
  return numbers if row.kind == row_lib.MULTI_LABEL else numbers[0] if numbers else -1
