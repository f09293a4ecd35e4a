# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The default estimate: logistic regressions on low-rank factors of the known models' answers.

A single order of difficulty does not distinguish models that are good at different things. Here the
features of a sample are K factors of the known models' answers and, where they are given, its
class, domain or other groups; a model is a logistic regression on these. Its weights have a normal
prior, estimated from the weights of the known models: with few answers a new model is close to the
prior mean, whose leading factor is the single order of difficulty, and with many answers the data
dominate. Regressions with 1 to 64 factors, with and without groups and with priors of several
widths are averaged, weighted by how well they predict. The one with most factors has the prior of a
ridge regression on the known models' answers themselves. A known model has contributed to the
factors; its own contribution is taken out before its weights are fitted, since a new model has
none. Up to 256
answers the prior is not normal but has a component at each known model (`mix_kernels`), and below
1,024 the predictions of single samples are shrunk towards Sort & Search (below).

The accuracy is the mean of the predictions, corrected by the mean held-out residual of the answers
that are a random sample (a regression estimate); its interval follows from the held-out residuals,
in Wilson's form. With up to 4,096 answers it is averaged with what the known models say, the mean
of two numbers: the mean of the predictions, and a regression of the known models' accuracies on
their answers to the same samples (`accuracy_regression`). The weights are in proportion to the
inverse of squared errors; that of the regression is found by leaving out each known model, and the
mean of two numbers is taken to have half of its square. The interval is that of the random sample,
whatever the known models are.

Shrinkage of predictions towards Sort & Search, by as much as known models need at a budget.

With few answers the regressions of `factor_model` have the smaller mean error, but for some models
the step of Sort & Search is better: for weak ones, of which it predicts that they solve nothing. A
probability p of a sample becomes (1 - strength) p + strength q, where q is the mean of p on its
side of the cut that Sort & Search finds in the same answers. The mean over all samples, and with it
the estimated accuracy, stay as they are.

The strength at a budget is the smallest for which at most `WORSE` of the known models are predicted
worse than by Sort & Search from the same answers; each is treated as new, without its part in
features, priors and counts. The largest strength is 0.4: more costs mean error and wins little. The
model under estimate has no influence on it.

The default estimator as a method of the lifelong benchmark; see `factor_model`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import itertools
from typing import NamedTuple

import numpy as np

from suite.lifelong.answers import accuracy_regression
from suite.lifelong.answers import answer_factors
from suite.lifelong.answers import answer_sampling
from suite.lifelong.answers import hierarchical_logistic
from suite.lifelong.answers import intervals
from suite.lifelong.answers import random_sample
from suite.lifelong.answers import rank_order
from suite.lifelong.answers import ranking
from suite.lifelong.estimators import estimator

NUM_FACTORS = (1, 4, 16, 32, 64)
# Largest number of samples for moments, for priors and for averaging predictions; of more samples
# an evenly spaced subset is used. The mean of 65,536 samples is accurate to 0.1 points.
_MOMENTS, _PRIOR, _POOL = 1 << 16, 1 << 13, 1 << 16
_MODELS = 256  # Largest number of models that the priors are estimated from.
# Largest number of answers to weight regressions by: with more answers the shares hardly change.
_CHOICE = 1 << 12
_SCALES = (0.3, 1.0, 3.0)
# Largest number of answers for the kernel prior; with more its shape hardly matters.
_FEW = 1 << 8
_BANDWIDTHS, _WIDE = (0.1, 0.3, 0.6), (3.0,)
_SHIFTED = 1 << 12  # Number of samples of the pool that fits to parts of the answers predict.
_MIDDLE = 16  # Largest number of factors to learn from how much predictions are shrunk.
_RIDGE = 3.0
_MOST_LEARNED = 32  # Largest number of factors for a learned prior.
_ANSWERS_RIDGE = 30.0  # Penalty of weights of the known models' answers.
_ROUNDS = 16  # Number of times that informative samples are chosen.
_CANDIDATES = 1 << 12  # Least number of samples to choose informative ones from.
_PRODUCTS = 200  # Largest number of pairs of values of two groups to have a weight each.
BUDGETS = (8, 32, 128)  # Between them the strength is linear in the logarithm of the budget.
NONE_FROM = 1024  # Budget from which on nothing is shrunk.
WORSE = 0.15
_STRENGTHS = np.array([0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4])
_STEP_MODELS, _STEP_DRAWS = 48, 2
_NEVER = 1 << 40  # More than twice any count.


