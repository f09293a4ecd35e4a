# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: one module a data set, in a folder by the first letter of its name.

"nevis/cifar10" is the `ROW` of `c/cifar10.py`. A name that is no identifier of Python gets an
underscore in front, and one for each character that an identifier cannot have: "15-scenes" would
be `s/_15_scenes.py`. The folder is that of the first letter. A new module is found by itself.
`shared` holds what several rows have in common; fields are explained in `row.py`.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Iterator

from tfds_builders.rows import row as row_lib


def _rows() -> Iterator[row_lib.Row]:
  for folder in pkgutil.iter_modules(__path__, f"{__name__}."):
    if folder.name != f"{__name__}.shared":
      package = importlib.import_module(folder.name)
      for module in pkgutil.iter_modules(package.__path__, f"{folder.name}."):
        yield importlib.import_module(module.name).ROW


ROWS: tuple[row_lib.Row, ...] = tuple(sorted(_rows(), key=lambda row: row.name))
