# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Check that a source, after it was read completely, matches its row."""

from __future__ import annotations

from typing import Mapping, Sequence

from tfds_builders import errors
from tfds_builders.rows import row as row_lib

MAX_UNREADABLE = 0.005  # Share of all images. Several published archives have a few damaged images.


def check(row: row_lib.Row, counts: Mapping[str, int], expected: Mapping[str, int],
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
