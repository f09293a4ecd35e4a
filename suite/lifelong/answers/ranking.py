# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Sort & Search: prediction of all answers of a model from a few (Prabhu et al., 2024, section 3).

Answers are 0/1, 1 for correct: a matrix [M, N] of M models on N samples. Samples are ordered from
easy to hard by the number of models that solve them. A new model is evaluated on a few samples,
evenly spaced in that order; the best prediction of the form "solves every rank below the cut, none
after" is found in one pass and extrapolated to all N. The same functions on the transpose place a
new sample among models.

At the cut the probability of a correct answer crosses one half. The cut is not an estimate of the
accuracy (it is biased even when all answers are known): use the mean of the observed answers.

A new model is inserted by a cut in the order of samples (`OrderQuestions`, at a cost that depends
on its m answers only); a new sample by the transpose (`insert_samples`): models are ordered by
accuracy, a few evenly spaced ones are evaluated on the new sample, and the mean of their answers
times M estimates how many models solve it. The paper uses the cut instead (`place_by="cut"`), which
ranks samples worse and is biased as a count; it is better only at predicting which models solve the
sample.

Predictions are steps: the models predicted to solve a sample are at the front of the order, so a
prediction that is counted as an observation changes no order, of samples or of models. Inserting
one by one (appendix F) therefore equals inserting all at once (`consecutive_models`, and the K
samples of `insert_samples`), and predictions need not be stored: only observed answers improve an
order. Put these into the cache (`add_samples` with the rest not evaluated).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import dataclasses

import numpy as np

from suite.lifelong.answers import answer_sampling
from suite.lifelong.answers import known_answers
from suite.lifelong.answers import rank_order

MEAN, CUT = "mean", "cut"


def sum_order(answers: np.ndarray) -> np.ndarray:
  """Orders samples from easy to hard: [M, N] -> int64 [N], by column sum, ties by index."""
  if isinstance(answers, known_answers.KnownAnswers):
    return order_by_count(answers.counts())
  answers = np.asarray(answers)
  if answers.ndim != 2:
    raise ValueError(f"Got answers of shape {list(answers.shape)}; expected [M models, N samples].")
  _check_binary(answers)
  return order_by_count(np.sum(answers, axis=0, dtype=np.int64))


def checked_counts(answers: np.ndarray) -> np.ndarray:
  """Computes column sums of answers 0/1 [M, N], M >= 2, as uint8 or uint16 [N]."""
  if not isinstance(answers, known_answers.KnownAnswers):
    answers = np.asarray(answers)
  if answers.ndim != 2 or len(answers) < 2:
    raise ValueError(f"Got answers of shape {list(answers.shape)}; expected [M, N] of 2 models at "
                     "least, since an estimate is based on other models' answers.")
  if len(answers) > 65535:
    raise ValueError(f"Got {len(answers)} models; 65,535 at most are counted.")
  if isinstance(answers, known_answers.KnownAnswers):
    return answers.counts()
  _check_binary(answers)
  return answers.sum(axis=0, dtype=np.uint8 if len(answers) < 256 else np.uint16)


def order_by_count(counts: np.ndarray, ids: np.ndarray | None = None) -> np.ndarray:
  """Orders positions [N] by descending count, ties by id (by position without `ids`).

  Most samples are tied (M models give M + 1 counts), so the tie rule matters.
  """
  counts = np.asarray(counts)
  if counts.dtype == bool or counts.dtype.kind == "u":
    counts = counts.astype(np.int64)  # Unsigned values have no negative.
  tie_break = np.arange(len(counts)) if ids is None else np.asarray(ids)
  return np.lexsort((tie_break, -counts))