class FactorModel:
  """Factors and priors of M known models on N samples; shared by any number of new models.

  Attributes:
    num_samples: N.
  """

  def __init__(self, num_samples: int, columns: answer_factors.Columns,
               arrays: Mapping[str, np.ndarray], groups: Sequence[np.ndarray] = ()):
    """Takes what `build` has computed (`arrays`), also of an earlier process."""
    self.num_samples, self._columns, self.arrays = num_samples, columns, dict(arrays)
    self._groups = _groups(groups, num_samples)
    self._candidates = [hierarchical_logistic.PriorCandidate(
        arrays[f"columns{index}"], hierarchical_logistic.Prior(
            arrays[f"mean{index}"], arrays[f"precision{index}"], arrays[f"weights{index}"]))
                        for index in range(int(arrays["num"]))]
    self._learned = [one for one in self._candidates if one.prior.weights.size]
    self._asked: _Asked | None = None

  def features(self, samples: np.ndarray) -> np.ndarray:
    """Features of samples [n]: 1, one-hot groups, factors; float64 [n, D]."""
    return self.features_and_counts(samples)[0]

  def features_and_counts(self, samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Features [n, D] of samples [n], and how many known models solve each, int64 [n]."""
    return self._described(samples, self._columns(samples))

  def _described(self, samples: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return (_features(self._groups, samples, columns, self.arrays["means"],
                      self.arrays["loadings"]), _solved(columns))

  def fit(self, samples: np.ndarray, answers: np.ndarray,
          sample: random_sample.RandomSample | None) -> Fit:
    """Fits a model to its answers, 0/1 or graded; reads only the samples that were asked.

    Args:
      samples: int64 [n], all different.
      answers: [n].
      sample: which of them are a random sample of all samples; None: none are.
    """
    # Kept: the next model is mostly asked what the last one was.
    if self._asked is None or not np.array_equal(self._asked.samples, samples):
      columns = self._columns(samples)
      models = accuracy_regression.some(len(columns))
      is_few = len(samples) <= _CHOICE and len(models) >= accuracy_regression.LEAST
      self._asked = _Asked(
          samples.copy(), *self._described(samples, columns),
          accuracy_regression.AccuracyRegression(columns[models], self.arrays["means"][models])
          if is_few else None)
    features, counts, regression = self._asked[1:]
    # By difficulty, as the folds need it.
    order = np.lexsort((samples, -counts))
    step = max(1, len(order) // _CHOICE)
    some = order[step // 2::step]
    answers = np.asarray(answers, np.float64)
    cut = find_cut(counts, samples, answers)
    likened = None if regression is None or sample is None else regression.predict(answers)
    constant = hierarchical_logistic.constant_evidence(answers[some])
    if len(samples) <= _FEW:
      mixture, evidence = hierarchical_logistic.mix_kernels(
          features, answers, self._learned, _BANDWIDTHS, _WIDE)
      held_out = np.empty(len(samples))
      some = self.pool()[::max(1, len(self.pool()) // _SHIFTED)].astype(np.float64)
      held_out[order], mean = hierarchical_logistic.held_out_kernels(
          features[order], answers[order], self._learned, _BANDWIDTHS, _WIDE, pool=some)
      shift = mean - float(hierarchical_logistic.predict(some, mixture).mean())
      return Fit(self, samples, answers, mixture, features, held_out, sample, evidence - constant,
                 cut, likened, shift)
    mixture, evidence = hierarchical_logistic.mix(features[some], answers[some], self._candidates,
                                                  _SCALES)
    if step > 1:
      mixture = [one._replace(weights=hierarchical_logistic.fit(
          features[:, one.columns], answers, one.prior, one.weights)) for one in mixture]
    held_out = hierarchical_logistic.held_out(features, answers, mixture)
    return Fit(self, samples, answers, mixture, features, held_out, sample, evidence - constant,
               cut, likened)

  def pool(self) -> np.ndarray:
    """Features of the samples that predictions are averaged over."""
    return self.arrays["pool"]

  def pool_counts(self) -> tuple[np.ndarray, np.ndarray]:
    """How many known models solve each of these samples, and the samples."""
    return self.arrays["pool_counts"], self.arrays["pool_samples"]


class Fit:
  """A fitted new model.

  Attributes:
    accuracy: the estimated accuracy; `low` and `high` are NaN without a random sample.
    supported, reason: of `Estimate`.
  """

  def __init__(self, model: FactorModel, samples: np.ndarray, answers: np.ndarray,
               mixture: Sequence[hierarchical_logistic.Fitted], features: np.ndarray,
               held_out: np.ndarray, sample: random_sample.RandomSample | None, evidence: float,
               cut: Cut, likened: accuracy_regression.Predicted | None = None,
               shift: float = 0.0):
    """`evidence`: log odds of the predictions against one probability for all samples; `cut`: that
    of Sort & Search in the answers; `likened`: the accuracy by a regression on known models;
    `shift`: mean prediction of the fits that `held_out` is of, minus that of the mixture."""
    self._model, self._mixture, self._samples, self._answers = model, mixture, samples, answers
    self._sample = sample
    num, total = len(samples), model.num_samples
    likely = hierarchical_logistic.predict(model.pool(), mixture)
    mean = float(np.mean(likely, dtype=np.float64))
    self._shrinkage = fit(
        cut, at(model.arrays["strengths"], num), likely, *model.pool_counts())
    if sample is None:
      fitted = float(hierarchical_logistic.predict(features, mixture).sum())
      value = float(np.clip((answers.sum() + total * mean - fitted) / total, 0.0, 1.0))
      found = intervals.Interval(value, float("nan"), float("nan"))
      self.supported, self.reason = answer_sampling.check_predictions(
          answers, held_out, evidence)
    else:
      some = sample.members
      found = intervals.regression(answers[some], held_out[some], mean + shift, total, sample)
      if likened is not None and found.width > 0.0:
        # The average with the likened value, each by its precision, within the own interval.
        one, other = ((found.width / 2.0 / intervals.Z_95) ** -2,
                      (likened.error / np.sqrt(2.0)) ** -2)
        value = (one * found.value + other * (mean + likened.value) / 2.0) / (one + other)
        found = dataclasses.replace(found, value=min(max(value, found.low), found.high))
      self.supported, self.reason = answer_sampling.check_predictions(
          answers[some], held_out[some], evidence)
    # Whatever the others are, the known answers bound the mean.
    low = float(answers.sum()) / total
    high = low + (1.0 - num / total)
    self.accuracy = intervals.Interval(
        min(max(found.value, low), high), *(() if sample is None else (
            max(found.low, low), min(found.high, high))) or (found.low, found.high))

  def probabilities(self, samples: np.ndarray) -> np.ndarray:
    """Probabilities of correct answers to samples [n]: float64 [n]; as observed where known."""
    samples = np.asarray(samples, np.int64)
    features, counts = self._model.features_and_counts(samples)
    return self._kept(samples, self._shrinkage.apply(
        hierarchical_logistic.predict(features, self._mixture), counts, samples))

  def answers(self) -> np.ndarray:
    """More probable answer to every sample: uint8 [N]."""
    size, block = self._model.num_samples, _POOL
    if size <= block:  # The pool holds all features.
      likely = self._shrinkage.apply(
          hierarchical_logistic.predict(self._model.pool(), self._mixture),
          *self._model.pool_counts())
      return (self._kept(np.arange(size), likely) > 0.5).astype(np.uint8)
    found = np.empty(size, np.uint8)
    for start in range(0, size, block):
      samples = np.arange(start, min(size, start + block))
      found[samples] = self.probabilities(samples) > 0.5
    return found

  def informative(self, num: int) -> np.ndarray:
    """Samples whose answers would tell most about this model: int64 [num], all new.

    One after the other, the sample x with the largest p (1 - p) x' V x is taken, which reduces the
    volume of the posterior covariance V of the weights most (D-optimal design).
    """
    step = max(1, len(self._model.pool()) // max(_CANDIDATES, 2 * (num + len(self._samples))))
    samples = self._model.arrays["pool_samples"][::step]
    best = max(self._mixture, key=lambda one: one.share)
    features = self._model.pool()[::step][:, best.columns].astype(np.float64)
    known = self._model.features(self._samples)[:, best.columns]
    covariance = hierarchical_logistic.covariance(known, best)
    chance = hierarchical_logistic.probabilities(features, best.weights)
    variance = np.where(np.isin(samples, self._samples), -1.0, chance * (1.0 - chance))
    chosen: list[int] = []
    for _ in range(min(num, int(np.sum(variance >= 0)))):
      place = int(np.argmax(variance * np.sum(features @ covariance * features, axis=1)))
      column = covariance @ features[place]
      scale = variance[place] / (1.0 + variance[place] * features[place] @ column)
      covariance -= scale * np.outer(column, column)
      variance[place] = -1.0
      chosen.append(place)
    return samples[chosen]

  def estimate(self) -> estimator.Estimate:
    """All of it; single samples are predicted when they are asked for."""
    found = self.accuracy
    return estimator.Estimate(
        self.answers, None, found.value, None if self._sample is None else (found.low, found.high),
        self.supported, self.reason, self._samples, self._answers, self.probabilities,
        self._sample)

  def _kept(self, samples: np.ndarray, values: np.ndarray) -> np.ndarray:
    return answer_sampling.Asked(self._samples, self._samples, self._answers).keep(samples, values)


class _Asked(NamedTuple):
  """What the known models say of samples [n] that were asked."""

  samples: np.ndarray
  features: np.ndarray
  counts: np.ndarray
  regression: accuracy_regression.AccuracyRegression | None


def ask_informative(model: FactorModel, ask: Callable[[np.ndarray], np.ndarray],
                    samples: np.ndarray, answers: np.ndarray, budget: int
                    ) -> tuple[np.ndarray, np.ndarray]:
  """Asks informative samples in rounds, until `budget` are; returns all (samples, answers)."""
  step = max(1, (budget - len(samples)) // _ROUNDS)
  while len(samples) < budget:
    chosen = model.fit(samples, answers, None).informative(min(step, budget - len(samples)))
    if not len(chosen):
      break
    new = answer_sampling.checked_scores(ask(chosen), len(chosen))
    samples, answers = np.concatenate([samples, chosen]), np.concatenate([answers, new])
  return samples, answers


def build(counts: np.ndarray, columns: answer_factors.Columns, *,
          groups: Sequence[np.ndarray] = (), num_factors: Sequence[int] = NUM_FACTORS
          ) -> FactorModel:
  """Computes factors and priors; takes two passes over the known answers and one over the counts.

  Args:
    counts: uint8 or uint16 [N], number of known models that solve each sample.
    columns: samples [n] -> answers of the known models [M, n], uint8 or scores in [0, 1].
    groups: int [N] each: class, domain or another attribute of every sample. Of two, pairs of
      values have weights, too, if there are 200 at most.
    num_factors: numbers of factors to average over, each with a learned prior up to 32; the
      largest also, or only, with a ridge prior.
  """
  order = rank_order.RankOrder(counts)

  def even(num: int) -> np.ndarray:
    return np.arange(len(counts)) if len(counts) <= num else np.sort(
        order.samples_at(rank_order.nested_ranks(len(counts), num)))

  factors = answer_factors.build(columns, even(_MOMENTS), max(num_factors))
  found = factors.loadings.shape[1]
  sizes = sorted({min(size, found, _MOST_LEARNED) for size in num_factors})
  middle = max([size for size in sizes if size <= _MIDDLE], default=sizes[0])
  grouped = _groups(groups, len(counts))
  responses = columns(sample := even(_PRIOR))
  features = _features(grouped, sample, responses, factors.means, factors.loadings)
  some = np.unique(np.linspace(0, len(responses) - 1, min(len(responses), _MODELS)).astype(int))
  first, arrays = features.shape[1] - found, {"means": factors.means, "loadings": factors.loadings}
  number = 0

  def add(chosen: np.ndarray, prior: hierarchical_logistic.Prior) -> None:
    nonlocal number
    arrays.update({f"columns{number}": chosen, f"mean{number}": prior.mean,
                   f"precision{number}": prior.precision, f"weights{number}": prior.weights})
    number += 1

  widths = sorted({1, 1 + sum(group.size for group in grouped)})
  for width, size in itertools.product(widths, sizes):
    chosen = np.concatenate([np.arange(width), first + np.arange(size)])
    narrow = features[:, chosen]

    def without_own(index: int, narrow: np.ndarray = narrow, size: int = size) -> np.ndarray:
      model, rest = some[index], narrow.copy()
      own = responses[model] - factors.means[model]
      rest[:, rest.shape[1] - size:] -= np.outer(own, factors.loadings[model, :size])
      return rest

    prior = hierarchical_logistic.learn_prior(without_own, responses[some], _RIDGE)
    add(chosen, prior)
    if size == sizes[-1]:
      add(np.concatenate([np.arange(width), first + np.arange(found)]),
          _ridge_prior(prior, width, factors.loadings))
    if width == 1 and size == middle:
      arrays["strengths"] = learn(without_own, responses[some], _solved(responses),
                                  prior, _BANDWIDTHS[1])
  answers = columns(pool := even(_POOL))
  arrays.update(
      pool=_features(grouped, pool, answers, factors.means, factors.loadings).astype(np.float32),
      pool_counts=_solved(answers), pool_samples=pool, num=np.array(number))
  return FactorModel(len(counts), columns, arrays, groups)


def _solved(columns: np.ndarray) -> np.ndarray:
  """How many models solve each sample, int64 [n], from answers [M, n]; scores are added up."""
  if columns.dtype.kind == "f":
    return np.rint(columns.sum(axis=0, dtype=np.float64)).astype(np.int64)
  return columns.sum(axis=0, dtype=np.int64)


def _features(groups: Sequence[_Group], samples: np.ndarray, columns: np.ndarray,
              means: np.ndarray, loadings: np.ndarray) -> np.ndarray:
  parts: list[np.ndarray] = [np.ones([len(samples), 1])]
  parts += [group.one_hot(samples) for group in groups]
  parts.append(columns.T.astype(np.float32) @ loadings - means @ loadings)
  return np.concatenate(parts, axis=1, dtype=np.float64)


def _ridge_prior(learned: hierarchical_logistic.Prior, width: int, loadings: np.ndarray
                 ) -> hierarchical_logistic.Prior:
  """Prior of a ridge regression on the known models' answers, as one of K factors' weights.

  Weights u = sum of w_k loadings[:, k] of the answers have the penalty r |u|^2 / 2 =
  r sum of w_k^2 |loadings[:, k]|^2 / 2, since loadings are orthogonal. The weights of the first
  `width` columns, and the mean, are as learned.
  """
  size = width + loadings.shape[1]
  precision, mean = np.zeros([size, size]), np.zeros(size)
  precision[:width, :width] = np.linalg.inv(np.linalg.inv(learned.precision)[:width, :width])
  precision[range(width, size), range(width, size)] = _ANSWERS_RIDGE * np.sum(loadings**2, axis=0)
  mean[:len(learned.mean)] = learned.mean
  return hierarchical_logistic.Prior(mean, precision)


def _groups(groups: Sequence[np.ndarray], num_samples: int) -> list[_Group]:
  plain = [_Group(group, num_samples) for group in groups]
  return plain + [_Group(one.number * two.size + two.number, num_samples)
                  for one, two in itertools.combinations(plain, 2)
                  if one.size * two.size <= _PRODUCTS]


class _Group:
  """One-hot columns of a grouping of all samples, minus their mean."""

  def __init__(self, values: np.ndarray, num_samples: int):
    values = np.asarray(values)
    if values.shape != (num_samples,) or values.dtype.kind not in "iu":
      raise ValueError(f"Got a grouping {values.dtype} {list(values.shape)} for {num_samples} "
                       f"samples; expected one whole number each, [{num_samples}].")
    numbers, self.number = np.unique(values, return_inverse=True)
    if len(numbers) > 1000:
      raise ValueError(f"Got a grouping with {len(numbers)} different values; expected classes or "
                       "domains, 1000 at most.")
    self.size = len(numbers)
    self._shares = np.bincount(self.number) / num_samples

  def one_hot(self, samples: np.ndarray) -> np.ndarray:
    return (self.number[samples][:, None] == np.arange(self.size)) - self._shares


class Cut(NamedTuple):
  """The cut of Sort & Search in terms of counts, so that no rank is needed.

  A sample is easier if twice the number of known models that solve it is more than `double`, or if
  it equals that and its position is at most `position`.
  """

  double: int
  position: int

  def is_easier(self, counts: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """Whether samples [n], solved by `counts` [n] of the known models, are easier: bool [n]."""
    twice = 2 * np.asarray(counts, np.int64)
    return (twice > self.double) | ((twice == self.double) & (np.asarray(samples) <= self.position))


def find_cut(counts: np.ndarray, samples: np.ndarray, answers: np.ndarray) -> Cut:
  """Finds the cut with the smallest error on answers [n], 0/1 or graded; ties give the first.

  It is halfway between the counts of the two neighbors; between equal counts, behind the first.

  Args:
    counts: int [n], number of known models that solve each sample.
    samples: int [n], all different.
    answers: [n].
  """
  counts = np.asarray(counts, np.int64)
  order = np.lexsort((samples, -counts))
  gains = np.concatenate([[0.0], np.cumsum(2.0 * np.asarray(answers, np.float64)[order] - 1.0)])
  best = int(np.argmax(gains))
  if best == len(order):
    return Cut(-1, 0)
  if not best:
    return Cut(_NEVER, 0)
  last, following = counts[order[best - 1]], counts[order[best]]
  return Cut(int(last + following), int(np.asarray(samples)[order[best - 1]]))


@dataclasses.dataclass(frozen=True)
class Shrinkage:
  """What is done to the predictions of one model.

  Attributes:
    cut: that of Sort & Search in the model's answers.
    means: mean probability of the easier samples, and of the others.
    strength: 0 changes nothing.
  """

  cut: Cut
  means: tuple[float, float]
  strength: float

  def apply(self, predicted: np.ndarray, counts: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """Shrinks the probabilities [n] of samples int [n], solved by `counts` [n] known models."""
    if not self.strength:
      return predicted
    return _shrunk(predicted, self.cut.is_easier(counts, samples), self.means, self.strength)


def fit(cut: Cut, strength: float, predicted: np.ndarray, counts: np.ndarray, samples: np.ndarray
        ) -> Shrinkage:
  """Fits the means to probabilities [n] of samples [n] that stand for all samples."""
  return Shrinkage(cut, _side_means(predicted, cut.is_easier(counts, samples)), strength)


def at(strengths: np.ndarray, num: int) -> float:
  """Strength for a model with `num` answers, from those at `BUDGETS`."""
  places = np.log([*BUDGETS, NONE_FROM])
  return float(np.interp(np.log(max(1, num)), places, [*strengths, 0.0]))


def learn(features: Callable[[int], np.ndarray], responses: np.ndarray, counts: np.ndarray,
          prior: hierarchical_logistic.Prior, bandwidth: float) -> np.ndarray:
  """Finds the strength at each of `BUDGETS`: float64 [3].

  Args:
    features: index of a known model -> features [n, D] of n samples, without its own part.
    responses: 0/1 [S, n], answers of S known models.
    counts: int [n], number of all known models that solve each sample.
    prior: of weights, estimated from these S models.
    bandwidth: of the kernel prior.
  """
  some = np.unique(
    np.linspace(0, len(responses) - 1, min(len(responses), _STEP_MODELS)).astype(int)
  )
  errors: list[list[np.ndarray]] = [[] for _ in BUDGETS]
  if len(responses) < 3:
    return np.zeros(len(BUDGETS))
  for model in some.tolist():
    own = np.asarray(responses[model], np.float64)
    rest = np.delete(prior.weights, model, axis=0)
    without = hierarchical_logistic.Prior(rest.mean(axis=0), prior.precision, rest)
    inputs, solved = features(model), np.rint(counts - own).astype(np.int64)
    order = np.argsort(-solved, kind="stable")
    for place, budget in enumerate(BUDGETS):
      for draw in range(_STEP_DRAWS if 4 * budget <= len(own) else 0):
        asked = order[
          np.sort(rank_order.nested_ranks(len(own), budget, _STEP_DRAWS * model + draw))
        ]
        mixture, _ = hierarchical_logistic.mix_kernels(
            inputs[asked], own[asked].astype(np.float64),
            [hierarchical_logistic.PriorCandidate(np.arange(inputs.shape[1]), without)],
            (bandwidth,))
        left = np.setdiff1d(np.arange(len(own)), asked)
        predicted = hierarchical_logistic.predict(inputs[left], mixture)
        cut, right = find_cut(solved[asked], asked, own[asked]), own[left] >= 0.5
        is_easier = cut.is_easier(solved[left], left)
        means = _side_means(predicted, is_easier)
        # Share of wrong answers of Sort & Search, then at each strength.
        errors[place].append(np.array([np.mean(is_easier != right), *(
            np.mean((_shrunk(predicted, is_easier, means, strength) > 0.5) != right)
            for strength in _STRENGTHS)]))
  return np.array([_strength(np.array(found)) if found else 0.0 for found in errors])


def _strength(errors: np.ndarray) -> float:
  """The smallest strength with few worse predictions, of errors [cases, 1 + strengths]."""
  worse = np.mean(errors[:, 1:] > errors[:, :1], axis=0)
  enough = np.flatnonzero(worse <= WORSE)
  return float(_STRENGTHS[enough[0] if len(enough) else -1])


def _shrunk(predicted: np.ndarray, is_easier: np.ndarray, means: tuple[float, float],
            strength: float) -> np.ndarray:
  return (1.0 - strength) * predicted + strength * np.where(is_easier, *means)


def _side_means(predicted: np.ndarray, is_easier: np.ndarray) -> tuple[float, float]:
  """Mean probability of the easier and of the other samples; of a side without any, 1 or 0."""
  return (float(predicted[is_easier].mean(dtype=np.float64)) if is_easier.any() else 1.0,
          float(predicted[~is_easier].mean(dtype=np.float64)) if not is_easier.all() else 0.0)


class FactorSearch:
  """Estimator by factors. It has no weights: its data are in the cache."""

  def __init__(self, num_factors: Sequence[int] = NUM_FACTORS, seed: int = 0,
               target_width: float | None = None, adaptive: float = 0.0):
    """Args:
      num_factors: numbers of factors to average over.
      seed: of the questions.
      target_width: stop asking when the 95% interval of the accuracy is no wider.
      adaptive: share of the budget that is spent on the samples that tell most about the model.
    """
    self.seed = seed
    self._num_factors, self._target_width = tuple(num_factors), target_width
    self._adaptive = adaptive
    self._last = estimator.LastResult()

  def estimate(
      self, known: np.ndarray, ask: Callable[[np.ndarray], np.ndarray], budget: int,
      groups: Sequence[np.ndarray] = (),
  ) -> estimator.Estimate:
    """See `estimator.Estimator`; `groups` (class, domain, ...) are int [N] each."""
    def prepare() -> tuple[rank_order.RankOrder, FactorModel]:
      counts = ranking.checked_counts(known)
      return rank_order.RankOrder(counts), build(
          counts, lambda samples: known[:, samples], groups=groups, num_factors=self._num_factors)

    order, model = self._last.get((known, *groups), prepare)
    first = max(1, round(budget * (1.0 - self._adaptive)))
    asked = answer_sampling.ask_nested(order.samples_at, model.num_samples, ask, first,
                                       seed=self.seed, target_width=self._target_width)
    by_rank = np.argsort(asked.ranks)
    sample = random_sample.in_order(len(by_rank), model.num_samples, asked.samples[by_rank],
                                    by_rank)
    samples, answers = asked.samples, asked.answers
    if self._adaptive:
      samples, answers = ask_informative(model, ask, samples, answers, budget)
    return model.fit(samples, answers, sample).estimate()
