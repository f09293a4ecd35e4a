# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Errors of the accuracy from a given number of answers, with whole families of models left out.

  python tools/lifelong_few.py MATRIX.npz docs/results/lifelong_nlu.md

Families are those of `lifelong_asking.py`. All methods see the same known models. The methods:

  mean       of the answers to random questions
  ridge      regression of the known models' accuracies on their answers to random questions
  p-IRT      of tinyBenchmarks (Polo et al., 2024), with one ability: the answers to random
             questions, and what the fitted 2PL predicts of all others
  gp-IRT     the same on anchors, the samples nearest to the centers of k-means on the known
             answers: the weighted mean of the anchors and p-IRT, averaged as by the authors
  DISCO      random forest on the answers to the questions that the known models disagree about most
             (the variance of their answers; gp-IRT and DISCO only where scikit-learn is installed)
  metabench  (Kipnis et al., 2024): of each quantile of the known abilities the item with the most
             information there, and a regression of accuracies on abilities, here a parabola
  Fluid      Fluid Benchmarking (Hofmann et al., 2025): each question has the largest information at
             the ability so far; the accuracy is the mean of the curves, as by p-IRT
  fixed      the suite's fixed questions and what it estimates from them
  estimate   `lifelong.estimate`: up to 64 answers adaptive or fixed, as the known models say

2PL is fitted as by `irt_search` to 8,192 random samples, and the methods by IRT ask some of these.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
import functools
import pathlib
import sys
import tempfile
import time

import lifelong_asking
import numpy as np

from suite import lifelong
from suite.lifelong.answers import accuracy_regression
from suite.lifelong.answers import hierarchical_logistic
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.estimators import adaptive_start
from suite.lifelong.estimators import irt_search

METHODS = ("random, mean", "random, ridge", "random, p-IRT", "anchors, gp-IRT", "DISCO",
           "metabench-like", "Fluid Benchmarking", "fixed questions", "estimate")
_POOL = 8192  # Number of samples that 2PL is fitted to.
_CLUSTERED = 2048  # Number of these that anchors are chosen from.
_MOST = {"random, ridge": 1024, "random, p-IRT": 1024, "anchors, gp-IRT": 256, "DISCO": 1024,
         "metabench-like": 256, "Fluid Benchmarking": 256}  # Answers, beyond which errors stay.
_WITHIN = 0.01
_PRIOR = hierarchical_logistic.Prior(np.array([0.0, 1.0]), np.diag([1.0, 1e9]))