def recursive_order(answers: np.ndarray, passes: int = 1) -> np.ndarray:
  """Two-stage sort (section 3.1): reorders samples of one count by the models that divide them.

  Only models whose best cut falls inside a run of tied samples depend on the order within it: each
  run is reordered by the count over these models, ties again by index. Runs without a cut remain
  unchanged.

  Args:
    answers: 0/1 [M, N].
    passes: number of passes; each reorders the runs that are still tied after the previous one.
  """
  order = sum_order(answers)
  sums = (answers.counts() if isinstance(answers, known_answers.KnownAnswers) else
          np.sum(answers, axis=0, dtype=np.int64))[order]
  tied = np.concatenate([[0], np.cumsum(sums[1:] != sums[:-1])])  # Number of each rank's run.
  for _ in range(passes):
    if tied[-1] == len(order) - 1:  # Nothing is tied, as models by accuracy (footnote 4).
      break
    starts = np.searchsorted(tied, np.arange(int(tied[-1]) + 2))
    keys = np.zeros(len(order), np.int64)
    for model in range(len(answers)):
      row = np.asarray(answers[model])[order]
      cut = dp_threshold(row)
      if 0 < cut < len(row) and tied[cut - 1] == tied[cut]:  # It divides the run.
        run = slice(starts[tied[cut]], starts[tied[cut] + 1])
        keys[run] += row[run]
    again = np.lexsort((order, -keys, tied))
    order, keys = order[again], keys[again]
    changed = (tied[1:] != tied[:-1]) | (keys[1:] != keys[:-1])
    tied = np.concatenate([[0], np.cumsum(changed)])
  return order


def dp_threshold(row: np.ndarray) -> int:
  """Finds the best cut k in 0..n of answers [n] in rank order; ranks < k are predicted 1.

  It has the fewest wrong predictions of all n + 1 cuts. Ones at rank >= k and zeros at rank < k are
  wrong, so the best k maximizes the sum of (2 row - 1) over ranks < k. Ties give the smallest cut.
  """
  row = np.asarray(row)
  if row.ndim != 1:
    raise ValueError(f"Got a row of shape {list(row.shape)}; expected [n] answers in rank order.")
  _check_binary(row)
  gains = np.cumsum(2 * row.astype(np.int64) - 1)
  return int(np.argmax(np.concatenate([[0], gains])))  # Ties: argmax returns the first.


