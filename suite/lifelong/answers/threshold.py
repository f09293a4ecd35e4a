# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The cut of a new model in an order of N samples, at a cost that depends on its m answers only.

The cut is found among the m answers and falls halfway between two of the ranks asked; the side of
any sample follows from its count and position. The work that does not depend on the model (which
samples are asked, and the order of their ranks) is done once.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from suite.lifelong.answers import answer_sampling
from suite.lifelong.answers import rank_order
from suite.lifelong.answers import ranking


class QuestionSet:
  """The samples at m ranks of an order, which every model is asked.

  Attributes:
    order: order of the N samples.
    ranks: int64 [m], in the order of asking.
    samples: int64 [m].
  """

  def __init__(self, order: rank_order.RankOrder, ranks: np.ndarray):
    """Finds the samples; `ranks` int [m] are all different (`nested_ranks`)."""
    self.order, self.ranks = order, np.array(ranks, np.int64)
    self.samples = order.samples_at(self.ranks)
    self._by_rank = np.argsort(self.ranks)
    self._cuts = _between(self.ranks[self._by_rank], order.size)
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

  questions: QuestionSet
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


def _between(ranks: np.ndarray, size: int) -> np.ndarray:
  """Cuts of N samples for m rising ranks, halfway to the next, halves rounded up: int64 [m + 1]."""
  return np.concatenate([[0], (ranks[:-1] + ranks[1:] + 1) // 2, [size]])


def _share(solved: int, num: int) -> float:
  return (solved + 1.0) / (num + 2.0)
