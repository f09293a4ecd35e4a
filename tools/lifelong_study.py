# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Error against budget of all lifelong estimators, on a real matrix of models x samples.

  python tools/lifelong_study.py MATRIX.npz docs/results/lifelong.md
  python tools/lifelong_study.py CACHE_FOLDER out.md --known 12

A split chooses 50 (--known) known models at random and estimates each of the others. The tables and
the figure beside them (.svg) show means over splits.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
import functools
import multiprocessing
import os
import pathlib
import platform
import sys
import time
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
import numpy as np
from sklearn import linear_model

from suite.learners.estimators import anchor_search
from suite.learners.estimators import paper_estimators
from suite.lifelong.answers import answer_sampling
from suite.lifelong.answers import rank_order
from suite.lifelong.answers import ranking
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.estimators import estimator
from suite.lifelong.estimators import factor_model
from suite.lifelong.estimators import irt_search

BUDGETS = [8 << power for power in range(12)]
# Clustering for a large budget takes hours.
LARGEST = {"anchors (k-means)": 128, "anchors (k-medoids)": 128}
# Informative samples are chosen in many rounds.
ONLY = {"factors, half adaptive": (32, 128, 512)}
Scores = dict[tuple[str, int], list[np.ndarray]]  # (method, budget) -> [models, 8] per split.
# Errors of single answers of two methods that are closer are called equal: with 60,000 samples, a
# tenth of which are predicted differently, two standard errors of the difference are 0.26 points.
TIE = 0.0025
FIELDS = ("error", "unseen", "accuracy_error", "covered", "width", "supported", "constant",
          "same_answers")
BASELINE = "Sort & Search (sum)"
_COUNTS = estimator.LastResult()


class Ordered:
  """Sort & Search with another order; like `SumSearch` it does not keep observed answers."""

  def __init__(self, kind: str):
    self._sort = {"recursive": ranking.recursive_order, "sum": ranking.sum_order}[kind]
    self._kept = estimator.LastResult()

  def estimate(self, known: np.ndarray, ask: Callable[[np.ndarray], np.ndarray],
               budget: int) -> estimator.Estimate:
    order = self._kept.get((known,), lambda: self._sort(known))
    observed = ask(order[ranking.sample_positions(len(order), budget)])
    cut = ranking.extrapolate_cut(ranking.dp_threshold(observed), budget, len(order))
    return estimator.Estimate(ranking.step_predictions(order, cut), cut, float(observed.mean()))


class PlainLogistic:
  """Logistic regression on the known models' answers with a fixed penalty; no prior, no factors."""

  def __init__(self, seed: int):
    self.seed = seed
    self._kept = estimator.LastResult()

  def estimate(self, known: np.ndarray, ask: Callable[[np.ndarray], np.ndarray],
               budget: int) -> estimator.Estimate:
    order, inputs = self._kept.get((known,), lambda: (
        rank_order.RankOrder(ranking.checked_counts(known)), known.T.astype(np.float32)))
    asked = answer_sampling.ask_nested(order.samples_at, len(inputs), ask, budget, seed=self.seed)
    mean = float(asked.answers.mean())
    if mean in (0.0, 1.0):
      answers = np.full(len(inputs), mean, np.uint8)
    else:
      fitted = linear_model.LogisticRegression(C=1.0 / 30.0, max_iter=200).fit(
          inputs[asked.samples], asked.answers)
      answers = asked.keep(np.arange(len(inputs)), fitted.predict(inputs)).astype(np.uint8)
    return estimator.Estimate(answers, None, mean)


METHODS: dict[str, Callable[[int], Any]] = {
    "Sort & Search (sum)": lambda seed: paper_estimators.SumSearch(),
    "Sort & Search (recursive)": lambda seed: Ordered("recursive"),
    "several orders": lambda seed: paper_estimators.OrderSearch(seed=seed),
    "CopyNearest&Expand": lambda seed: paper_estimators.CopyNearest(seed),
    "anchors (k-means)": lambda seed: anchor_search.AnchorSearch("kmeans", seed),
    "anchors (k-medoids)": lambda seed: anchor_search.AnchorSearch("kmedoids", seed),
    "2PL, 1 dimension": lambda seed: irt_search.IrtSearch(1, seed=seed),
    "2PL, 5 dimensions": lambda seed: irt_search.IrtSearch(5, seed=seed),
    "random, plain mean": lambda seed: paper_estimators.RandomMean(seed),
    "logistic regression": PlainLogistic,
    "factors": lambda seed: factor_model.FactorSearch(seed=seed),
    "factors, half adaptive": lambda seed: factor_model.FactorSearch(seed=seed, adaptive=0.5),
    "factors, class, domain": lambda seed: factor_model.FactorSearch(seed=seed),
}


