# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What the records of a row hold: an input (an image, a vector, or none) and labels.

Also the check that a source, after it was read completely, matches its row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfds_builders import errors
from tfds_builders.parsers import example
from tfds_builders.parsers import images
from tfds_builders.rows import row as row_lib

MAX_UNREADABLE = 0.005  # Share of all images. Several published archives have a few damaged images.


def input_name(row: row_lib.Row) -> str:
  """Returns the name of the input feature: "image", "feature", or "" if there is none."""
  return "image" if row.holds_images else "feature" if row.feature_size > 0 else ""


def input_features(row: row_lib.Row) -> dict[str, Any]:
  """Returns the TFDS declaration of the input feature, by its name."""
  import tensorflow_datasets as tfds  # pylint: disable=g-import-not-at-top
  if row.holds_images:
    return {"image": tfds.features.Image(shape=(None, None, row.channels))}
  if row.feature_size > 0:
    return {"feature": tfds.features.Tensor(shape=(row.feature_size,), dtype=np.float32,
                                            encoding=tfds.features.Encoding.BYTES)}
  return {}


def input_in_record(row: row_lib.Row, data: bytes) -> dict[str, Any]:
  """Returns the input feature of a record, made of an example's bytes."""
  if row.holds_images:
    return {"image": data}
  return {"feature": np.frombuffer(data, np.float32)} if row.feature_size > 0 else {}


def unreadable_inputs(row: row_lib.Row, examples: Sequence[example.Example]) -> dict[int, str]:
  """Returns the examples that cannot be used, {index: location and reason}."""
  if row.holds_images:
    known = {index: one.problem for index, one in enumerate(examples) if one.problem}
    rest = [index for index in range(len(examples)) if index not in known]
    found = images.unreadable([(examples[i].image, examples[i].where) for i in rest], row.channels)
    return {**known, **{rest[index]: reason for index, reason in found.items()}}
  problems = {index: _problem(row.feature_size, one.image)
              for index, one in enumerate(examples)} if row.feature_size > 0 else {}
  return {index: f"{examples[index].where} {found}" for index, found in problems.items() if found}


def _problem(size: int, data: bytes) -> str:
  """Returns what is wrong with the bytes of a vector [size]; "" if nothing is."""
  if len(data) != 4 * size:
    return f"has {len(data) / 4:g} values; {size} were expected"
  if not np.all(np.isfinite(np.frombuffer(data, np.float32))):
    return "has values that are not finite"
  return ""


def checked_labels(row: row_lib.Row, one: example.Example) -> list[example.Label]:
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


def labels_in_record(row: row_lib.Row, found: Sequence[example.Label], ids: Mapping[str, int]
                     ) -> Any:
  """Converts class names and ids to an id (-1: no label), or to a list of ids in multi-label."""
  numbers = [ids[label] if isinstance(label, str) else label for label in found]
  return numbers if row.kind == row_lib.MULTI_LABEL else numbers[0] if numbers else -1


def check_complete(row: row_lib.Row, counts: Mapping[str, int], expected: Mapping[str, int],
                   unreadable: Sequence[str], found_names: set[str]) -> None:
  """Raises DataError if examples or classes are missing, or too many images are damaged.

  Args:
    row: the facts.
    counts: examples by source split, unreadable ones included.
    expected: the expected `counts`; {} if unknown.
    unreadable: a line for each image that does not decode.
    found_names: class names that occur in the source.
  """
  if expected and dict(counts) != dict(expected):
    raise errors.DataError(
        f"The source of {row.name} holds {dict(counts)} examples by split, expected "
        f"{dict(expected)}: it is incomplete or another edition. Get it again.")
  lacking = [name for name in row.splits if not counts.get(name) and name not in row.optional]
  if lacking:
    raise errors.DataError(f"The source of {row.name} has no examples in {', '.join(lacking)}: it "
                           "is incomplete or another edition. Get it again.")
  num = sum(counts.values())
  if len(unreadable) > MAX_UNREADABLE * num:
    raise errors.DataError(
        f"{len(unreadable)} of {num} images of {row.name} cannot be decoded; at most "
        f"{MAX_UNREADABLE:.1%} may be left out. The first: {'; '.join(unreadable[:3])}. Get the "
        "source again.")
  if row.class_names is None and len(found_names) not in (0, row.num_classes):
    raise errors.DataError(f"The source of {row.name} has {len(found_names)} classes, expected "
                           f"{row.num_classes}: it is incomplete.")
