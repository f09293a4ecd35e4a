# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Growing what is known from a few answers (Prabhu et al., 2024, sections 3 and appendix F).

New models are put among samples by a cut in the order of samples; new samples are put among models
by the transpose: models are ordered by accuracy, a few evenly spaced ones are asked about the new
sample, and of all M it is thought to be solved by as many as the mean of their answers says. The
paper takes the cut instead, which ranks samples worse and is biased as a count; it is better only
at what it was found for, to say which models solve the sample.

Predictions are steps: whatever is predicted to solve a sample is at the front of the order, so that
a prediction taken for an observation changes no order, of samples or of models. One after the other
is therefore the same as all at once (`consecutive_models`, and the K samples of `insert_samples`),
and predictions are never worth keeping: what an order gains, it gains from observed answers. Put
these into the cache (`add_samples` with the rest not evaluated).
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
from typing import Callable

import numpy as np

from suite.lifelong.answers import rank_order
from suite.lifelong.answers import ranking
from suite.lifelong.answers import threshold

MEAN, CUT = "mean", "cut"


@dataclasses.dataclass(frozen=True, eq=False)
class Inserted:
  """Where K new samples stand.

  Attributes:
    models: int64 [m], those that were asked, from the most accurate to the least.
    answers: uint8 [m, K], what they answered.
    counts: int64 [K], how many of all M models are thought to solve each sample: its place.
    cuts: int64 [K], so many of the most accurate models are predicted to solve each.
  """

  models: np.ndarray
  answers: np.ndarray
  counts: np.ndarray
  cuts: np.ndarray

  def predicted(self, accuracies: np.ndarray) -> np.ndarray:
    """What each of M models is predicted to answer: uint8 [M, K], 1 for the most accurate ones."""
    rank = np.argsort(ranking.order_by_count(np.asarray(accuracies)))
    return (rank[:, None] < self.cuts).astype(np.uint8)


def insert_samples(accuracies: np.ndarray, ask: Callable[[np.ndarray], np.ndarray], budget: int, *,
                   place_by: str = MEAN) -> Inserted:
  """Finds how hard K new samples are by asking a few of M models about all of them.

  Args:
    accuracies: [M] of the known models on the known samples; of equals the first is put first.
    ask: models int64 [m] -> their answers 0/1 [m, K] to the new samples.
    budget: m, how many models are asked.
    place_by: "mean" of the answers, a half upwards; or "cut", the paper's.
  """
  if place_by not in (MEAN, CUT):
    raise ValueError(f"Got place_by={place_by!r}; expected {MEAN!r} or {CUT!r}.")
  accuracies = np.asarray(accuracies)
  num_models = len(accuracies)
  if accuracies.ndim != 1 or num_models < 2 or not np.all(np.isfinite(accuracies)):
    raise ValueError(f"Got accuracies of shape {list(accuracies.shape)}; expected one finite "
                     "number for each of 2 models at least.")
  models = ranking.spaced_models(accuracies, budget)
  answers = np.asarray(ask(models))
  if answers.ndim != 2 or len(answers) != len(models):
    raise ValueError(f"Asked {len(models)} models and got answers of shape {list(answers.shape)}; "
                     f"expected [{len(models)}, K], a row a model.")
  of_all = np.array([ranking.extrapolate_cut(cut, len(models), num_models)
                     for cut in range(len(models) + 1)], np.int64)
  cuts = of_all[ranking.dp_thresholds(answers.T)]
  counts = ranking.place_samples(answers, num_models) if place_by == MEAN else cuts
  return Inserted(models, answers.astype(np.uint8), counts, cuts)


def consecutive_models(
    counts: np.ndarray, asks: Sequence[Callable[[np.ndarray], np.ndarray]], ranks: np.ndarray
) -> tuple[list[threshold.Threshold], np.ndarray]:
  """Inserts S models one after the other, each predicted row counted before the next (appendix F).

  Args:
    counts: uint8 or uint16 [N], how many known models solve each sample.
    asks: S functions, samples int64 [m] -> a model's answers 0/1 [m].
    ranks: int [m], all different, at which each is asked.

  Returns:
    (the S thresholds, counts [N] with the predicted rows in). By the theorem above all are found in
    the order of `counts`, which is that of the new counts, too.
  """
  order = rank_order.RankOrder(counts)
  questions = threshold.Questions(order, ranks)
  found = [questions.threshold(ask(questions.samples)) for ask in asks]
  if counts.dtype == np.uint8 and int(counts.max()) + len(found) > 255:
    counts = counts.astype(np.uint16)
  after = counts.copy()
  for one in found:
    after += order.predicted(one.cut)
  return found, after
