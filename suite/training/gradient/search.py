# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Hyper-parameter search: keras-tuner's oracles choose, this module keeps the score.

Trials come in waves, whose trainings do not depend on each other. Results of an interrupted search
come from the journal, so the oracle proposes what it would have proposed without the interruption.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from suite.training.tuning import proposals

Range = Union[float, Sequence[float]]
# A value; a tuple (low, high) or (low, high, "log"); or a list of values.
Dimension = Union[float, str, bool, Sequence[Any]]
Hyper = Dict[str, Any]
Result = Mapping[str, Any]
Wave = List[Tuple[int, Hyper]]

ORACLES = proposals.ORACLES
_INITIAL_PER_DIMENSION = 3


class AllTrialsFailedError(RuntimeError):
  """No trial of a search ended with a finite loss."""


@dataclasses.dataclass(frozen=True)
class Search:
  """A search space and a budget.

  A dimension is one value, which is not searched; a tuple (low, high), drawn uniformly, or (low,
  high, "log"), drawn log-uniformly; or a list of values, of which one is drawn. For the oracle
  "grid", which tries values, tuples are lists.

  Attributes:
    oracle: "random" (the paper's), "grid", or "bayesian" (GP-UCB).
    num_trials: how many trainings the event pays for.
    learning_rate: a dimension; (low, high) is drawn log-uniformly.
    label_smoothing: a dimension.
    space: further dimensions by the names that the learner reads; it refuses other names.
    initial_trials: of "bayesian", drawn at random before the process is fitted; None: 3 for each
      dimension searched, as keras-tuner has it, but at most half of the trials.
    at_once: of "bayesian", trials that are proposed together, so that as many processes can train
      them at the same time; 1 is the paper's sequence. Trials of the other oracles do not depend on
      each other, so all are proposed at once.
  """

  oracle: str = "random"
  num_trials: int = 16
  learning_rate: Range = (1e-4, 1e-1)
  label_smoothing: Range = (0.0, 0.3)
  space: Mapping[str, Dimension] = dataclasses.field(default_factory=dict)
  initial_trials: Optional[int] = None
  at_once: int = 1

  def __post_init__(self):
    if self.oracle not in ORACLES:
      raise ValueError(f"Unknown oracle {self.oracle!r}; allowed are {', '.join(ORACLES)}.")
    if self.num_trials < 1:
      raise ValueError(f"num_trials is {self.num_trials}; a search needs at least one trial.")
    for name in ("initial_trials", "at_once"):
      value = getattr(self, name)
      if value is not None and value < 1:
        raise ValueError(f"Search.{name} is {value}; it must be at least 1.")
    for name in ("learning_rate", "label_smoothing"):
      if name in self.space:
        raise ValueError(f"Search.space has {name!r}, which has an argument of its own; set "
                         f"Search.{name} instead.")
    for name, value in self.dimensions().items():
      proposals.check(name, value, self.oracle)
    if self.oracle == "bayesian" and self.num_trials > 1 and not self._searched():
      raise ValueError("Search.oracle is 'bayesian', and every dimension has one value. Give one "
                       "of them a range or a list, or set num_trials to 1.")

  def dimensions(self) -> Dict[str, Dimension]:
    """All dimensions by name."""
    rate, smoothing = _floats(self.learning_rate), _floats(self.label_smoothing)
    if isinstance(rate, tuple) and len(rate) == 2 and self.oracle != "grid":
      rate = (*rate, "log")
    return {"learning_rate": rate, "label_smoothing": smoothing, **self.space}

  def _searched(self) -> List[str]:
    return [name for name, value in self.dimensions().items() if proposals.is_searched(value)]

  def values(self, name: str) -> List[Any]:
    """The values that a dimension of `space` can have; [] if the space does not have it.

    Raises:
      ValueError: it is a range.
    """
    if name not in self.space:
      return []
    value = self.space[name]
    if isinstance(value, tuple) and self.oracle != "grid":
      raise ValueError(f"Search.space has the range {value!r} for {name}; give one value, or a "
                       "list of those to try.")
    return list(value) if isinstance(value, (list, tuple)) else [value]

  def check_names(self, allowed: Iterable[str]) -> None:
    """Refuses dimensions that the learner does not read; `allowed` are names for `space`."""
    allowed = sorted(allowed)
    unknown = sorted(set(self.space) - set(allowed))
    if unknown:
      raise ValueError(
          f"Unknown parameters in Search.space: {', '.join(map(repr, unknown))}. This learner "
          "reads learning_rate and label_smoothing, which are arguments of Search, and in the "
          f"space {', '.join(allowed) or 'nothing else'}. Rename or remove the unknown ones.")

  def run(self, train: Callable[[Wave], Sequence[Result]], seed: int, *,
          decide: Callable[[int, Callable[[], Any]], Any] = lambda first, propose: propose(),
          ) -> Tuple[List[Dict[str, Any]], int]:
    """Runs the trials.

    Args:
      train: train([(trial number, {name: value of each dimension})]) trains the trials of a wave
        in any order and returns the result of each: plain values with "status" ("done" or
        "failed") and, if done, "validation_error".
      seed: of the oracle's draws.
      decide: decide(number of a wave's first trial, propose) returns the hyper-parameters of the
        wave, plain values: propose(), or what it returned before an interruption, or in another
        process.

    Returns:
      The trials, each with its hyper-parameters, and the index of the best (the first of equals).

    Raises:
      AllTrialsFailedError: if no trial ended with a finite loss.
    """
    trials: List[Dict[str, Any]] = []
    while len(trials) < self.num_trials:
      first = len(trials)
      drawn = decide(first, functools.partial(self._propose, trials, seed))
      wave = list(enumerate(drawn, start=first))
      if not wave:
        break
      trials += [{"trial": number, **hyper, **result}
                 for (number, hyper), result in zip(wave, train(wave))]
      if self.oracle != "bayesian":
        break
    done = [t for t in trials if t["status"] == "done"]
    if not done:
      raise AllTrialsFailedError(
          f"All {len(trials)} trials ended with a loss that is not finite (learning rates "
          f"{[round(t['learning_rate'], 6) for t in trials]}). Lower the learning rate, lengthen "
          "the warm-up, or look at the data of this task.")
    return trials, min(done, key=lambda t: t["validation_error"])["trial"]

  def _propose(self, trials: Sequence[Mapping[str, Any]], seed: int) -> List[Hyper]:
    """The hyper-parameters of the next wave; [] if there is none."""
    dimensions = self.dimensions()
    if self.oracle != "bayesian":
      return proposals.independent(self.oracle, dimensions, self.num_trials, seed)
    tried = [({name: t[name] for name in dimensions}, t["validation_error"]) for t in trials]
    wave: List[Hyper] = []
    for _ in range(min(self.at_once, self.num_trials - len(trials))):
      proposed = proposals.bayesian(
          dimensions, self.num_trials, seed, tried=tried, pending=wave,
          num_initial=self._num_initial())
      if proposed is None:
        break
      wave.append(proposed)
    return wave

  def _num_initial(self) -> int:
    if self.initial_trials is not None:
      return self.initial_trials
    return max(1, min(_INITIAL_PER_DIMENSION * len(self._searched()), self.num_trials // 2))


def _floats(value: Any) -> Any:
  """A learning rate of 1 is one of 1.0; what is no number is refused elsewhere."""
  if isinstance(value, (list, tuple)):
    return type(value)(_floats(v) for v in value)
  return float(value) if type(value) is int else value
