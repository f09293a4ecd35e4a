# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The error type of curation; its messages name the next step."""

from __future__ import annotations

from collections.abc import Iterable

_SHOWN = 5


class CurationError(ValueError):
  """An input is missing, damaged, from another run or inconsistent."""


def some(names: Iterable[object]) -> str:
  """Joins the first few of many names and the number of the others."""
  known = [str(name) for name in names]
  more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
  return ", ".join(map(repr, known[:_SHOWN])) + more
