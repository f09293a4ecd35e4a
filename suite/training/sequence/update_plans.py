# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Update times that are given before the sequence begins, such as those of a search.

A plan is a tuple of samples after which to update, in rising order. A learner that trains on all
that is stored goes over t samples in each epoch of an update after t samples, so the cost of a
plan in multiply-adds is proportional to the sum of its times.
"""

from __future__ import annotations

from collections.abc import Sequence
import json
import pathlib
from typing import Any

from suite.system import atomic_files
from suite.training.sequence import update_strategies

Plan = tuple[int, ...]
_STEPS = "steps"


class At(update_strategies.Strategy):
  """Updates after given samples; those after the end of the sequence are left out.

  Args:
    steps: a plan; or the JSON file of one, see `write`.
  """

  is_planned = True

  def __init__(self, steps: Sequence[int] | str):
    self._steps = check("At.steps", read(steps) if isinstance(steps, str) else steps)

  def decide(self, observed: update_strategies.Observed) -> update_strategies.Decision:
    due = next((t for t in self._steps if t >= observed.step), None)
    return update_strategies.Decision(
        due == observed.step, "no further update" if due is None else f"sample {observed.step} of "
        f"{due}")

  def steps_until_possible_update(self, step: int) -> int:
    due = next((t for t in self._steps if t > step), None)
    return update_strategies.FOREVER if due is None else due - step - 1


def cost(plan: Plan) -> int:
  """Samples that one epoch of every update goes over."""
  return sum(plan)


def check(name: str, steps: Sequence[int]) -> Plan:
  """Returns the steps as a plan; `name` is for the message if they are none."""
  rising = all(a < b for a, b in zip(steps, steps[1:]))
  whole = all(isinstance(t, int) and not isinstance(t, bool) and t > 0 for t in steps)
  if not rising or not whole:
    raise ValueError(f"{name} is {list(steps)}; give whole numbers above 0 in rising order.")
  return tuple(steps)


def write(path: pathlib.Path, plan: Plan, **about: Any) -> None:
  """Writes a plan and plain values about it as JSON."""
  path.parent.mkdir(parents=True, exist_ok=True)
  text = json.dumps({_STEPS: plan, **about}, indent=1)
  atomic_files.write(path, f"{text}\n".encode())


def read(path: str | pathlib.Path) -> Plan:
  """Reads the plan that `write` wrote."""
  place = pathlib.Path(path)
  if not place.is_file():
    raise FileNotFoundError(f"There is no plan of update times {str(path)!r}. Give the file that "
                            "tools/update_oracle.py wrote, or the times themselves.")
  try:
    return check(str(place), json.loads(place.read_text(encoding="utf-8"))[_STEPS])
  except (json.JSONDecodeError, KeyError, TypeError) as error:
    raise ValueError(f"{place} is not a plan of update times: {error!r}. Make it again with "
                     "tools/update_oracle.py.") from error
