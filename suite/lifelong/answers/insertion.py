# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Insertion of models and samples from a few answers (Prabhu et al., 2024, section 3, appendix F).

A new model is inserted by a cut in the order of samples; a new sample by the transpose: models are
ordered by accuracy, a few evenly spaced ones are evaluated on the new sample, and the mean of their
answers times M estimates how many models solve it. The paper uses the cut instead
(`place_by="cut"`), which ranks samples worse and is biased as a count; it is better only at
predicting which models solve the sample.

Predictions are steps: the models predicted to solve a sample are at the front of the order, so a
prediction that is counted as an observation changes no order, of samples or of models. Inserting
one by one therefore equals inserting all at once (`consecutive_models`, and the K samples of
`insert_samples`), and predictions need not be stored: only observed answers improve an order. Put
these into the cache (`add_samples` with the rest not evaluated).

The cut of a new model in an order of N samples, at a cost that depends on its m answers only.

The cut is found among the m answers and falls halfway between two of the ranks asked; the side of
any sample follows from its count and position. The work that does not depend on the model (which
samples are asked, and the order of their ranks) is done once.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
from typing import Callable

import numpy as np

from suite.lifelong.answers import answer_sampling
from suite.lifelong.answers import rank_order
from suite.lifelong.answers import ranking

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


