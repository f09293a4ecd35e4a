# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The data sets that this package knows, by the names that TFDS takes."""

from __future__ import annotations

import difflib
from typing import Dict, List, Tuple

from tfds_builders import errors
from tfds_builders.rows import nevis
from tfds_builders.rows import row as row_lib

FAMILIES: Dict[str, Tuple[row_lib.Row, ...]] = {"nevis": nevis.ROWS}


def names() -> List[str]:
  """All names, sorted: "nevis/cifar10", ..."""
  return sorted(f"{family}/{row.name}" for family, rows in FAMILIES.items() for row in rows)


def find(name: str) -> Tuple[str, row_lib.Row]:
  """The family and the row of "nevis/mnist"; DataError with the nearest names if there is none."""
  for family, rows in FAMILIES.items():
    for row in rows:
      if name == f"{family}/{row.name}":
        return family, row
  raise errors.DataError(f"Unknown data set {name!r}{_nearest(name)}. "
                         "tfds_builders.names() lists all of them.")


def _nearest(name: str) -> str:
  short = {known.rsplit("/", 1)[-1]: known for known in names()}
  near = difflib.get_close_matches(str(name).rsplit("/", 1)[-1], short, n=3, cutoff=0.5)
  return f"; the nearest: {', '.join(short[match] for match in near)}" if near else ""
