# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The ledger: the cost of a run by phase, and its budget.

FLOPs and MACs are defined in `suite/compute/flops.py`. An unknown number is None and stays None in
every sum: a total with an unknown part is unknown, never too small.

A budget limits what a run spends on learning, that is in all phases but "predict", and what its
learner holds:

    ledger = Ledger(Budget.parse("1 TFLOP, 20 MB"))
    steps = ledger.grant(1000, lambda n: cost_of_a_step * n + cost_of_the_end)

Steps are granted before the first one, with all that follows from them, such as a last validation
(`contracts/spending.py`). So the limit holds without a look at it during training.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import dataclasses
import decimal
import re
import sys
from typing import Any, Protocol

# The bytes that a learner holds, in records of runs with a budget.
HELD = ("state_bytes", "memory_bytes", "stored_bytes")
PHASES = ("pretrain", "meta_train", "train", "search", "select", "validate", "predict")
_TRAINING = PHASES[:4]

Number = int | None
_CUT = "budget"  # Of a snapshot, beside the phases.
_PREFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
# Unit -> (attribute of a budget, its size).
_UNITS = {
    **{f"{prefix}FLOP": ("flops", size) for prefix, size in _PREFIXES.items()},
    **{f"{prefix}MAC": ("macs", size) for prefix, size in _PREFIXES.items()},
    **{f"{prefix}B": ("bytes", size) for prefix, size in (*_PREFIXES.items(), *_BINARY.items())}}
_MOST = 10**30  # Of a limit; a year of the largest computers is 1e26 FLOPs.
_SHOWN = "FLOP or MAC (kFLOP, MFLOP, GFLOP, TFLOP, PFLOP) and B (kB, MB, GB, KiB, MiB, GiB)"


def add(a: Number, b: Number) -> Number:
  """Returns a + b, or None if either is None (unknown)."""
  return None if a is None or b is None else a + b


def costs(record: Mapping[str, Any]) -> dict[str, Any]:
  """The cost totals of a record without seconds and peaks, as a summary repeats them."""
  names = ("flops", "macs", "examples", "steps", "budget", "selected")
  return {k: v for k, v in record.items() if k.split("_")[0] in names or k in HELD}


class BudgetError(ValueError):
  """A budget that cannot be read, or that a run cannot keep."""


@dataclasses.dataclass(frozen=True)
class Budget:
  """The limits of a run; None: no limit.

  Attributes:
    flops, macs: of learning.
    bytes: of the learner's state, its memory and what it stores.
  """

  flops: Number = None
  macs: Number = None
  bytes: Number = None

  @classmethod
  def parse(cls, text: str) -> Budget:
    """Returns the budget that a text says: "1 TFLOP, 20 MB", "3 GMAC"."""
    found: dict[str, int] = {}
    for part in str(text).split(","):
      match = re.fullmatch(r"\s*([0-9][0-9_]*(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)\s*([A-Za-z/]+)\s*",
                           part)
      if match is None:
        raise BudgetError(f"A budget has {part.strip()!r}; a part is a number above 0 and a unit, "
                          f"{_SHOWN}, as in '1 TFLOP, 20 MB'.")
      number, unit = match[1].replace("_", ""), match[2]
      if unit not in _UNITS and unit.endswith("s"):
        unit = unit[:-1]
      if unit not in _UNITS:
        near = [name for name in _UNITS if name.casefold() == unit.casefold()]
        hint = f"Write {near[0]}." if near else (
            "That is a rate; write FLOP." if re.search(r"(?i)flop(s|/s)$", match[2]) else
            f"Allowed are {_SHOWN}.")
        raise BudgetError(f"A budget has {part.strip()!r}, whose unit {match[2]!r} is unknown. "
                          f"{hint}")
      name, size = _UNITS[unit]
      if name in found:
        raise BudgetError(f"The budget {text!r} limits {name} twice; leave one of them out.")
      try:
        amount = decimal.Decimal(number) * size
      except decimal.InvalidOperation:  # An exponent that is no number of decimals.
        amount = decimal.Decimal(0)
      if not 1 <= amount <= _MOST:
        raise BudgetError(f"A budget has {part.strip()[:80]!r}; a limit is at least 1 {name} and "
                          f"at most {_MOST:.0e}. Leave out a limit that no run reaches.")
      found[name] = int(amount)
    return cls(**found)


class Cost(Protocol):
  """What steps cost, such as a `flops.Cost`."""

  @property
  def flops(self) -> Number:
    """FLOPs; None: unknown."""

  @property
  def macs(self) -> Number:
    """Multiply-adds; None: unknown."""

  @property
  def uncounted(self) -> tuple[str, ...]:
    """The ops that could not be counted."""


