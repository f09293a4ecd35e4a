# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Drift alarms: answers that came are compared with what was predicted of them.

  level   a model's accuracy on a task, with what its other answers predict. An alarm may mean
          training on the task, another prompt or a changed harness.
  order   whether a model solves the easy questions of a task rather than the hard ones. An alarm
          may mean documents in another order, or answers of another file.
  task    the mean error of several new models on a task: the task or its scoring has changed.

A prediction is that of `answers.partial_answers`: it uses the answers that a model had before, or,
of a new model, its answers to the other tasks. How far predictions are off is measured on models
that are known: each is treated as if it had the same answers only. An error is then a Student t
value, and the p-values of one update are corrected by Holm's (1979) method. So at most a share
`LEVEL` of the updates has an alarm while nothing has changed and models are like those known,
however many models and tasks an update has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses

import numpy as np

from suite.lifelong.answers import partial_answers
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import active_samples
from suite.metrics import paired_tests

LEVEL_TEST, ORDER_TEST, TASK_TEST = "level", "order", "task"
LEVEL = 0.01  # Share of the updates with a false alarm.
WINDOW = 8  # Number of the last models whose errors on a task are averaged.
_LEAST_ANSWERS = 16
_LEAST_MODELS = 8  # Least number of known models, of as many families.
_MOST_MODELS = 64
_LOOKED_AT = 256  # Largest number of models among which those that answered are looked for.
_MOST_SAMPLES = 2048
_NEARLY = 0.95  # Share of the samples that a known model must have answered.
NO_TASK = ""


@dataclasses.dataclass(frozen=True)
class Test:
  """One comparison.

  Attributes:
    kind: "level", "order" or "task".
    model: name; of "task", those of the models, separated by commas.
    task: name; "": the cache has no tasks.
    num_answers: number of new answers.
    predicted, observed: accuracy; of "order", mean and value of a slope in standard deviations.
    low, high: 95% interval of what was expected.
    z: the error in standard deviations.
    p: its p-value; corrected: p, corrected for all tests of the update.
    is_alarm: whether it is below the level.
  """

  kind: str
  model: str
  task: str
  num_answers: int
  predicted: float
  observed: float
  low: float
  high: float
  z: float
  p: float
  corrected: float = 1.0
  is_alarm: bool = False


def tests(cache: accuracy_cache.AccuracyCache, arrived: Mapping[str, np.ndarray], *,
          history: Mapping[str, Sequence[float]] | None = None, level: float = LEVEL) -> list[Test]:
  """Tests answers that were added to a cache.

  Args:
    cache: the cache, with these answers.
    arrived: model -> int64 [n], samples whose answers are new.
    history: task -> the values z of "level" tests of earlier updates, the last one last.
    level: share of the updates with a false alarm.

  Returns:
    The tests that could be made: known models are those that are not among the new ones, and have
    answered the same questions.
  """
  names, codes = cache.sample_tasks()
  if not names:
    names, codes = [NO_TASK], np.zeros(cache.num_samples, np.int32)
  families = active_samples.read(cache.folder).codes(cache.models)
  others = np.array([index for index, name in enumerate(cache.models) if name not in arrived],
                    np.int64)
  found: list[Test] = []
  of_task: dict[str, list[tuple[str, float, int, int]]] = {}
  for model, samples in arrived.items():
    index = cache.models.index(model)
    answers = cache.answers(index, np.arange(cache.num_samples))
    is_new = np.zeros(cache.num_samples, bool)
    is_new[samples] = True
    is_new &= answers != accuracy_cache.NOT_EVALUATED
    earlier = (answers != accuracy_cache.NOT_EVALUATED) & ~is_new
    mine = others[families[others] != families[index]]
    for task in np.unique(codes[is_new & (codes >= 0)]).tolist():
      here = is_new & (codes == task)
      outside = _some(np.flatnonzero(here))
      if len(outside) < _LEAST_ANSWERS:
        continue
      before = earlier if earlier.sum() >= _LEAST_ANSWERS else is_new & ~here
      inside = _some(np.flatnonzero(before))
      part = _part(cache, mine, families, outside)
      if part is not None:
        found.append(_order_test(model, names[task], answers[outside], part))
      if len(inside) < _LEAST_ANSWERS:
        continue
      both = _part(cache, mine, families, np.concatenate([inside, outside]))
      if both is None:
        continue
      one = _level_test(model, names[task], answers[inside], answers[outside], both)
      if one is not None:
        found.append(one[0])
        of_task.setdefault(names[task], []).append((model, one[0].z, one[1], len(outside)))
  for name, errors in of_task.items():
    found += _task_test(name, errors, list((history or {}).get(name, ())))
  corrected = paired_tests.holm([one.p for one in found]).tolist() if found else []
  return [dataclasses.replace(one, corrected=value, is_alarm=value < level)
          for one, value in zip(found, corrected)]


def _some(samples: np.ndarray) -> np.ndarray:
  """At most `_MOST_SAMPLES` of the samples, a random choice that is always the same."""
  if len(samples) <= _MOST_SAMPLES:
    return samples
  return np.sort(np.random.default_rng(0).choice(samples, _MOST_SAMPLES, replace=False))