def dp_thresholds(rows: np.ndarray) -> np.ndarray:
  """Finds the best cut (`dp_threshold`) of each of S rows [S, n] in rank order: int64 [S]."""
  rows = np.asarray(rows)
  if rows.ndim != 2:
    raise ValueError(f"Got rows of shape {list(rows.shape)}; expected [S, n].")
  _check_binary(rows)
  num_rows, length = rows.shape
  cuts = np.zeros(num_rows, np.int64)
  if not length:
    return cuts
  step = max(1, (1 << 22) // length)  # Number of rows at a time: 16 MB of sums.
  for start in range(0, num_rows, step):
    gains = np.cumsum(2 * rows[start:start + step].astype(np.int8) - 1, axis=1, dtype=np.int32)
    best = np.argmax(gains, axis=1)  # Ties: the first.
    cuts[start:start + step] = np.where(gains[np.arange(len(best)), best] > 0, best + 1, 0)
  return cuts


def spaced_models(accuracies: np.ndarray, budget: int) -> np.ndarray:
  """Chooses `budget` of M models, evenly spaced in accuracy order, to evaluate on a new sample."""
  order = order_by_count(np.asarray(accuracies))
  return order[sample_positions(len(order), budget)]


def place_samples(answers: np.ndarray, num_models: int) -> np.ndarray:
  """Estimates how many of `num_models` solve new samples: answers [m, K] -> int64 [K].

  The answers are those of `spaced_models`; the estimate is their mean, halves rounded up. The cut
  among models, the transpose of the search, is biased as a count and ranks worse.
  """
  answers = np.asarray(answers)
  _check_binary(answers)
  asked = answers.shape[0]
  return (2 * num_models * answers.sum(axis=0, dtype=np.int64) + asked) // (2 * asked)


def decompose(answers: np.ndarray, predicted: np.ndarray, order: np.ndarray) -> dict[str, float]:
  """Decomposes the error of predicted answers [N] of one model (section 4.5).

  `aleatoric` (equation 3) is the error of the best cut of the order given every answer; `epistemic`
  (equation 4) is the distance of the prediction from that cut. total <= aleatoric + epistemic. The
  order is that of the models which the prediction is based on, in the paper the sort models.
  """
  answers = np.asarray(answers)
  best = step_predictions(order, dp_threshold(answers[order]))
  return {"total": per_sample_error(answers, predicted),
          "aleatoric": per_sample_error(answers, best),
          "epistemic": per_sample_error(best, predicted)}


def sample_positions(num_samples: int, budget: int) -> np.ndarray:
  """Ranks to evaluate: floor((j + 1/2) n / m) for j < m, the distinct middles of m strata."""
  n, m = int(num_samples), int(budget)
  if not 1 <= m <= n:
    raise ValueError(f"Got a budget of {m} for {n} samples; expected 1 <= budget <= {n}.")
  if 2 * m * n >= 1 << 63:
    return np.array([(2 * j + 1) * n // (2 * m) for j in range(m)], np.int64)
  return (2 * np.arange(m, dtype=np.int64) + 1) * n // (2 * m)  # Exact integers.


def extrapolate_cut(cut: int, budget: int, num_samples: int) -> int:
  """Extrapolates the cut k of m sampled answers to all n: k n / m, halves rounded up."""
  k, m, n = int(cut), int(budget), int(num_samples)
  if m < 1 or not 0 <= k <= m or n < m:
    raise ValueError(f"Got cut={k}, budget={m}, num_samples={n}; expected 0 <= cut <= budget <= "
                     "num_samples and budget >= 1.")
  return (2 * k * n + m) // (2 * m)


def step_predictions(order: np.ndarray, cut: int) -> np.ndarray:
  """Predicted answers by sample, not by rank: uint8 [N], 1 for the `cut` easiest."""
  order = np.asarray(order)
  if not 0 <= cut <= len(order):
    raise ValueError(f"Got cut={cut} for {len(order)} samples; expected 0 <= cut <= {len(order)}.")
  predicted = np.zeros(len(order), np.uint8)
  predicted[order[:cut]] = 1
  return predicted


def per_sample_error(answers: np.ndarray, predicted: np.ndarray) -> float:
  """Mean of |answer - prediction| over samples [N]; predictions may be probabilities."""
  answers, predicted = np.asarray(answers, np.float64), np.asarray(predicted, np.float64)
  if answers.shape != predicted.shape or not answers.size:
    raise ValueError(f"Got answers of shape {list(answers.shape)} and predictions of shape "
                     f"{list(predicted.shape)}; expected the same samples, one at least.")
  return float(np.mean(np.abs(answers - predicted)))


def aggregate_error(answers: np.ndarray, estimated_accuracy: float) -> float:
  """|mean answer - estimate|, for a mean of observed answers or of predictions."""
  return float(abs(np.mean(np.asarray(answers, np.float64)) - estimated_accuracy))


def _check_binary(answers: np.ndarray) -> None:
  is_wrong = (answers != 0) & (answers != 1)
  if is_wrong.any():
    wrong = np.unique(answers[is_wrong])
    raise ValueError(f"Answers are 0 or 1; got {wrong[:5].tolist()} too. Leave out what was not "
                     "evaluated: a missing answer is not a wrong one.")


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
    rank = np.argsort(order_by_count(np.asarray(accuracies)))
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
    asked = spaced_models(accuracies, budget)
    edges = np.array([extrapolate_cut(cut, budget, num_models)
                      for cut in range(budget + 1)], np.int64)
  else:
    chosen = np.asarray(models, np.int64)
    if not len(chosen) or len(np.unique(chosen)) < len(chosen) or not (
        0 <= chosen.min() <= chosen.max() < num_models):
      raise ValueError(f"Got models {chosen.tolist()} to ask; expected different ones from 0 to "
                       f"{num_models - 1}, one at least.")
    order = order_by_count(accuracies)
    ranks = np.flatnonzero(np.isin(order, chosen))
    asked = order[ranks]
    edges = np.concatenate([[0], (ranks[:-1] + ranks[1:] + 1) // 2, [num_models]])
  answers = np.asarray(ask(asked))
  if answers.ndim != 2 or len(answers) != len(asked):
    raise ValueError(f"Asked {len(asked)} models and got answers of shape {list(answers.shape)}; "
                     f"expected [{len(asked)}, K], one row per model.")
  cuts = edges[dp_thresholds(answers.T)]
  if place_by == CUT:
    counts = cuts
  elif models is None:
    counts = place_samples(answers, num_models)
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

  A cut is found among the m answers and falls halfway between two of the ranks asked; the side of
  any sample follows from its count and position. The work that does not depend on the model (which
  samples are asked, and the order of their ranks) is done once.

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
    return self._cuts[dp_thresholds(answers[:, self._by_rank])]

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
