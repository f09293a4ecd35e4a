# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Tiny data sets in real layouts, for the tests of this package and of its users."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
import contextlib
import dataclasses
import pathlib

from tfds_builders import catalog
from tfds_builders import mirror
from tfds_builders.rows import row as row_lib


def write(row: row_lib.Row, layout: row_lib.Layout, directory: pathlib.Path,
          num_examples: int = 80) -> tuple[row_lib.Row, Mapping[str, int]]:
  """Writes fixture files of one layout of a row into `directory`.

  Returns:
    The row with this layout only, without the sums and counts of the real files; and the number of
    examples by source split, about `num_examples` in all and at least two per class.
  """
  directory.mkdir(parents=True, exist_ok=True)
  class_names = row.class_names or tuple(str(index) for index in range(row.num_classes))
  counts = layout.parser.write_fixture(
      directory, [file.name for file in layout.files], class_names,
      per_class=max(2, num_examples // row.num_classes), **layout.args)
  files = tuple(dataclasses.replace(file, url=None, checksums=(), content_checksums=(), size=None)
                for file in layout.files)
  layout = dataclasses.replace(layout, files=files, num_examples=counts)
  return dataclasses.replace(row, layouts=(layout,), tfds=None), counts


@contextlib.contextmanager
def installed(row: row_lib.Row, directory: pathlib.Path | None = None,
              family: str = "nevis") -> Iterator[None]:
  """Replaces the row of the same name by `row`, and the mirror by `directory` (None: no mirror)."""
  mirror_before = mirror.state()
  mirror.restore(((directory,) if directory else (), False))
  try:
    with catalog.stand_in(family, row):
      yield
  finally:
    mirror.restore(mirror_before)