def main(arguments: Sequence[str] | None = None) -> int:
  parser = argparse.ArgumentParser(description=__doc__)
  parser.add_argument("matrix", type=pathlib.Path, help="npz with A_packed, n_samples and, if "
                      "known, label and domain; or the folder of an accuracy cache")
  parser.add_argument("report", type=pathlib.Path, help="the .md file to write")
  parser.add_argument("--known", type=int, default=50, help="models whose answers are known")
  parser.add_argument("--splits", type=int, default=5)
  parser.add_argument("--every", type=int, default=1, help="estimate every n-th model only")
  parser.add_argument("--budgets", type=int, nargs="+", default=BUDGETS)
  parser.add_argument("--skip", default="", help="leave out methods whose names contain it")
  parser.add_argument("--methods", nargs="+", choices=list(METHODS), metavar="METHOD",
                      help=f"these only, and {BASELINE}")
  parser.add_argument("--jobs", type=int, default=1, help="number of splits to run at a time")
  args = parser.parse_args(arguments)
  began = time.monotonic()
  answers, groups = load(args.matrix)
  scores: Scores = {}
  # Spawned processes: forked ones may hang in TensorFlow's threads.
  with multiprocessing.get_context("spawn").Pool(args.jobs) as pool:
    one = functools.partial(study, answers, groups, args.known, args.every, args.budgets,
                            args.skip, args.methods)
    for found in pool.imap(one, range(args.splits)):
      for key, rows in found.items():
        scores.setdefault(key, []).extend(rows)
  figure = args.report.with_suffix(".svg")
  draw(scores, figure)
  command = (f"python tools/lifelong_study.py {args.matrix.name} docs/results/{args.report.name} "
             f"--known {args.known} --splits {args.splits} --every {args.every} "
             f"--jobs {args.jobs}")
  if args.budgets != BUDGETS:
    command += f" --budgets {' '.join(map(str, args.budgets))}"
  if args.skip:
    command += f" --skip {args.skip}"
  if args.methods:
    command += " --methods " + " ".join(f'"{name}"' for name in args.methods)
  args.report.write_text(report(scores, answers.shape, args.known, args.splits, command,
                                figure.name, time.monotonic() - began), encoding="utf-8")
  print(f"Wrote {args.report} and {figure}.")
  return 0


def load(path: pathlib.Path) -> tuple[np.ndarray, list[np.ndarray]]:
  """Loads (answers uint8 [M, N], groups of samples int [N] each)."""
  if accuracy_cache.is_cache(path):
    cache = accuracy_cache.AccuracyCache(path)
    return cache.columns(np.arange(cache.num_samples), cache.complete_models()), []
  with np.load(path, allow_pickle=False) as saved:
    answers = np.unpackbits(saved["A_packed"], axis=1, count=int(saved["n_samples"]))
    groups = [saved[name].astype(np.int64) for name in ("label", "domain") if name in saved.files]
  return answers, groups


def study(answers: np.ndarray, groups: list[np.ndarray], num_known: int, every: int,
          budgets: Sequence[int], skip: str, methods: Sequence[str] | None, split: int
          ) -> Scores:
  """Computes the scores of one split.

  Methods whose names contain `skip`, or that are none of `methods` and not the baseline, are left
  out.
  """
  scores: Scores = {}
  chosen = np.random.default_rng(split).permutation(len(answers))
  known, new = answers[chosen[:num_known]], chosen[num_known::every]
  for name, make in METHODS.items():
    method, began = make(split), time.monotonic()
    more = (groups,) if name.endswith("domain") else ()
    if (more and not groups) or (skip and skip in name) or (
        methods and name not in (*methods, BASELINE)):
      continue
    for budget in budgets:
      if budget in ONLY.get(name, budgets) and (
          budget <= min(LARGEST.get(name, budget), answers.shape[1])):
        rows = []
        for model in new:
          if hasattr(method, "seed"):
            method.seed = 1000 * split + int(model)  # A new sample per model, for the coverage.
          rows.append(score(method, known, answers[model], budget, more))
        scores.setdefault((name, budget), []).append(np.array(rows))
    print(f"split {split}: {name}, {time.monotonic() - began:.0f} s", flush=True)
  return scores


