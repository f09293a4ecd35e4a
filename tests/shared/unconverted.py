# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Functions and classes of tests that AutoGraph need not convert.

Graphs that code of users takes part in are converted whole, see `suite/compute/user_code.py`, which
takes longer than what most tests do with them.

`import unconverted`: setup.cfg has this folder on the tests' path.
"""

from __future__ import annotations

from typing import Any, TypeVar

_Part = TypeVar("_Part", bound=Any)


def unconverted(part: _Part) -> _Part:
  """Decorates a function or class without branches on tensors: it counts as the suite's own."""
  part.__module__ = "suite"
  return part