def insert_samples(accuracies: np.ndarray, ask: Callable[[np.ndarray], np.ndarray],
                   budget: int | None = None, *, place_by: str = MEAN,
                   models: Sequence[int] | None = None) -> Inserted:
  """Estimates the difficulty of K new samples by evaluating a few of M models on all of them.

  Args:
    accuracies: [M] of the known models on the known samples; ties keep their order.
    ask: models int64 [m] -> their answers 0/1 [m, K] to the new samples.
    budget: m, number of models to ask, evenly spaced from the most accurate to the least.
    place_by: "mean" of the answers, halves rounded up; or "cut", as in the paper.
    models: the models to ask, in place of a budget. In the mean each stands for the models that are
      nearest to it in the order of accuracy, and cuts fall halfway between two of them.
  """
  if place_by not in (MEAN, CUT):
    raise ValueError(f"Got place_by={place_by!r}; expected {MEAN!r} or {CUT!r}.")
  accuracies = np.asarray(accuracies)
  num_models = len(accuracies)
  if accuracies.ndim != 1 or num_models < 2 or not np.all(np.isfinite(accuracies)):
    raise ValueError(f"Got accuracies of shape {list(accuracies.shape)}; expected one finite "
                     "number for each of 2 models at least.")
  if (budget is None) == (models is None):
    raise ValueError(f"Got budget={budget} and models={models}; expected one of the two.")
  if models is None:
    assert budget is not None
    asked = ranking.spaced_models(accuracies, budget)
    edges = np.array([ranking.extrapolate_cut(cut, budget, num_models)
                      for cut in range(budget + 1)], np.int64)
  else:
    chosen = np.asarray(models, np.int64)
    if not len(chosen) or len(np.unique(chosen)) < len(chosen) or not (
        0 <= chosen.min() <= chosen.max() < num_models):
      raise ValueError(f"Got models {chosen.tolist()} to ask; expected different ones from 0 to "
                       f"{num_models - 1}, one at least.")
    order = ranking.order_by_count(accuracies)
    ranks = np.flatnonzero(np.isin(order, chosen))
    asked = order[ranks]
    edges = np.concatenate([[0], (ranks[:-1] + ranks[1:] + 1) // 2, [num_models]])
  answers = np.asarray(ask(asked))
  if answers.ndim != 2 or len(answers) != len(asked):
    raise ValueError(f"Asked {len(asked)} models and got answers of shape {list(answers.shape)}; "
                     f"expected [{len(asked)}, K], one row per model.")
  cuts = edges[ranking.dp_thresholds(answers.T)]
  if place_by == CUT:
    counts = cuts
  elif models is None:
    counts = ranking.place_samples(answers, num_models)
  else:
    counts = np.diff(edges) @ answers.astype(np.int64)
  return Inserted(asked, answers.astype(np.uint8), counts, cuts)


def consecutive_models(
    counts: np.ndarray, asks: Sequence[Callable[[np.ndarray], np.ndarray]], ranks: np.ndarray
) -> tuple[list[ModelThreshold], np.ndarray]:
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
  questions = OrderQuestions(order, ranks)
  found = [questions.threshold(ask(questions.samples)) for ask in asks]
  if counts.dtype == np.uint8 and int(counts.max()) + len(found) > 255:
    counts = counts.astype(np.uint16)
  after = counts.copy()
  for one in found:
    after += order.predicted(one.cut)
  return found, after


class OrderQuestions:
  """The samples at m ranks of an order, which every model is asked.

  Attributes:
    order: order of the N samples.
    ranks: int64 [m], in the order of asking.
    samples: int64 [m].
  """

  def __init__(self, order: rank_order.RankOrder, ranks: np.ndarray):
    """Finds the samples; `ranks` int [m] are all different (`rank_order`)."""
    self.order, self.ranks = order, np.array(ranks, np.int64)
    self.samples = order.samples_at(self.ranks)
    self._by_rank = np.argsort(self.ranks)
    rising = self.ranks[self._by_rank]  # Cuts are halfway to the next, halves rounded up.
    self._cuts = np.concatenate([[0], (rising[:-1] + rising[1:] + 1) // 2, [order.size]])
    self._by_sample = np.argsort(self.samples)
    self._known = self.samples[self._by_sample]

  def threshold(self, answers: np.ndarray) -> ModelThreshold:
    """Finds the cut with the fewest wrong of a model's answers 0/1 [m]; ties give the first."""
    answers = answer_sampling.checked_answers(answers, len(self.ranks))
    gains = (answers[self._by_rank].view(np.int8) * np.int8(2) - np.int8(1)).cumsum(dtype=np.int64)
    best = int(gains.argmax())
    top = int(gains[best])
    first, gain = (best + 1, top) if top > 0 else (0, 0)
    m, solved = len(answers), (int(gains[-1]) + len(answers)) // 2  # Of all answers.
    easy = (gain + first) // 2  # Solved among the first ones.
    return ModelThreshold(self, answers, int(self._cuts[first]), wrong=solved - gain,
                     solved=_share(easy, first), failed=_share(solved - easy, m - first))

  def cuts(self, answers: np.ndarray) -> np.ndarray:
    """Finds the cuts of S models from their answers 0/1 [S, m]: int64 [S]."""
    answers = np.asarray(answers)
    if answers.ndim != 2 or answers.shape[1] != len(self.ranks):
      raise ValueError(f"Got answers of shape {list(answers.shape)}; expected "
                       f"[S models, {len(self.ranks)} questions].")
    return self._cuts[ranking.dp_thresholds(answers[:, self._by_rank])]

  def observed(self, samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns (bool [n], whether samples [n] were asked; int64 [n], index of their question)."""
    places = np.minimum(np.searchsorted(self._known, samples), len(self._known) - 1)
    return self._known[places] == samples, self._by_sample[places]


@dataclasses.dataclass(frozen=True, eq=False)
class ModelThreshold:
  """The fitted cut of one model.

  Attributes:
    questions: the samples asked.
    answers: uint8 [m], in the order of asking.
    cut: number of the easiest samples that are predicted to be solved.
    wrong: number of answers that the cut predicts wrongly.
    solved, failed: probability of a correct answer on the easy and on the hard side of the cut
      (Laplace's estimate, strictly between 0 and 1).
  """

  questions: OrderQuestions
  answers: np.ndarray
  cut: int
  wrong: int
  solved: float
  failed: float

  def probabilities(self, samples: np.ndarray) -> np.ndarray:
    """Probabilities of correct answers to int [n] samples: float64 [n]; 0 or 1 where observed."""
    return self._filled(samples, self.solved, self.failed)

  def predictions(self, samples: np.ndarray) -> np.ndarray:
    """Predicted answers to int [n] samples: uint8 [n]; observed ones where there are any."""
    return self._filled(samples, 1, 0).astype(np.uint8)

  def _filled(self, samples: np.ndarray, solved: float, failed: float) -> np.ndarray:
    samples, order = np.asarray(samples, np.int64), self.questions.order
    if samples.size and not 0 <= samples.min() <= samples.max() < order.size:
      raise ValueError(f"Samples run from 0 to {order.size - 1}; got {samples.min()} to "
                       f"{samples.max()}.")
    values = np.where(order.is_solved(samples, order.edge(self.cut)), solved, failed)
    asked, question = self.questions.observed(samples)
    return np.where(asked, self.answers[question], values)


def _share(solved: int, num: int) -> float:
  return (solved + 1.0) / (num + 2.0)
