# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Evaluation of a new model on a few of N samples, and a check of predictions from its answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import dataclasses

import numpy as np

from suite.lifelong.answers import intervals
from suite.lifelong.answers import rank_order

Ask = Callable[[np.ndarray], np.ndarray]

_FIRST = 64  # Number of answers before the interval's width is checked first.
_LOG_ODDS = 2.0
_ONE_SIDED_95 = 1.6448536269514722


@dataclasses.dataclass(frozen=True)
class Asked:
  """Answers of one model in the order of asking: samples int64 [m], ranks int64 [m], uint8 [m]."""

  samples: np.ndarray
  ranks: np.ndarray
  answers: np.ndarray

  def by_rank(self) -> tuple[np.ndarray, np.ndarray]:
    """Returns (samples, answers) by ascending rank."""
    order = np.argsort(self.ranks)
    return self.samples[order], self.answers[order]

  def keep(self, samples: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Replaces values [n] of samples [n] by the observed answers where there are any."""
    order = np.argsort(self.samples)
    known = self.samples[order]
    places = np.minimum(np.searchsorted(known, samples), len(known) - 1)
    return np.where(known[places] == samples, self.answers[order][places], values)


def ask_nested(samples_at: Callable[[np.ndarray], np.ndarray], num_samples: int, ask: Ask,
               budget: int, *, seed: int = 0, target_width: float | None = None) -> Asked:
  """Asks the first `budget` of the nested ranks, or fewer once the interval is narrow enough.

  Args:
    samples_at: ranks [n] -> samples [n], from easy to hard.
    num_samples: N.
    ask: samples [n] -> answers 0/1 [n].
    budget: largest number of samples to ask.
    seed: seed of the sequence; the same for all budgets and models that are to be compared.
    target_width: stop when the 95% interval is no wider. It is checked after 64, 128, 256, ...
      answers: frequent checks that stop at the first success would make it too narrow.
  """
  ranks = rank_order.nested_ranks(num_samples, budget, seed)
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


def checked_scores(answers: np.ndarray, num: int, ids: Sequence[str] = (), *,
                   any_number: bool = False) -> np.ndarray:
  """Returns answers as float64 [num], or raises a ValueError if they are not of [0, 1].

  Args:
    answers: [num].
    num: how many were asked.
    ids: of the samples, for the message about a score that is no finite number.
    any_number: scores are finite numbers of any range.
  """
  answers = _one_each(answers, num)
  bad = np.flatnonzero(~np.isfinite(answers.astype(np.float64)))
  if len(bad):
    which = f" of sample {ids[int(bad[0])]!r}" if len(ids) else ""
    raise ValueError(f"The score{which} is {answers[bad[0]]}; a model's scores are finite numbers. "
                     "Mend the metric, or leave out what was not evaluated.")
  if any_number:
    return answers.astype(np.float64)
  if not np.all((answers >= 0) & (answers <= 1)):
    raise ValueError("A model's answers are 1 (correct) or 0 (wrong), or scores in between; got "
                     "others. It must answer every sample that it is asked.")
  return answers.astype(np.float64)


def checked_answers(answers: np.ndarray, num: int) -> np.ndarray:
  """Returns answers as uint8 [num], or raises a ValueError if they are not 0/1 of this number."""
  answers = _one_each(answers, num)
  if not np.all((answers == 0) | (answers == 1)):
    raise ValueError("A model's answers are 1 (correct) or 0 (wrong); got others. It must answer "
                     "every sample that it is asked.")
  return answers.astype(np.uint8)


def _one_each(answers: np.ndarray, num: int) -> np.ndarray:
  answers = np.asarray(answers)
  if answers.shape != (num,):
    raise ValueError(f"Asked {num} samples and got answers of shape {list(answers.shape)}; "
                     f"return one answer each, [{num}].")
  return answers


def check_predictions(answers: np.ndarray, predicted: np.ndarray, log_odds: float | None = None
                      ) -> tuple[bool, str]:
  """Tests whether held-out predictions [m] are better than the mean of the answers [m].

  Args:
    answers, predicted: the answers and their held-out predictions.
    log_odds: log evidence of the predictions against that of one probability for all samples.

  Returns:
    (supported, reason). Supported means that the predictions have the smaller squared error (Brier
    score) and an evidence more than e^2 times as high; without `log_odds`, that the squared errors,
    compared sample by sample, are smaller at the 95% level.
  """
  answers = np.asarray(answers, np.float64)
  m = len(answers)
  if m < 16:
    return False, f"{m} answers are too few to check predictions; ask 16 at least"
  if np.ptp(answers) == 0:
    return True, "all answers are alike"
  constant = answers.mean()  # Fitted to the answers, unlike the predictions: a strict baseline.
  gains = (answers - constant) ** 2 - (answers - predicted) ** 2
  gain, error = float(gains.mean()), float(gains.std(ddof=1) / np.sqrt(m))
  compared = (f"squared error {np.mean((answers - predicted) ** 2):.4f} on held-out answers, "
              f"{np.mean((answers - constant) ** 2):.4f} from the mean alone")
  if (gain > _ONE_SIDED_95 * error if log_odds is None else gain > 0 and log_odds > _LOG_ODDS):
    return True, compared
  return False, f"not surely better than its mean: {compared}; use the accuracy only"