class Competitors:
  """What the methods know of the known models, without a family."""

  def __init__(self, known: np.ndarray, accuracies: np.ndarray, rng: np.random.Generator):
    self._known, self._accuracies = known, accuracies
    self._pool = rng.permutation(known.shape[1])[:_POOL]
    self._answers = known[:, self._pool]
    items, abilities = irt_search.fit_items_and_abilities(self._answers, 1, 6)
    self._items, self._abilities = items.astype(np.float64), abilities[:, 0]
    disagree = np.abs(2 * known.sum(axis=0) - len(known)) + rng.random(known.shape[1]) / 2
    self._disagree = np.argsort(disagree)
    # Of gp-IRT: the error of p-IRT in a fifth of the models from half of the items.
    out = np.arange(len(known)) % 5 == 0
    half = irt_search.fit_items(self._answers[~out], 1, 6).astype(np.float64)
    self._bias = float(np.mean([abs(self._curve(half[1::2], self._ability(half[::2], row[::2]))
                                    - row[1::2].mean()) for row in self._answers[out]]))

  def estimates(self, row: np.ndarray, num: int, rng: np.random.Generator) -> list[float]:
    """The accuracies that the methods up to Fluid Benchmarking estimate from `num` answers."""
    order = rng.permutation(len(self._pool))[:num] if num <= len(self._pool) else None
    some = rng.permutation(len(row))[:num] if order is None else self._pool[order]
    mine = row[self._pool].astype(np.float64)

    def of(name: str, value: Callable[[], float]) -> float:
      return value() if num <= _MOST[name] else float("nan")

    return [float(row[some].mean()),
            of("random, ridge", lambda: accuracy_regression.AccuracyRegression(
                self._known[:, some], self._accuracies).predict(row[some]).value),
            of("random, p-IRT", lambda: self._by_irt(mine, order, mine[order].mean(), len(row))),
            of("anchors, gp-IRT", lambda: self._by_anchors(mine, num, len(row))),
            of("DISCO", lambda: by_forest(self._known, self._accuracies, row,
                                          self._disagree[:num])),
            of("metabench-like", lambda: self._by_quantiles(mine, num)),
            of("Fluid Benchmarking", lambda: self._by_information(mine, num, len(row)))]

  def _ability(self, items: np.ndarray, answers: np.ndarray) -> np.ndarray:
    return hierarchical_logistic.fit(items, answers, _PRIOR)

  def _curve(self, items: np.ndarray, ability: np.ndarray) -> float:
    return float(hierarchical_logistic.probabilities(items, ability).mean())

  def _by_irt(self, mine: np.ndarray, asked: np.ndarray, mean: float, total: int) -> float:
    ability = self._ability(self._items[asked], mine[asked])
    rest = self._curve(np.delete(self._items, asked, axis=0), ability)
    return float(len(asked) * mean + (total - len(asked)) * rest) / total

  def _by_anchors(self, mine: np.ndarray, num: int, total: int) -> float:
    anchors = self._anchors(num)
    if anchors is None:
      return float("nan")
    places, weights = anchors
    naive = float(weights @ mine[places])
    variance = float(np.mean(self._accuracies * (1 - self._accuracies))) / (4 * num)
    share = self._bias**2 / (variance + self._bias**2)
    return share * naive + (1 - share) * self._by_irt(mine, places, naive, total)

  @functools.cache  # noqa: B019 (one a family)
  def _anchors(self, num: int) -> tuple[np.ndarray, np.ndarray] | None:
    try:
      from sklearn import cluster  # pylint: disable=import-outside-toplevel
    except ImportError:
      return None
    points = self._answers[:, :_CLUSTERED].T.astype(np.float32)
    found = cluster.KMeans(num, n_init=1, random_state=0).fit(points)
    away = ((points[:, None] - found.cluster_centers_[None]) ** 2).sum(axis=2)
    return away.argmin(axis=0), np.bincount(found.labels_, minlength=num) / len(points)

  def _by_quantiles(self, mine: np.ndarray, num: int) -> float:
    chosen: list[int] = []
    for ability in np.quantile(self._abilities, (np.arange(num) + 0.5) / num):
      chance = hierarchical_logistic.probabilities(self._items, np.array([ability, 1.0]))
      information = self._items[:, 0] ** 2 * chance * (1 - chance)
      information[chosen] = -1.0
      chosen.append(int(np.argmax(information)))
    found = np.array([self._ability(self._items[chosen], row[chosen])[0]
                      for row in [mine, *self._answers]])
    bent = np.polynomial.Polynomial.fit(found[1:], self._accuracies, 2)
    return float(np.clip(bent(np.clip(found[0], found[1:].min(), found[1:].max())), 0.0, 1.0))

  def _by_information(self, mine: np.ndarray, num: int, total: int) -> float:
    asked: list[int] = []
    ability = np.array([0.0, 1.0])
    for _ in range(num):
      chance = hierarchical_logistic.probabilities(self._items, ability)
      information = self._items[:, 0] ** 2 * chance * (1 - chance)
      information[asked] = -1.0
      asked.append(int(np.argmax(information)))
      ability = self._ability(self._items[asked], mine[asked])
    places = np.array(asked)
    return self._by_irt(mine, places, float(mine[places].mean()), total)


def by_forest(known: np.ndarray, accuracies: np.ndarray, row: np.ndarray, asked: np.ndarray
              ) -> float:
  """Accuracy by a random forest; NaN without scikit-learn."""
  try:
    from sklearn import ensemble  # pylint: disable=import-outside-toplevel
  except ImportError:
    return float("nan")
  return float(ensemble.RandomForestRegressor(100, random_state=0).fit(
      known[:, asked], accuracies).predict(row[asked][None])[0])


def needed(budgets: list[int], errors: np.ndarray) -> str:
  """Answers from which on 95% of the errors [B, n] are within a point, on a line of logarithms."""
  high = np.log(np.quantile(errors, 0.95, axis=1) / _WITHIN)
  for place in range(1, len(budgets)):
    if high[place] <= 0 < high[place - 1]:
      share = high[place - 1] / (high[place - 1] - high[place])
      return f"{np.exp(np.interp(share, [0, 1], np.log(budgets[place - 1:place + 1]))):,.0f}"
  return f"more than {budgets[-1]:,}"


