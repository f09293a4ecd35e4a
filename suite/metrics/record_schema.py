# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The records of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Record = Mapping[str, Any]


def of_steps(records: Iterable[Record]) -> list[Record]:
  """Returns the records of a sequence's steps."""
  return [record for record in records if "first_step" in record]


def of_phases(records: Iterable[Record]) -> list[Record]:
  """Returns the records of a sequence's offline phases, without that of the base classes."""
  return [record for record in records if "phase" in record]
