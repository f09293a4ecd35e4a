# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: one module a data set, in a folder by its domain (appendix L).

"nevis/cifar10" is the `ROW` of `object/cifar10.py`; text in images is `ocr`. If a name is not a
Python identifier, its module begins with an underscore, and characters that an identifier cannot
have become underscores: "15-scenes" would be `scene/_15_scenes.py`. New modules are found
automatically. `shared` holds facts of several rows; `row.py` explains the fields.
"""

from __future__ import annotations

from collections.abc import Iterator
import importlib
import pkgutil

from tfds_builders.rows import row as row_lib


def _rows() -> Iterator[row_lib.Row]:
  for folder in pkgutil.iter_modules(__path__, f"{__name__}."):
    if folder.name != f"{__name__}.shared":
      package = importlib.import_module(folder.name)
      for module in pkgutil.iter_modules(package.__path__, f"{folder.name}."):
        yield importlib.import_module(module.name).ROW


ROWS: tuple[row_lib.Row, ...] = tuple(sorted(_rows(), key=lambda row: row.name))
