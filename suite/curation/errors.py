# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The one error of curation: what was given cannot be used, with the next step in the message."""

from __future__ import annotations

from collections.abc import Iterable

_SHOWN = 5


class CurationError(ValueError):
  """Something given is missing, damaged, of another run or contradicts itself."""


def some(names: Iterable[object]) -> str:
  """The first few of many names, and how many more there are."""
  known = [str(name) for name in names]
  more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
  return ", ".join(map(repr, known[:_SHOWN])) + more
