# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The ledger: the cost of a run by phase.

FLOPs and MACs are defined in `suite/compute/flops.py`. An unknown number is None and stays None in
every sum: a total with an unknown part is unknown, never too small.
"""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
from typing import Any, Optional

PHASES = ("pretrain", "meta_train", "train", "search", "select", "validate", "predict")

Number = Optional[int]


def add(a: Number, b: Number) -> Number:
  """Returns a + b, or None if either is None (unknown)."""
  return None if a is None or b is None else a + b


def costs(record: Mapping[str, Any]) -> dict[str, Any]:
  """The cost totals of a record without seconds and bytes, as a summary repeats them."""
  names = ("flops", "macs", "examples", "steps")
  return {k: v for k, v in record.items() if k.split("_")[0] in names}


@dataclasses.dataclass
class Account:
  """The accumulated cost of one phase.

  flops and macs are None once an uncountable graph was charged; peak_bytes is None where the device
  does not report memory.
  """

  flops: Number = 0
  macs: Number = 0
  examples: int = 0
  steps: int = 0
  seconds: float = 0.0
  peak_bytes: Number = None


class Ledger:
  """Adds up what a run spends. Totals are plain numbers, ready for a record."""

  def __init__(self):
    self._accounts = {phase: Account() for phase in PHASES}

  def charge(
      self,
      phase: str,
      *,
      flops: Number,
      macs: Number,
      examples: int = 0,
      steps: int = 0,
      seconds: float = 0.0,
      peak_bytes: Number = None,
  ) -> None:
    """Adds a cost to a phase.

    Args:
      phase: one of `PHASES`.
      flops, macs: counts, or None if they could not be counted.
      examples: images processed. steps: gradient steps taken. seconds: wall-clock time.
      peak_bytes: device memory at its highest; the largest one is kept.
    """
    if phase not in self._accounts:
      raise ValueError(f"Unknown phase {phase!r}; a cost belongs to one of {', '.join(PHASES)}.")
    account = self._accounts[phase]
    account.flops = add(account.flops, flops)
    account.macs = add(account.macs, macs)
    account.examples += examples
    account.steps += steps
    account.seconds += seconds
    if peak_bytes is not None:
      account.peak_bytes = max(peak_bytes, account.peak_bytes or 0)

  def totals(self) -> dict[str, Any]:
    """Flat totals: "flops", ... over all phases and "flops_train", ... for each used phase."""
    out: dict[str, Any] = {}
    used = {p: a for p, a in self._accounts.items() if a != Account()}
    for field in ("flops", "macs"):
      total: Number = 0
      for account in used.values():
        total = add(total, getattr(account, field))
      out[field] = total
      out.update({f"{field}_{p}": getattr(a, field) for p, a in used.items()})
    for field in ("examples", "steps"):
      out[field] = sum(getattr(a, field) for a in used.values())
      out.update({f"{field}_{p}": getattr(a, field) for p, a in used.items()})
    out["seconds"] = round(sum(a.seconds for a in used.values()), 3)
    out.update({f"seconds_{p}": round(a.seconds, 3) for p, a in used.items()})
    peaks = [a.peak_bytes for a in used.values() if a.peak_bytes is not None]
    out["peak_bytes"] = max(peaks) if peaks else None
    return out

  def snapshot(self) -> dict[str, dict[str, Any]]:
    """Plain values from which `restore` rebuilds the ledger exactly."""
    return {phase: dataclasses.asdict(account) for phase, account in self._accounts.items()}

  def add(self, snapshot: dict[str, dict[str, Any]]) -> None:
    """Adds the costs of another ledger, as its `snapshot` returned them."""
    for phase, costs in snapshot.items():
      self.charge(phase, **costs)

  def restore(self, snapshot: dict[str, dict[str, Any]]) -> None:
    self._accounts = {phase: Account(**snapshot.get(phase, {})) for phase in PHASES}