@dataclasses.dataclass(frozen=True)
class Known:
  """A `Cost` that is given, not counted."""

  flops: Number
  macs: Number
  uncounted: tuple[str, ...] = ()


@dataclasses.dataclass
class Account:
  """The accumulated cost of one phase.

  flops, macs and steps are None once an unknown number was charged; peak_bytes is None where the
  device does not report memory.
  """

  flops: Number = 0
  macs: Number = 0
  examples: int = 0
  steps: Number = 0
  seconds: float = 0.0
  peak_bytes: Number = None


class Ledger:
  """Adds up what a run spends. Totals are plain numbers, ready for a record.

  Args:
    budget: of the run; None: there is none.

  Attributes:
    budget: as given.
    held: returns the bytes that the learner holds, by `HELD`; None: it has not begun.
    is_cut: whether `grant` has granted less than was asked.
    num_charges: calls of `charge` for learning, in this process.
    declared: FLOPs of training that code of users charged by itself, in this process.
    selected_on: the data on which a search selected the run's settings, in words; "": none did.
  """

  def __init__(self, budget: Budget | None = None):
    self._accounts = {phase: Account() for phase in PHASES}
    self.budget, self.is_cut = budget, False
    self.num_charges = self.declared = 0
    self.selected_on = ""
    self._before: tuple[Number, Number] = (0, 0)  # Spent before the first event.
    self.held: Callable[[], Mapping[str, int]] | None = None

  def charge(
      self,
      phase: str,
      *,
      flops: Number,
      macs: Number,
      examples: int = 0,
      steps: Number = 0,
      seconds: float = 0.0,
      peak_bytes: Number = None,
  ) -> None:
    """Adds a cost to a phase.

    Args:
      phase: one of `PHASES`.
      flops, macs: counts, or None if they could not be counted.
      examples: images processed. seconds: wall-clock time.
      steps: gradient steps taken; None: unknown.
      peak_bytes: device memory at its highest; the largest one is kept.
    """
    if phase not in self._accounts:
      raise ValueError(f"Unknown phase {phase!r}; a cost belongs to one of {', '.join(PHASES)}.")
    account = self._accounts[phase]
    self.num_charges += phase != "predict"
    caller = sys._getframe(1)
    if caller.f_code.co_name == "charge" and caller.f_back is not None:  # `Context.charge`.
      caller = caller.f_back
    if phase in _TRAINING and caller.f_globals.get("__name__", "").partition(".")[0] != "suite":
      self.declared += flops or 0
    account.flops = add(account.flops, flops)
    account.macs = add(account.macs, macs)
    account.examples += examples
    account.steps = add(account.steps, steps)
    account.seconds += seconds
    if peak_bytes is not None:
      account.peak_bytes = max(peak_bytes, account.peak_bytes or 0)
    if self.budget is not None and phase != "predict" and not self._covers(Known(0, 0)):
      raise BudgetError(
          f"The budget of this run does not cover what was charged to {phase!r}: "
          f"{self._shown(Known(0, 0))}. Whatever charges asks `context.ledger.grant` first.")

  def charge_search(self, *, flops: Number, macs: Number, examples: int, steps: int) -> None:
    """Charges the search of the run's settings, before its first event.

    Raises:
      BudgetError: the budget does not cover it.
    """
    if self.budget is not None and not self._covers(cost := Known(flops, macs)):
      raise BudgetError(f"The budget of this run does not cover the search of its settings: "
                        f"{self._shown(cost)}. Give a larger --budget, or leave --settings out.")
    self.charge("search", flops=flops, macs=macs, examples=examples, steps=steps)
    self._before = self.spent()

  def grant(self, wanted: int, cost: Callable[[int], Cost]) -> int:
    """Returns the number of steps that may be taken: the largest one that the budget covers.

    Once that is less than was asked, learning has ended: nothing more is granted.

    Args:
      wanted: the largest number that makes sense.
      cost: number of steps from 1 -> their cost, with all that comes before and after them; it
        never falls. Without a budget it is not called.

    Raises:
      BudgetError: a cost is unknown, the learner holds too much, or nothing at all can be learned.
    """
    found = self.fits(wanted, cost)
    self.is_cut = self.is_cut or found < wanted
    return found

  def fits(self, wanted: int, cost: Callable[[int], Cost]) -> int:
    """Returns what `grant` would grant, and grants nothing."""
    if self.budget is None or not wanted:
      return wanted
    if self.is_cut:
      return 0
    self.check_bytes()
    if self._covers(cost(wanted)):
      return wanted
    low, high = 0, wanted
    while high - low > 1:
      middle = (low + high) // 2
      low, high = (middle, high) if self._covers(cost(middle)) else (low, middle)
    if not low and self.spent() == self._before:
      raise BudgetError(f"The budget of this run does not cover its first step: "
                        f"{self._shown(cost(1))}. Give a larger --budget.")
    return low

  def spent(self) -> tuple[Number, Number]:
    """FLOPs and MACs that were spent on learning."""
    found: list[Number] = [0, 0]
    for phase, account in self._accounts.items():
      if phase != "predict":
        found = [add(found[0], account.flops), add(found[1], account.macs)]
    return found[0], found[1]

  def _covers(self, cost: Cost) -> bool:
    """Whether the budget covers a cost besides what was spent."""
    assert self.budget is not None
    for name, limit, spent, more in zip(
        ("FLOPs", "MACs"), (self.budget.flops, self.budget.macs), self.spent(),
        (cost.flops, cost.macs)):
      if limit is None:
        continue
      if spent is None or more is None:
        raise BudgetError(
            f"The {name} of this method are unknown ({'; '.join(cost.uncounted) or 'not given'}), "
            "so it cannot keep a budget. Leave --budget out, or take a method whose steps can be "
            "counted (docs/flops.md).")
      if spent + more > limit:
        return False
    return True

  def _shown(self, cost: Cost) -> str:
    """The limits beside what is spent with a further cost."""
    assert self.budget is not None
    budget = self.budget
    flops, macs = self.spent()
    return ", ".join(
        f"{add(spent, more):,} of {limit:,} {unit}" for unit, limit, spent, more in (
            ("FLOPs", budget.flops, flops, cost.flops), ("MACs", budget.macs, macs, cost.macs))
        if limit is not None and spent is not None and more is not None)

  def is_unknown(self, phase: str) -> bool:
    """Whether neither FLOPs nor MACs of a phase are known."""
    return self._accounts[phase].flops is None and self._accounts[phase].macs is None

  def check_bytes(self) -> dict[str, int]:
    """Returns the bytes that the learner holds, by `HELD`; an error if they are too many."""
    found = {} if self.held is None else dict(self.held())
    limit = None if self.budget is None else self.budget.bytes
    if limit is not None and sum(found.values()) > limit:
      raise BudgetError(
          f"The budget of this run is {limit:,} bytes, and the learner holds "
          f"{sum(found.values()):,}: "
          f"{', '.join(f'{name} {number:,}' for name, number in found.items())}. Take a smaller "
          "net or memory, or give a larger --budget.")
    return found

  def totals(self) -> dict[str, Any]:
    """Flat totals: "flops", ... over all phases and "flops_train", ... for each used phase."""
    out: dict[str, Any] = {}
    used = {p: a for p, a in self._accounts.items() if a != Account()}
    for field in ("flops", "macs", "examples", "steps"):
      total: Number = 0
      for account in used.values():
        total = add(total, getattr(account, field))
      out[field] = total
      out.update({f"{field}_{p}": getattr(a, field) for p, a in used.items()})
    out["seconds"] = round(sum(a.seconds for a in used.values()), 3)
    out.update({f"seconds_{p}": round(a.seconds, 3) for p, a in used.items()})
    peaks = [a.peak_bytes for a in used.values() if a.peak_bytes is not None]
    out["peak_bytes"] = max(peaks) if peaks else None
    if self.selected_on:
      out["selected_on"] = self.selected_on
    if self.budget is not None:
      for name, spent in zip(("flops", "macs"), self.spent()):
        if (limit := getattr(self.budget, name)) is not None:
          out[f"budget_{name}"] = limit
          out[f"budget_{name}_left"] = None if spent is None else limit - spent
      out["budget_cut"] = self.is_cut
    return out

  def snapshot(self) -> dict[str, dict[str, Any]]:
    """Plain values from which `restore` rebuilds the ledger exactly."""
    found = {phase: dataclasses.asdict(account) for phase, account in self._accounts.items()}
    return found if self.budget is None else {**found, _CUT: {"is_cut": self.is_cut}}

  def add(self, snapshot: dict[str, dict[str, Any]]) -> None:
    """Adds the costs of another ledger, as its `snapshot` returned them."""
    for phase, costs in snapshot.items():
      self.charge(phase, **costs)

  def restore(self, snapshot: dict[str, dict[str, Any]]) -> None:
    self._accounts = {phase: Account(**snapshot.get(phase, {})) for phase in PHASES}
    self.is_cut = snapshot.get(_CUT, {}).get("is_cut", False)