def score(method: Any, known: np.ndarray, truth: np.ndarray, budget: int, more: tuple[Any, ...]
          ) -> tuple[float, ...]:
  """Computes one model's scores, in the order of `FIELDS`; NaN where a method has no value."""
  asked: list[np.ndarray] = []

  def ask(samples: np.ndarray) -> np.ndarray:
    asked.append(samples)
    return truth[samples]

  estimate = method.estimate(known, ask, budget, *more)
  accuracy = float(truth.mean(dtype=np.float64))
  wrong = estimate.answers != truth
  unseen = np.ones(len(truth), bool)
  unseen[np.concatenate(asked)] = False
  low, high = estimate.interval or (np.nan, np.nan)
  covered = float(low <= accuracy <= high) if estimate.interval else np.nan
  supported = np.nan if estimate.supported is None else float(estimate.supported)
  # A constant answer to the samples that were not asked: the better of the two.
  share = float(truth[unseen].mean()) if unseen.any() else 0.0
  every = np.concatenate(asked)
  counts = _COUNTS.get((known,), lambda: ranking.checked_counts(known))
  cut = factor_model.find_cut(counts[every], every, truth[every])
  step = cut.is_easier(counts, np.arange(len(truth)))
  return (float(wrong.mean()), float(wrong[unseen].mean()) if unseen.any() else 0.0,
          abs(accuracy - estimate.accuracy), covered, high - low, supported,
          min(share, 1.0 - share),
          float((step != truth)[unseen].mean()) if unseen.any() else 0.0)


def means(scores: Scores, field: str) -> dict[str, list[float]]:
  """Mean in percent by method, in the order of budgets; NaN where a method has no value."""
  index = FIELDS.index(field)
  names = dict.fromkeys(name for name, _ in scores)
  return {name: [100 * float(np.mean([split[:, index].mean() for split in scores[name, budget]]))
                 if (name, budget) in scores else float("nan") for budget in asked(scores)]
          for name in names}


def asked(scores: Scores) -> list[int]:
  """The budgets."""
  return sorted({budget for _, budget in scores})


def worse(scores: Scores, tie: float = 0.0, same_answers: bool = False) -> dict[str, list[float]]:
  """Percent of the models with a larger error on samples that were not asked than Sort & Search.

  Args:
    tie: errors that are larger by at most so much are not counted.
    same_answers: Sort & Search has the answers that the method has, instead of its own.
  """
  unseen, same = FIELDS.index("unseen"), FIELDS.index("same_answers")

  def share(mine: np.ndarray, base: np.ndarray) -> float:
    other = mine[:, same] if same_answers else base[:, unseen]
    return float(np.mean(mine[:, unseen] > other + tie))

  return {name: [100 * float(np.mean([share(*pair) for pair in
                                      zip(scores[name, budget], scores[BASELINE, budget])]))
                 if (name, budget) in scores else float("nan") for budget in asked(scores)]
          for name in dict.fromkeys(name for name, _ in scores) if name != BASELINE}


def right_verdicts(scores: Scores) -> dict[str, list[float]]:
  """Percent of the models whose verdict is right: supported, and better than a constant, or not."""
  unseen, constant, said = map(FIELDS.index, ("unseen", "constant", "supported"))
  found = {}
  for name in dict.fromkeys(name for name, _ in scores):
    rows = [np.concatenate(scores[name, budget]) if (name, budget) in scores else None
            for budget in asked(scores)]
    found[name] = [float("nan") if row is None or np.isnan(row[:, said]).any() else
                   100 * float(np.mean((row[:, said] > 0) == (row[:, unseen] < row[:, constant])))
                   for row in rows]
  return found


