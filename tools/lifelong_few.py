# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Errors of the accuracy from a given number of answers, with whole families of models left out.

  python tools/lifelong_few.py MATRIX.npz docs/results/lifelong_nlu.md

Families are those of `lifelong_asking.py`. The methods:

  mean     of the answers to random questions, or to those of `lifelong.Reference`
  ridge    regression of the known models' accuracies on their answers to random questions
  IRT      2PL with one ability, as tinyBenchmarks' p-IRT: the answers to random questions, and what
           the fitted model predicts of all others
  DISCO    random forest on the answers to the questions that the known models disagree about most
           (the variance of their answers; only where scikit-learn is installed)
  estimate of `lifelong.Reference`: `suite lifelong estimate`
"""

from __future__ import annotations

import argparse
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
from suite.lifelong.estimators import irt_search

METHODS = ("random questions, mean", "random questions, ridge", "random questions, IRT",
           "DISCO's questions, forest", "the suite's questions, mean", "estimate")
_REST = 8192  # Least number of samples whose mean prediction by IRT stands for all others.
_MOST = 1024  # Largest number of answers for forest and ridge, whose errors do not fall any more.
_WITHIN = 0.01


def by_irt(items: np.ndarray, answers: np.ndarray, num_samples: int) -> float:
  """Accuracy by 2PL, from answers [m] to the first of some items [n, 2] in random order."""
  num = len(answers)
  prior = hierarchical_logistic.Prior(np.array([0.0, 1.0]), np.diag([1.0, 1e9]))
  ability = hierarchical_logistic.fit(items[:num], answers, prior)
  rest = hierarchical_logistic.probabilities(items[num:], ability).mean()
  return float((answers.sum() + (num_samples - num) * rest) / num_samples)


def by_forest(known: np.ndarray, accuracies: np.ndarray, answers: np.ndarray) -> float:
  """Accuracy by a random forest; NaN without scikit-learn."""
  try:
    from sklearn import ensemble  # pylint: disable=import-outside-toplevel
  except ImportError:
    return float("nan")
  return float(ensemble.RandomForestRegressor(100, random_state=0).fit(
      known, accuracies).predict(answers[None])[0])


def needed(budgets: list[int], errors: np.ndarray) -> str:
  """Answers from which on 95% of the errors [B, n] are within a point, on a line of logarithms."""
  high = np.log(np.quantile(errors, 0.95, axis=1) / _WITHIN)
  for place in range(1, len(budgets)):
    if high[place] <= 0 < high[place - 1]:
      share = high[place - 1] / (high[place - 1] - high[place])
      return f"{np.exp(np.interp(share, [0, 1], np.log(budgets[place - 1:place + 1]))):,.0f}"
  return f"more than {budgets[-1]:,}"


def page(args: argparse.Namespace, shape: tuple[int, ...], done: int, start: float,
         errors: dict[int, list[list[float]]], inside: dict[int, list[bool]]) -> str:
  found = {budget: np.array(errors[budget]) for budget in args.budgets}  # [n, methods].
  lines = [f"{shape[0]} models x {shape[1]:,} samples. {done} families are left out in turn, "
           f"{len(found[args.budgets[0]])} models of them are estimated"
           + (f"; {args.known} others are known" if args.known else "")
           + ". Mean absolute error of the accuracy, points:", "",
           "| answers | " + " | ".join(f"{budget:,}" for budget in args.budgets) + " | ±1 point |",
           "| --- |" + " ---: |" * (len(args.budgets) + 1)]
  for place, method in enumerate(METHODS):
    cells = [f"{100 * np.mean(found[budget][:, place]):.2f}" for budget in args.budgets]
    good = [budget for budget in args.budgets if np.isfinite(found[budget][:, place]).all()]
    if good:
      lines.append(f"| {method} | " + " | ".join(cells).replace("nan", "") + " | " + needed(
          good, np.array([found[budget][:, place] for budget in good])) + " |")
  lines.append("| intervals that contain the accuracy, % | " + " | ".join(
      f"{100 * np.mean(inside[budget]):.0f}" for budget in args.budgets) + " | |")
  lines += ["", f"    python tools/lifelong_few.py {' '.join(sys.argv[1:])}", "",
            f"{time.process_time() - start:.0f} s of CPU."]
  return "\n".join(lines) + "\n"


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("matrix", type=pathlib.Path)
  parser.add_argument("page", type=pathlib.Path)
  parser.add_argument("--budgets", type=int, nargs="+",
                      default=[8, 16, 32, 64, 100, 256, 1024, 4096, 8192])
  parser.add_argument("--known", type=int, default=0, help="known models, drawn at random (all)")
  parser.add_argument("--models", type=int, default=3, help="models of a family that are estimated")
  args = parser.parse_args()
  start = time.process_time()
  names, answers = lifelong_asking.read(args.matrix)
  truth, total = answers.mean(axis=1), answers.shape[1]
  families = sorted(set(map(lifelong_asking.family, names)))
  rng = np.random.default_rng(0)
  errors: dict[int, list[list[float]]] = {budget: [] for budget in args.budgets}
  inside: dict[int, list[bool]] = {budget: [] for budget in args.budgets}
  for done, left_out in enumerate(families, 1):
    mine = [index for index, name in enumerate(names) if lifelong_asking.family(name) == left_out]
    rest = np.setdiff1d(np.arange(len(names)), mine)
    if args.known:
      rest = np.sort(rng.permutation(rest)[:args.known])
    known = answers[rest]
    disagree = np.argsort(np.abs(2 * known.sum(axis=0) - len(rest)) + rng.random(total) / 2)
    with tempfile.TemporaryDirectory() as folder:
      cache = accuracy_cache.AccuracyCache(folder, create=True)
      cache.add_models([names[index] for index in rest], known.astype(np.int8),
                       [str(index) for index in range(total)])
      for model in rng.permutation(mine)[:args.models].tolist():
        # Other questions for each model; the preparation is in the cache.
        reference, given = lifelong.Reference(cache, seed=model), answers[model]
        order = rng.permutation(total)
        items = irt_search.fit_items(known[:, order[:max(args.budgets) + _REST]], 1, 6).astype(
            np.float64)
        for budget in args.budgets:
          asked = reference.questions(budget).astype(np.int64)
          found = reference.estimate_from(dict(zip(map(str, asked.tolist()),
                                                   given[asked].astype(float).tolist())))
          assert found.interval is not None
          inside[budget].append(bool(found.interval[0] <= truth[model] <= found.interval[1]))
          some, few = order[:budget], budget <= _MOST
          errors[budget].append(np.abs(np.array([
              given[some].mean(),
              accuracy_regression.AccuracyRegression(known[:, some], truth[rest]).predict(
                  given[some]).value if few else np.nan,
              by_irt(items, given[some].astype(np.float64), total),
              by_forest(known[:, disagree[:budget]], truth[rest],
                        given[disagree[:budget]]) if few else np.nan,
              given[asked].mean(), found.accuracy]) - truth[model]).tolist())
    args.page.write_text(page(args, answers.shape, done, start, errors, inside), encoding="utf-8")
  return 0


if __name__ == "__main__":
  sys.exit(main())