def _part(cache: accuracy_cache.AccuracyCache, models: np.ndarray, families: np.ndarray,
          samples: np.ndarray) -> partial_answers.Part | None:
  """Answers of known models, int [M], that answered nearly all of the samples; None: too few."""
  def chosen(some: np.ndarray, most: int) -> np.ndarray:
    return some[partial_answers.balanced(
        [cache.models[model] for model in some], families[some], most)]

  models = chosen(models, _LOOKED_AT)
  seen = cache.columns(samples, models.tolist(), seen=True)
  is_good = seen.mean(axis=1) >= _NEARLY
  good = chosen(models[is_good], _MOST_MODELS)
  if len(np.unique(families[good])) < _LEAST_MODELS:
    return None
  rows = np.searchsorted(models, good)
  return partial_answers.Part(
      cache.columns(samples, good.tolist()), seen[rows], np.zeros(len(samples), np.int32),
      np.array([len(samples)]), families[good])


def _level_test(model: str, task: str, inside: np.ndarray, outside: np.ndarray,
                both: partial_answers.Part) -> tuple[Test, int] | None:
  """Compares the mean of the answers outside with what those inside predict."""
  num = len(inside)
  parts = []
  for here in (slice(0, num), slice(num, None)):
    size = len(both.tasks[here])
    parts.append(partial_answers.Part(
        both.answers[:, here], both.known()[:, here], both.tasks[here], np.array([size]),
        both.families))
  found = partial_answers.predict(inside, parts[0], parts[1], np.arange(len(both.answers)))
  if found is None or found.num_families < _LEAST_MODELS:
    return None
  predicted, errors, factors = (
      float(found.means[0]), found.errors[:, 0], float(found.factors[0]))
  # Half an answer at least: known models may be predicted without an error.
  spread = max(float(np.sqrt(np.mean(errors**2) * factors)), 0.5 / len(outside))
  freedom = found.num_families - 2
  observed = float(outside.mean())
  z = (observed - predicted) / spread
  from scipy import stats  # pylint: disable=import-outside-toplevel
  half = float(stats.t.ppf(0.975, freedom)) * spread
  p = 2.0 * float(stats.t.sf(abs(z), freedom))
  return Test(LEVEL_TEST, model, task, len(outside), predicted, observed,
              max(0.0, predicted - half), min(1.0, predicted + half), z, p), freedom


def _order_test(model: str, task: str, answers: np.ndarray, part: partial_answers.Part) -> Test:
  """Compares the slope of the answers against difficulty with those of the known families."""
  rows = np.concatenate([answers[None], part.answers]).astype(np.float64)
  logits = part.logits(np.arange(len(part.answers)))
  weights = np.concatenate([np.ones([1, len(answers)]), part.known()])
  ability = partial_answers.abilities(rows, logits, weights, 0.0, partial_answers.WIDE)
  chance = partial_answers.sigmoid(logits + ability[:, None])
  curve = weights * chance * (1.0 - chance) + 1e-9
  apart = logits - (np.sum(curve * logits, axis=1) / curve.sum(axis=1))[:, None]
  slopes = np.sum(weights * (rows - chance) * apart, axis=1) / np.sum(curve * apart**2, axis=1)
  shares = part.shares(np.arange(len(part.answers)))
  num = round(float(shares.sum()))
  mean = float(np.average(slopes[1:], weights=shares))
  variance = float(shares @ (slopes[1:] - mean) ** 2) / (num - 1)
  spread = float(np.sqrt(variance * (1.0 + 1.0 / num))) + 1e-9
  z = (float(slopes[0]) - mean) / spread
  from scipy import stats  # pylint: disable=import-outside-toplevel
  low = mean + float(stats.t.ppf(0.05, num - 1)) * spread
  return Test(ORDER_TEST, model, task, len(answers), mean, float(slopes[0]), low, float("inf"), z,
              float(stats.t.cdf(z, num - 1)))


def _task_test(task: str, errors: Sequence[tuple[str, float, int, int]], earlier: Sequence[float]
               ) -> list[Test]:
  """Tests the mean of the errors of the last models; [] for one model."""
  values = [*earlier, *(z for _, z, _, _ in errors)][-max(WINDOW, len(errors)):]
  if len(values) < 2:
    return []
  freedom = min(one for _, _, one, _ in errors)
  # The errors have in common what the known models do not tell.
  common = 1.0 / (freedom + 3.0)
  mean = float(np.mean(values))
  z = mean / float(np.sqrt((1.0 + (len(values) - 1.0) * common) / len(values)))
  from scipy import stats  # pylint: disable=import-outside-toplevel
  half = float(stats.t.ppf(0.975, freedom)) * mean / z if z else 0.0
  return [Test(TASK_TEST, ", ".join(name for name, _, _, _ in errors), task,
               sum(num for _, _, _, num in errors), 0.0, mean, -half, half, z,
               2.0 * float(stats.t.sf(abs(z), freedom)))]


def values_text(one: Test) -> tuple[str, str]:
  """(observed, expected) of a test, for people."""
  if one.kind == LEVEL_TEST:
    return f"{one.observed:.2%}", f"{one.low:.2%} to {one.high:.2%}"
  if one.kind == ORDER_TEST:
    return f"slope {one.observed:.2f}", f"{one.low:.2f} or more"
  return f"mean {one.observed:+.2f} sd", f"{one.low:+.2f} to {one.high:+.2f} sd"


def text(one: Test) -> str:
  """A test in one line."""
  observed, expected = values_text(one)
  task = f" on {one.task}" if one.task else ""
  return (f"{one.kind}: {one.model}{task}, {one.num_answers:,} new answers: {observed}, expected "
          f"{expected} (corrected p {one.corrected:.2g})")