def overall(scores: Scores) -> str:
  rows = means(scores, "covered")
  return ", ".join(f"{name} {np.nanmean(values):.1f}%" for name, values in rows.items()
                   if not np.all(np.isnan(values)))


def table(budgets: Sequence[int], rows: dict[str, list[float]]) -> str:
  """Renders a Markdown table; methods without any number are left out."""
  head = ["budget", *map(str, budgets)]
  lines = [head, ["---"] + ["---:"] * len(budgets)]
  lines += [[name, *("" if np.isnan(value) else f"{value:.2f}" for value in values)]
            for name, values in rows.items() if not np.all(np.isnan(values))]
  return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def report(scores: Scores, shape: tuple[int, ...], known: int, splits: int, command: str,
           figure: str, seconds: float) -> str:
  num_new, budgets = len(next(iter(scores.values()))[0]), asked(scores)
  spread = [float(np.std([100 * split[:, 0].mean() for split in scores[name, 1024]], ddof=1))
            for name in (BASELINE, "factors") if (name, 1024) in scores] if splits > 1 else []
  spoken = (f"The standard deviation over splits at budget 1024 is {spread[0]:.2f} for Sort & "
            f"Search (sum) and {spread[1]:.2f} for factors." if len(spread) == 2 else "")
  return f"""# Lifelong evaluation: error against budget

{shape[0]} real models x {shape[1]:,} samples: {known} random models are known, {num_new} others are
estimated from `budget` of their answers each; means over {splits} splits. {spoken}

![Mean absolute error against budget]({figure})

## Mean absolute error of the predicted answers, %

Probabilities are cut at 1/2. Answers that were asked are kept, except by Sort & Search (the paper
does not keep them) and counted; the next table counts the samples that were not asked.

{table(budgets, means(scores, "error"))}

## The same on samples that were not asked, %

{table(budgets, means(scores, "unseen"))}

## Error of the estimated accuracy, points

{table(budgets, means(scores, "accuracy_error"))}

## Coverage of the 95% interval of the accuracy, %

Every model is asked a different sample. By method at all budgets together:
{overall(scores)}.

{table(budgets, means(scores, "covered"))}

## Width of that interval, points

{table(budgets, means(scores, "width"))}

## Models whose per-sample predictions are called supported, %

{table(budgets, means(scores, "supported"))}

## Models whose verdict is right, %

Supported, and predicted with a smaller error than by a constant on the samples that were not asked;
or neither.

{table(budgets, right_verdicts(scores))}

## Models that are predicted worse than by Sort & Search, %

On the samples that each did not ask; any larger error counts, were it by one sample. Sort & Search,
too, does better for some models by chance: it asks other samples.

{table(budgets, worse(scores))}

By more than {100 * TIE:.2f} points (about two standard errors of the difference on 60,000 samples):

{table(budgets, worse(scores, TIE))}

Than by Sort & Search from the same answers; any larger error counts:

{table(budgets, worse(scores, same_answers=True))}

## Made by

    {command}

{seconds:.0f} s on {processor()}, {len(os.sched_getaffinity(0))} cores usable, Python
{platform.python_version()}, numpy {np.__version__}. Anchors stop at a budget of
{max(LARGEST.values())}: clusters of more cost too much.
"""


def processor() -> str:
  with open("/proc/cpuinfo", encoding="utf-8") as file:
    names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
  return names[0] if names else platform.machine()


def draw(scores: Scores, path: pathlib.Path) -> None:
  matplotlib.rcParams["svg.hashsalt"] = "lifelong"
  plot, axes = pyplot.subplots(figsize=(7.5, 5))
  budgets = asked(scores)
  for number, (name, values) in enumerate(means(scores, "error").items()):
    axes.plot(budgets, values, marker="osv^D<>Pp*h"[number % 11], markersize=4, label=name)
  axes.set(xscale="log", xlabel="answers asked of a new model",
           ylabel="mean absolute error, %")
  axes.set_xticks(budgets, [str(budget) for budget in budgets], fontsize=8)
  axes.minorticks_off()
  axes.grid(alpha=0.3)
  axes.legend(fontsize=8)
  plot.savefig(path, bbox_inches="tight", metadata={"Date": None})
  pyplot.close(plot)


if __name__ == "__main__":
  sys.exit(main())
