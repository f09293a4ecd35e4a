# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Insertion of models and samples from a few answers (Prabhu et al., 2024, section 3, appendix F).

A new model is inserted by a cut in the order of samples; a new sample by the transpose: models are
ordered by accuracy, a few evenly spaced ones are evaluated on the new sample, and the mean of their
answers times M estimates how many models solve it. The paper uses the cut instead, which ranks
samples worse and is biased as a count; it is better only at predicting which models solve the
sample.

Predictions are steps: the models predicted to solve a sample are at the front of the order, so a
prediction that is counted as an observation changes no order, of samples or of models. Inserting
one by one therefore equals inserting all at once (`consecutive_models`, and the K samples of
`insert_samples`), and predictions need not be stored: only observed answers improve an order. Put
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
  """K inserted samples.

  Attributes:
    models: int64 [m], the models that were asked, from the most accurate to the least.
    answers: uint8 [m, K], their answers.
    counts: int64 [K], estimated number of all M models that solve each sample; defines its rank.
    cuts: int64 [K], number of the most accurate models that are predicted to solve each sample.
  """

  models: np.ndarray
  answers: np.ndarray
  counts: np.ndarray
  cuts: np.ndarray

  def predicted(self, accuracies: np.ndarray) -> np.ndarray:
    """Predicts the answers of M models: uint8 [M, K], 1 for the most accurate ones."""
    rank = np.argsort(ranking.order_by_count(np.asarray(accuracies)))
    return (rank[:, None] < self.cuts).astype(np.uint8)


def insert_samples(accuracies: np.ndarray, ask: Callable[[np.ndarray], np.ndarray], budget: int, *,
                   place_by: str = MEAN) -> Inserted:
  """Estimates the difficulty of K new samples by evaluating a few of M models on all of them.

  Args:
    accuracies: [M] of the known models on the known samples; ties keep their order.
    ask: models int64 [m] -> their answers 0/1 [m, K] to the new samples.
    budget: m, number of models to ask.
    place_by: "mean" of the answers, halves rounded up; or "cut", as in the paper.
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
                     f"expected [{len(models)}, K], one row per model.")
  of_all = np.array([ranking.extrapolate_cut(cut, len(models), num_models)
                     for cut in range(len(models) + 1)], np.int64)
  cuts = of_all[ranking.dp_thresholds(answers.T)]
  counts = ranking.place_samples(answers, num_models) if place_by == MEAN else cuts
  return Inserted(models, answers.astype(np.uint8), counts, cuts)


def consecutive_models(
    counts: np.ndarray, asks: Sequence[Callable[[np.ndarray], np.ndarray]], ranks: np.ndarray
) -> tuple[list[threshold.ModelThreshold], np.ndarray]:
  """Inserts S models in turn; each predicted row is counted before the next one (appendix F).

  Args:
    counts: uint8 or uint16 [N], number of known models that solve each sample.
    asks: S functions, samples int64 [m] -> a model's answers 0/1 [m].
    ranks: int [m], all different, at which each is asked.

  Returns:
    (the S thresholds, counts [N] including the predicted rows). By the property above all are
    found in the order of `counts`, which is also the order of the new counts.
  """
  order = rank_order.RankOrder(counts)
  questions = threshold.QuestionSet(order, ranks)
  found = [questions.threshold(ask(questions.samples)) for ask in asks]
  if counts.dtype == np.uint8 and int(counts.max()) + len(found) > 255:
    counts = counts.astype(np.uint16)
  after = counts.copy()
  for one in found:
    after += order.predicted(one.cut)
  return found, after
