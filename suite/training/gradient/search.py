# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Hyper-parameter search: keras-tuner's oracles choose, this module keeps the score.

The trials of an event are replayed into a fresh oracle after an interruption: what is finished
comes from the journal, so the oracle proposes what it would have proposed without the interruption.
"""

from __future__ import annotations

import dataclasses
import tempfile
from typing import Any, Callable, Dict, Iterable, List, Mapping, Sequence, Tuple, Union

Range = Union[float, Sequence[float]]
# A value; a tuple (low, high) or (low, high, "log"); or a list of values.
Dimension = Union[float, str, bool, Sequence[Any]]

ORACLES = ("random", "grid", "bayesian")
SAMPLINGS = ("linear", "log")
_OBJECTIVE = "validation_error"


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
  """

  oracle: str = "random"
  num_trials: int = 16
  learning_rate: Range = (1e-4, 1e-1)
  label_smoothing: Range = (0.0, 0.3)
  space: Mapping[str, Dimension] = dataclasses.field(default_factory=dict)

  def __post_init__(self):
    if self.oracle not in ORACLES:
      raise ValueError(f"Unknown oracle {self.oracle!r}; allowed are {', '.join(ORACLES)}.")
    if self.num_trials < 1:
      raise ValueError(f"num_trials is {self.num_trials}; a search needs at least one trial.")
    for name in ("learning_rate", "label_smoothing"):
      if name in self.space:
        raise ValueError(f"Search.space has {name!r}, which has an argument of its own; set "
                         f"Search.{name} instead.")
    for name, value in self.dimensions().items():
      _check(name, value, self.oracle)

  def dimensions(self) -> Dict[str, Dimension]:
    """All dimensions by name."""
    rate: Any = self.learning_rate
    if isinstance(rate, tuple) and len(rate) == 2 and self.oracle != "grid":
      rate = (*rate, "log")
    return {"learning_rate": rate, "label_smoothing": self.label_smoothing, **self.space}

  def check_names(self, allowed: Iterable[str]) -> None:
    """Refuses dimensions that the learner does not read; `allowed` are names for `space`."""
    allowed = sorted(allowed)
    unknown = sorted(set(self.space) - set(allowed))
    if unknown:
      raise ValueError(
          f"Unknown parameters in Search.space: {', '.join(map(repr, unknown))}. This learner "
          "reads learning_rate and label_smoothing, which are arguments of Search, and in the "
          f"space {', '.join(allowed) or 'nothing else'}. Rename or remove the unknown ones.")

  def run(self, train: Callable[[int, Dict[str, Any]], Mapping[str, Any]], seed: int,
          agreed: Callable[[Any], Any] = lambda value: value,
          ) -> Tuple[List[Dict[str, Any]], int]:
    """Runs the trials.

    Args:
      train: train(trial index, {name: value of each dimension}) returns plain values with
        "status" ("done" or "failed") and, if done, "validation_error".
      seed: of the oracle's draws.
      agreed: gives all processes of a run the chief's value, see `Distribution.agreed`.

    Returns:
      The trials, each with its hyper-parameters, and the index of the best (the first of equals).

    Raises:
      AllTrialsFailedError: if no trial ended with a finite loss.
    """
    with tempfile.TemporaryDirectory() as folder:
      oracle = self._oracle(seed, folder)
      trials: List[Dict[str, Any]] = []
      while True:
        trial = oracle.create_trial("suite")
        if trial.status == "STOPPED":
          break
        values = agreed({name: _own(value, trial.hyperparameters.get(name))
                         for name, value in self.dimensions().items()})
        result = {"trial": len(trials), **values, **train(len(trials), values)}
        trials.append(result)
        _report(oracle, trial, result)
    done = [t for t in trials if t["status"] == "done"]
    if not done:
      raise AllTrialsFailedError(
          f"All {len(trials)} trials ended with a loss that is not finite (learning rates "
          f"{[round(t['learning_rate'], 6) for t in trials]}). Lower the learning rate, lengthen "
          "the warm-up, or look at the data of this task.")
    return trials, min(done, key=lambda t: t["validation_error"])["trial"]

  def _oracle(self, seed: int, folder: str) -> Any:
    import keras_tuner  # here, because it takes a second to import

    hyper = keras_tuner.HyperParameters()
    for name, value in self.dimensions().items():
      _declare(hyper, name, value, self.oracle)
    kinds = {"random": keras_tuner.oracles.RandomSearchOracle,
             "grid": keras_tuner.oracles.GridSearchOracle,
             "bayesian": keras_tuner.oracles.BayesianOptimizationOracle}
    oracle = kinds[self.oracle](
        objective=keras_tuner.Objective(_OBJECTIVE, "min"), max_trials=self.num_trials,
        hyperparameters=hyper, allow_new_entries=False, tune_new_entries=False,
        max_retries_per_trial=0, max_consecutive_failed_trials=self.num_trials + 1, seed=seed)
    oracle._set_project_dir(folder, "search")  # pylint: disable=protected-access
    # keras-tuner prints a page per trial otherwise.
    oracle.verbose = 0
    return oracle


def _declare(hyper: Any, name: str, value: Any, oracle: str) -> None:
  if isinstance(value, (int, float, str)):  # A bool is an int.
    hyper.Fixed(name, value)
  elif oracle == "grid" or isinstance(value, list):
    hyper.Choice(name, list(value))
  else:
    low, high, *sampling = value
    hyper.Float(name, float(low), float(high), sampling=sampling[0] if sampling else "linear")


def _own(value: Dimension, drawn: Any) -> Any:
  """The drawn value as the search space has it: keras-tuner makes True a 1 and 1 a 1.0."""
  if isinstance(value, (int, float, str)):
    return value
  return value[value.index(drawn)] if drawn in value else drawn


def _check(name: str, value: Any, oracle: str) -> None:
  """Refuses what is not a dimension."""
  if isinstance(value, (int, float, str)):
    return
  allowed = ("give one value, a tuple (low, high) or (low, high, 'log') of numbers, or a list of "
             "values")
  if isinstance(value, list) or (oracle == "grid" and isinstance(value, tuple)):
    if value and len(set(map(type, value))) == 1 and len(set(value)) == len(value):
      return
    allowed = "the values of a list are of one type, and none comes twice"
  elif isinstance(value, tuple) and len(value) in (2, 3):
    low, high, sampling = value if len(value) == 3 else (*value, "linear")
    numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in (low, high))
    if numbers and sampling in SAMPLINGS and low < high and (low > 0 or sampling == "linear"):
      return
    allowed = ("give one number, or (low, high) with low < high"
               f"{' and low > 0' if sampling == 'log' else ''}, or a list of values")
  raise ValueError(f"Search space of {name} is {value!r}; {allowed}.")


def _report(oracle: Any, trial: Any, result: Mapping[str, Any]) -> None:
  """Reports the end of a trial to the oracle."""
  if result["status"] == "done":
    oracle.update_trial(trial.trial_id, {_OBJECTIVE: result["validation_error"]})
    trial = oracle.get_trial(trial.trial_id)
    trial.status = "COMPLETED"
  else:
    trial.status, trial.message = "INVALID", "the loss is not finite"
  oracle.end_trial(trial)
