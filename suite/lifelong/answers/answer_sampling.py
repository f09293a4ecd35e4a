# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Asking a new model a few of N questions, and what may be said from its answers."""

from __future__ import annotations

import dataclasses
from typing import Callable

import numpy as np

from suite.lifelong.answers import intervals
from suite.lifelong.answers import nested_ranks

Ask = Callable[[np.ndarray], np.ndarray]

_FIRST = 64  # Answers before a first look at the width.
_ONE_SIDED_95 = 1.6448536269514722


@dataclasses.dataclass(frozen=True)
class Asked:
  """Answers of one model: to samples int64 [m], at ranks int64 [m], uint8 [m], as asked."""

  samples: np.ndarray
  ranks: np.ndarray
  answers: np.ndarray

  def by_rank(self) -> tuple[np.ndarray, np.ndarray]:
    """(samples, answers) from the lowest rank to the highest."""
    order = np.argsort(self.ranks)
    return self.samples[order], self.answers[order]

  def keep(self, samples: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Values [n] for samples [n], with the observed answers in place where there are any."""
    order = np.argsort(self.samples)
    known = self.samples[order]
    places = np.minimum(np.searchsorted(known, samples), len(known) - 1)
    return np.where(known[places] == samples, self.answers[order][places], values)


def ask_nested(samples_at: Callable[[np.ndarray], np.ndarray], num_samples: int, ask: Ask,
               budget: int, *, seed: int = 0, target_width: float | None = None) -> Asked:
  """Asks the first `budget` of the nested ranks, or fewer once the accuracy is sure enough.

  Args:
    samples_at: ranks [n] -> samples [n], from easy to hard.
    num_samples: N.
    ask: samples [n] -> answers 0/1 [n].
    budget: the most that may be asked.
    seed: of the sequence; the same for all budgets and models that are to be compared.
    target_width: stop when the 95% interval is no wider. It is looked at after 64, 128, 256, ...
      answers: looking often and stopping at the first success would make it too narrow.
  """
  ranks = nested_ranks.nested_ranks(num_samples, budget, seed)
  samples = samples_at(ranks)
  answers = np.zeros(0, np.uint8)
  wanted = budget if target_width is None else min(budget, _FIRST)
  while True:
    fresh = checked_answers(ask(samples[len(answers):wanted]), wanted - len(answers))
    answers = np.concatenate([answers, fresh])
    if wanted == budget:
      break
    in_order = answers[np.argsort(ranks[:wanted])]
    if intervals.accuracy(in_order, num_samples).width <= (target_width or 0.0):
      break
    wanted = min(budget, 2 * wanted)
  return Asked(samples[:wanted], ranks[:wanted], answers)


def checked_answers(answers: np.ndarray, num: int) -> np.ndarray:
  """Answers as uint8 [num], or an error that says what is wrong with them."""
  answers = np.asarray(answers)
  if answers.shape != (num,):
    raise ValueError(f"Asked {num} samples and got answers of shape {list(answers.shape)}; "
                     f"return one answer each, [{num}].")
  if not np.all((answers == 0) | (answers == 1)):
    raise ValueError("A model's answers are 1 (correct) or 0 (wrong); got others. It must answer "
                     "every sample that it is asked.")
  return answers.astype(np.uint8)


def misfit(answers: np.ndarray, predicted: np.ndarray) -> tuple[bool, str]:
  """(supported, reason): do held-out predictions [m] beat the model's mean on its answers [m]?

  Squared errors (Brier scores) are compared sample by sample; supported means better at 95%.
  """
  answers = np.asarray(answers, np.float64)
  m = len(answers)
  if m < 16:
    return False, f"{m} answers are too few to check predictions; ask 16 at least"
  if np.ptp(answers) == 0:
    return True, "all answers are alike"
  constant = answers.mean()  # It has seen the answers, the predictions have not: no easy win.
  gains = (answers - constant) ** 2 - (answers - predicted) ** 2
  gain, error = float(gains.mean()), float(gains.std(ddof=1) / np.sqrt(m))
  compared = (f"squared error {np.mean((answers - predicted) ** 2):.4f} on held-out answers, "
              f"{np.mean((answers - constant) ** 2):.4f} from the mean alone")
  if gain > _ONE_SIDED_95 * error:
    return True, compared
  return False, f"not surely better than its mean: {compared}; use the accuracy only"
