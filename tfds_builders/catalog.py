# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The data sets that this package knows, by the names that TFDS takes."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import difflib

from tfds_builders import errors
from tfds_builders.rows import cfsl
from tfds_builders.rows import clear
from tfds_builders.rows import fluid
from tfds_builders.rows import lifelong
from tfds_builders.rows import nevis
from tfds_builders.rows import row as row_lib

FAMILIES: dict[str, tuple[row_lib.Row, ...]] = {
    "nevis": nevis.ROWS, "clear10": clear.CLEAR10_ROWS, "clear100": clear.CLEAR100_ROWS,
    "cfsl_omniglot": cfsl.OMNIGLOT_ROWS, "slimagenet64": cfsl.SLIMAGENET_ROWS,
    "mini_imagenet": cfsl.MINI_IMAGENET_ROWS,
    "fluid": fluid.ROWS, "lifelong_cifar10": lifelong.CIFAR10_ROWS,
    "lifelong_imagenet": lifelong.IMAGENET_ROWS}
_STAND_INS: dict[str, row_lib.Row] = {}


def names(variants: bool = False) -> list[str]:
  """Returns all names, sorted; with `variants`, "nevis/cifar10_paper" and the like, too."""
  return sorted(f"{family}/{row.name}" for family in FAMILIES
                for row in (rows(family) if variants else FAMILIES[family]))


def rows(family: str) -> tuple[row_lib.Row, ...]:
  """Returns the rows of a family with their variants: the configurations of its TFDS builder."""
  return tuple(_STAND_INS.get(f"{family}/{one.name}", one)
               for row in FAMILIES[family] for one in row_lib.variants(row))


@contextlib.contextmanager
def stand_in(family: str, row: row_lib.Row) -> Iterator[None]:
  """Replaces the row of the same name by `row`, for tests."""
  before = dict(_STAND_INS)
  _STAND_INS[f"{family}/{row.name}"] = row
  try:
    yield
  finally:
    _STAND_INS.clear()
    _STAND_INS.update(before)


def find(name: str) -> tuple[str, row_lib.Row]:
  """Returns the family and the row of "nevis/mnist"; DataError with similar names if none."""
  for family in FAMILIES:
    for row in rows(family):
      if name == f"{family}/{row.name}":
        return family, row
  short = {known.rsplit("/", 1)[-1]: known for known in names(variants=True)}
  near = difflib.get_close_matches(str(name).rsplit("/", 1)[-1], short, n=3, cutoff=0.5)
  nearest = f"; the nearest: {', '.join(short[match] for match in near)}" if near else ""
  raise errors.DataError(f"Unknown data set {name!r}{nearest}. "
                         "tfds_builders.names() lists all of them.")
