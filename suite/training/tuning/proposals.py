# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The hyper-parameters of a search's trials, drawn by keras-tuner's oracles.

The oracles "random" and "grid" look at no result, so all their trials are drawn at once. "bayesian"
fits a Gaussian process to the results so far and takes the point with the best upper confidence
bound. Each of its proposals is made by an oracle of its own, with a seed of its own, from the
finished trials in their order: a proposal is a function of (seed, number, results), so a resumed
search, which has the same results, makes the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import tempfile
from typing import Any
import warnings

import numpy as np
import threadpoolctl

ORACLES = ("random", "grid", "bayesian")
SAMPLINGS = ("linear", "log")
_OBJECTIVE = "validation_error"

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
    return _bayesian(dimensions, num_trials, seed, tried, pending, num_initial)


def _bayesian(dimensions: Mapping[str, Any], num_trials: int, seed: int,
              tried: Sequence[tuple[Values, float | None]], pending: Sequence[Values],
              num_initial: int) -> Values | None:
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
    _declare(hyper, dimension, value, name)
  kinds = {"random": keras_tuner.oracles.RandomSearchOracle,
           "grid": keras_tuner.oracles.GridSearchOracle,
           "bayesian": keras_tuner.oracles.BayesianOptimizationOracle}
  return kinds[name](
      objective=keras_tuner.Objective(_OBJECTIVE, "min"), max_trials=num_trials,
      hyperparameters=hyper, allow_new_entries=False, tune_new_entries=False,
      max_retries_per_trial=0, max_consecutive_failed_trials=num_trials + 1, seed=seed, **options)


def _declare(hyper: Any, name: str, value: Any, oracle: str) -> None:
  if isinstance(value, (int, float, str)):  # A bool is an int.
    hyper.Fixed(name, value)
  elif _is_list(value, oracle):
    hyper.Choice(name, list(value))
  else:
    low, high, *sampling = value
    hyper.Float(name, float(low), float(high), sampling=sampling[0] if sampling else "linear")


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
