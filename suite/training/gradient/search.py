# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Hyper-parameter search: keras-tuner's oracles choose, this module keeps the score.

The trials of an event are replayed into a fresh oracle after an interruption: what is finished
comes from the journal, so the oracle proposes what it would have proposed without the interruption.
"""

from __future__ import annotations

import dataclasses
import tempfile
from typing import Any, Callable, Dict, List, Mapping, Sequence, Tuple, Union

Range = Union[float, Sequence[float]]

ORACLES = ("random", "grid", "bayesian")
_OBJECTIVE = "validation_error"


class AllTrialsFailedError(RuntimeError):
  """No trial of a search ended with a finite loss."""


@dataclasses.dataclass(frozen=True)
class Search:
  """A search space and a budget.

  Attributes:
    oracle: "random" (the paper's), "grid", or "bayesian" (GP-UCB).
    num_trials: how many trainings the event pays for.
    learning_rate: one value; (low, high), drawn log-uniformly; or, for "grid", the list of values.
    label_smoothing: one value; (low, high), drawn uniformly; or, for "grid", the list of values.
  """

  oracle: str = "random"
  num_trials: int = 16
  learning_rate: Range = (1e-4, 1e-1)
  label_smoothing: Range = (0.0, 0.3)

  def __post_init__(self):
    if self.oracle not in ORACLES:
      raise ValueError(f"Unknown oracle {self.oracle!r}; allowed are {', '.join(ORACLES)}.")
    if self.num_trials < 1:
      raise ValueError(f"num_trials is {self.num_trials}; a search needs at least one trial.")

  def run(self, train: Callable[[int, Dict[str, float]], Mapping[str, Any]], seed: int,
          agreed: Callable[[Any], Any] = lambda value: value,
          ) -> Tuple[List[Dict[str, Any]], int]:
    """Runs the trials.

    Args:
      train: train(trial index, {"learning_rate", "label_smoothing"}) returns plain values with
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
        values = agreed({name: float(trial.hyperparameters.get(name))
                         for name in ("learning_rate", "label_smoothing")})
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
    _declare(hyper, "learning_rate", self.learning_rate, self.oracle, sampling="log")
    _declare(hyper, "label_smoothing", self.label_smoothing, self.oracle, sampling="linear")
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


def _declare(hyper: Any, name: str, value: Range, oracle: str, sampling: str) -> None:
  if isinstance(value, (int, float)):
    hyper.Fixed(name, float(value))
  elif oracle == "grid":
    hyper.Choice(name, [float(v) for v in value])
  elif len(value) == 2 and value[0] < value[1] and (value[0] > 0 or sampling == "linear"):
    hyper.Float(name, float(value[0]), float(value[1]), sampling=sampling)
  else:
    raise ValueError(
        f"Search space of {name} is {value!r}; give one number, or (low, high) with low < high"
        f"{' and low > 0' if sampling == 'log' else ''}, or a list of values with oracle='grid'.")


def _report(oracle: Any, trial: Any, result: Mapping[str, Any]) -> None:
  """Reports the end of a trial to the oracle."""
  if result["status"] == "done":
    oracle.update_trial(trial.trial_id, {_OBJECTIVE: result["validation_error"]})
    trial = oracle.get_trial(trial.trial_id)
    trial.status = "COMPLETED"
  else:
    trial.status, trial.message = "INVALID", "the loss is not finite"
  oracle.end_trial(trial)
