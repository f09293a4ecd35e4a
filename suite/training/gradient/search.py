# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Hyper-parameter search: keras-tuner's oracles choose, this module keeps the score.

Trials come in waves, whose trainings do not depend on each other. Results of an interrupted search
come from the journal, so the oracle proposes what it would have proposed without the interruption.

The hyper-parameters of a search's trials, drawn by keras-tuner's oracles.

The oracles "random" and "grid" look at no result, so all their trials are drawn at once. "bayesian"
fits a Gaussian process to the results so far and takes the point with the best upper confidence
bound. Each of its proposals is made by an oracle of its own, with a seed of its own, from the
finished trials in their order: a proposal is a function of (seed, number, results), so a resumed
search, which has the same results, makes the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
import dataclasses
import functools
import tempfile
from typing import Any
import warnings

import numpy as np
import threadpoolctl

from suite.contracts import rehearsal

Range = float | Sequence[float]
# A value; a tuple (low, high) or (low, high, "log"); or a list of values.
Dimension = float | str | bool | Sequence[Any]
Hyper = dict[str, Any]
Result = Mapping[str, Any]
Wave = list[tuple[int, Hyper]]

_INITIAL_PER_DIMENSION = 3
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
  initial_trials: int | None = None
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
      check(name, value, self.oracle)
    if self.oracle == "bayesian" and self.num_trials > 1 and not self._searched():
      raise ValueError("Search.oracle is 'bayesian', and every dimension has one value. Give one "
                       "of them a range or a list, or set num_trials to 1.")

  def dimensions(self) -> dict[str, Dimension]:
    """All dimensions by name."""
    rate, smoothing = _floats(self.learning_rate), _floats(self.label_smoothing)
    if isinstance(rate, tuple) and len(rate) == 2 and self.oracle != "grid":
      rate = (*rate, "log")
    return {"learning_rate": rate, "label_smoothing": smoothing, **self.space}

  def _searched(self) -> list[str]:
    return [name for name, value in self.dimensions().items() if is_searched(value)]

  def values(self, name: str) -> list[Any]:
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
          ) -> tuple[list[dict[str, Any]], int]:
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
    trials: list[dict[str, Any]] = []
    for wave in self.waves(trials, seed, decide=decide):
      trials += with_results(wave, train(wave))
    return trials, best_of(trials)

  def without_results(self) -> Search:
    """The search whose trials stand for this one's where none has a result, as in a plan.

    A Gaussian process would learn nothing there, and takes long for each trial.
    """
    if self.oracle != "bayesian":
      return self
    return dataclasses.replace(self, oracle="random", at_once=1, initial_trials=None)

  def waves(self, trials: Sequence[Mapping[str, Any]], seed: int, *,
            decide: Callable[[int, Callable[[], Any]], Any] = lambda first, propose: propose(),
            ) -> Iterator[Wave]:
    """The waves of trials to train, see `run`; whoever trains one adds its trials to `trials`."""
    if self.oracle == "bayesian" and rehearsal.counts_only():
      yield from self.without_results().waves(trials, seed, decide=decide)
      return
    while len(trials) < self.num_trials:
      first = len(trials)
      drawn = decide(first, functools.partial(self._propose, trials, seed))
      if not drawn:
        return
      yield list(enumerate(drawn, start=first))
      if self.oracle != "bayesian":
        return

  def _propose(self, trials: Sequence[Mapping[str, Any]], seed: int) -> list[Hyper]:
    """The hyper-parameters of the next wave; [] if there is none."""
    dimensions = self.dimensions()
    if self.oracle != "bayesian":
      return independent(self.oracle, dimensions, self.num_trials, seed)
    tried = [({name: t[name] for name in dimensions}, t["validation_error"]) for t in trials]
    num_initial = self.initial_trials
    if num_initial is None:
      num_initial = max(
          1, min(_INITIAL_PER_DIMENSION * len(self._searched()), self.num_trials // 2))
    wave: list[Hyper] = []
    for _ in range(min(self.at_once, self.num_trials - len(trials))):
      proposed = bayesian(
          dimensions, self.num_trials, seed, tried=tried, pending=wave,
          num_initial=num_initial)
      if proposed is None:
        break
      wave.append(proposed)
    return wave


def with_results(wave: Wave, results: Sequence[Result]) -> list[dict[str, Any]]:
  """The trials of a wave: number, hyper-parameters and result of each."""
  return [{"trial": number, **hyper, **result}
          for (number, hyper), result in zip(wave, results)]


def best_of(trials: Sequence[Mapping[str, Any]]) -> int:
  """The number of the best trial, the first of equals.

  Raises:
    AllTrialsFailedError: if none ended with a finite loss.
  """
  done = [t for t in trials if t["status"] == "done"]
  if not done and any(t["status"] == "untrained" for t in trials):
    return 0  # Of a budget that is spent: it has the weights that the training would start from.
  if not done:
    raise AllTrialsFailedError(
        f"All {len(trials)} trials ended with a loss that is not finite (learning rates "
        f"{[round(t['learning_rate'], 6) for t in trials]}). Lower the learning rate, lengthen "
        "the warm-up, or look at the data of this task.")
  return min(done, key=lambda t: t["validation_error"])["trial"]


def _floats(value: Any) -> Any:
  """A learning rate of 1 is one of 1.0; what is no number is refused elsewhere."""
  if isinstance(value, (list, tuple)):
    return type(value)(_floats(v) for v in value)
  return float(value) if type(value) is int else value


Values = dict[str, Any]


def check(name: str, value: Any, oracle: str) -> None:
  """Refuses what is not a dimension of a search space, see `Search`."""
  if isinstance(value, (int, float, str)):
    return
  allowed = ("give one value, a tuple (low, high) or (low, high, 'log') of numbers, or a list of "
             "values")
  if _is_list(value, oracle):
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
  shown = value[:2] if name == "learning_rate" and isinstance(value, tuple) else value
  raise ValueError(f"Search space of {name} is {shown!r}; {allowed}.")


def is_searched(value: Any) -> bool:
  """Whether a dimension has more than one value."""
  return isinstance(value, tuple) or (isinstance(value, list) and len(value) > 1)


def independent(oracle: str, dimensions: Mapping[str, Any], num_trials: int, seed: int
                ) -> list[Values]:
  """Draws the hyper-parameters of all trials for an oracle that looks at no result."""
  drawn: list[Values] = []
  with tempfile.TemporaryDirectory() as folder:
    tuner = _oracle(oracle, dimensions, num_trials, seed)
    tuner._set_project_dir(folder, "search")  # pylint: disable=protected-access
    tuner.verbose = 0  # keras-tuner prints a page per trial otherwise.
    while True:
      trial = tuner.create_trial("suite")
      if trial.status == "STOPPED":
        return drawn
      drawn.append(_values(trial.hyperparameters, dimensions))
      # A grid proposes the next trial when the last one has ended, whatever its result.
      tuner.update_trial(trial.trial_id, {_OBJECTIVE: 0.0})
      trial = tuner.get_trial(trial.trial_id)
      trial.status = "COMPLETED"
      tuner.end_trial(trial)


def bayesian(dimensions: Mapping[str, Any], num_trials: int, seed: int, *,
             tried: Sequence[tuple[Values, float | None]], pending: Sequence[Values],
             num_initial: int) -> Values | None:
  """Proposes the next trial from the finished ones; None if the space has no further one.

  Args:
    dimensions: of the space, by name.
    num_trials: of the whole search.
    seed: of the search.
    tried: hyper-parameters and validation error of the finished trials, in order; None: it failed.
    pending: hyper-parameters of trials that are proposed at the same time; each is taken to end one
      deviation worse than expected.
    num_initial: trials drawn at random before the process is fitted.
  """
  from sklearn import exceptions  # As keras-tuner.

  # Thousands of products of small matrices, for which threads would only wait for each other.
  with threadpoolctl.threadpool_limits(1), warnings.catch_warnings():
    # A dimension that does not matter has a length scale without bound.
    warnings.simplefilter("ignore", exceptions.ConvergenceWarning)
    number = len(tried) + len(pending)
    own_seed = int(np.random.SeedSequence([seed, number]).generate_state(1)[0] >> 1)
    tuner = _oracle("bayesian", dimensions, num_trials, own_seed, num_initial_points=num_initial)
    for place, (values, error) in enumerate(tried):
      trial = _add(tuner, place, values, "INVALID" if error is None else "COMPLETED")
      trial.score = error
    if pending:
      points, errors = tuner._vectorize_trials()  # pylint: disable=protected-access
      if len(errors):
        tuner.gpr.fit(points, errors)  # It says what to expect of the pending ones.
    for place, values in enumerate(pending, start=len(tried)):
      tuner.ongoing_trials[str(place)] = _add(tuner, place, values, "RUNNING")
    proposed = tuner.populate_space(str(number))["values"]
    if proposed is None:
      return None
    hyper = tuner.get_space()
    hyper.values = proposed
    return _values(hyper, dimensions)


def _oracle(name: str, dimensions: Mapping[str, Any], num_trials: int, seed: int, **options: Any
            ) -> Any:
  import keras_tuner  # here, because it takes a second to import

  hyper = keras_tuner.HyperParameters()
  for dimension, value in dimensions.items():
    if isinstance(value, (int, float, str)):  # A bool is an int.
      hyper.Fixed(dimension, value)
    elif _is_list(value, name):
      hyper.Choice(dimension, list(value))
    else:
      low, high, *sampling = value
      hyper.Float(
        dimension, float(low), float(high), sampling=sampling[0] if sampling else "linear"
      )
  kinds = {"random": keras_tuner.oracles.RandomSearchOracle,
           "grid": keras_tuner.oracles.GridSearchOracle,
           "bayesian": keras_tuner.oracles.BayesianOptimizationOracle}
  return kinds[name](
      objective=keras_tuner.Objective(_OBJECTIVE, "min"), max_trials=num_trials,
      hyperparameters=hyper, allow_new_entries=False, tune_new_entries=False,
      max_retries_per_trial=0, max_consecutive_failed_trials=num_trials + 1, seed=seed, **options)


def _is_list(value: Any, oracle: str) -> bool:
  return isinstance(value, list) or (oracle == "grid" and isinstance(value, tuple))


def _values(hyper: Any, dimensions: Mapping[str, Any]) -> Values:
  """Values as the search space has them: keras-tuner makes True a 1."""
  found = {}
  for name, value in dimensions.items():
    drawn = hyper.get(name)
    if isinstance(value, (bool, str)):
      drawn = value
    elif isinstance(value, (tuple, list)) and drawn in value:
      drawn = value[value.index(drawn)]
    found[name] = drawn
  return found


def _add(tuner: Any, place: int, values: Values, status: str) -> Any:
  """Adds a trial that another oracle has proposed."""
  from keras_tuner.engine import trial as trial_lib  # As keras_tuner.

  hyper = tuner.get_space()
  hyper.values = dict(values)
  trial = trial_lib.Trial(hyperparameters=hyper, trial_id=str(place), status=status)
  tuner.trials[str(place)] = trial
  tuner._record_values(trial)  # pylint: disable=protected-access
  return trial