def page(args: argparse.Namespace, shape: tuple[int, ...], done: int, start: float,
         errors: dict[int, list[list[float]]], inside: dict[int, list[tuple[float, ...]]]) -> str:
  found = {budget: np.array(errors[budget]) for budget in args.budgets}  # [n, methods].
  lines = [f"{shape[0]} models x {shape[1]:,} samples. {done} families are left out in turn, "
           f"{len(found[args.budgets[0]])} models of them are estimated"
           + (f"; {args.known} others are known" if args.known else "")
           + ". Mean absolute error of the accuracy, points:", "",
           "| answers | " + " | ".join(f"{budget:,}" for budget in args.budgets) + " | ±1 point |",
           "| --- |" + " ---: |" * (len(args.budgets) + 1)]
  means = np.array([[np.mean(found[budget][:, place]) for budget in args.budgets]
                    for place in range(len(METHODS))])
  for place, method in enumerate(METHODS):
    cells = [f"**{100 * one:.2f}**" if one == np.nanmin(means[:, at]) else f"{100 * one:.2f}"
             for at, one in enumerate(means[place])]
    good = [budget for budget in args.budgets if np.isfinite(found[budget][:, place]).all()]
    if good:
      lines.append(f"| {method} | " + " | ".join(cells).replace("nan", "") + " | " + needed(
          good, np.array([found[budget][:, place] for budget in good])) + " |")
  lines += [f"| {text} | " + " | ".join(
      f"{100 * np.mean([one[at] for one in inside[budget]]):.{digits}f}" for budget in args.budgets)
            + " | |" for at, text, digits in (
                (0, "intervals of `estimate` that contain the accuracy, %", 0),
                (1, "their width, points", 1), (2, "models with adaptive questions, %", 0))]
  lines += ["", f"    python tools/lifelong_few.py {' '.join(sys.argv[1:])}", "",
            f"{time.process_time() - start:.0f} s of CPU."]
  return "\n".join(lines) + "\n"


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("matrix", type=pathlib.Path)
  parser.add_argument("page", type=pathlib.Path)
  parser.add_argument("--budgets", type=int, nargs="+",
                      default=[8, 16, 32, 64, 100, 256, 1024, 4096])
  parser.add_argument("--known", type=int, default=0, help="known models, drawn at random (all)")
  parser.add_argument("--models", type=int, default=3, help="models of a family that are estimated")
  args = parser.parse_args()
  start = time.process_time()
  names, answers = lifelong_asking.read(args.matrix)
  truth, total = answers.mean(axis=1), answers.shape[1]
  families = sorted(set(map(lifelong_asking.family, names)))
  rng = np.random.default_rng(0)
  errors: dict[int, list[list[float]]] = {budget: [] for budget in args.budgets}
  inside: dict[int, list[tuple[float, ...]]] = {budget: [] for budget in args.budgets}
  for done, left_out in enumerate(families, 1):
    mine = [index for index, name in enumerate(names) if lifelong_asking.family(name) == left_out]
    rest = np.setdiff1d(np.arange(len(names)), mine)
    if args.known:
      rest = np.sort(rng.permutation(rest)[:args.known])
    known = answers[rest]
    others = Competitors(known, truth[rest], rng)
    with tempfile.TemporaryDirectory() as folder:
      cache = accuracy_cache.AccuracyCache(folder, create=True)
      cache.add_models([names[index] for index in rest], known.astype(np.int8),
                       [str(index) for index in range(total)])
      for model in rng.permutation(mine)[:args.models].tolist():
        # Other questions for each model; the preparation is in the cache.
        reference, given = lifelong.Reference(cache, seed=model), answers[model]

        def predict(ids: np.ndarray, given: np.ndarray = given) -> np.ndarray:
          return given[ids.astype(np.int64)].astype(np.float64)

        for budget in args.budgets:
          asked = reference.questions(budget)
          fixed = reference.estimate_from(dict(zip(asked.tolist(), predict(asked).tolist())))
          found = reference.estimate(predict, budget) if budget <= adaptive_start.MOST else fixed
          assert found.interval is not None
          low, high = found.interval
          inside[budget].append((low <= truth[model] <= high, high - low, found.sample is None))
          errors[budget].append(np.abs(np.array([
              *others.estimates(given, budget, rng), fixed.accuracy, found.accuracy])
                                       - truth[model]).tolist())
    args.page.write_text(page(args, answers.shape, done, start, errors, inside), encoding="utf-8")
  return 0


if __name__ == "__main__":
  sys.exit(main())
