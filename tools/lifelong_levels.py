# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Level and power of tests of two models, and coverage of standard errors, on clustered questions.

  python tools/lifelong_levels.py --tables 200

Two models answer 600 questions in passages of 1 to 25. The log odds of an answer are the sum of a
difficulty of the question, one of the passage, and an effect of the model on the passage of
standard deviation 1; a better model has 0.5 more. They are compared as by `suite lifelong compare`,
and have standard errors as by `rank`, with and without --clusters.

A second table is of two equal models that answer 300 of 1,200 questions, beside 12 known models:
how often the interval of `estimate` contains the accuracy on all questions, of the questions that
it asks and of whole passages (`--random`), and how often the two are found to differ, at 5%.
"""

from __future__ import annotations

import argparse
import sys
import tempfile

import numpy as np

from suite import lifelong
from suite.lifelong import paired_standings
from suite.lifelong import standings
from suite.lifelong.cache import accuracy_cache

_QUESTIONS, _EXPECTED = 600, 200_000
_KNOWN, _ALL, _ASKED = 12, 1200, 300


def chances(rng: np.random.Generator, size: int, num: int, skills: list[float]) -> np.ndarray:
  """Probabilities of correct answers of models to `num` questions in passages of a size."""
  passage = np.repeat(np.arange(-(-num // size)), size)[:num]
  common = rng.normal(0, 1, num) + rng.normal(0, 1, passage[-1] + 1)[passage]
  own = rng.normal(0, 1, [len(skills), passage[-1] + 1])[:, passage]
  return 1 / (1 + np.exp(-(common + own + np.array(skills)[:, None])))


def row(size: int, better: float, tables: int) -> list[float]:
  """Shares of tables: found without and with clusters, covered without and with them."""
  rng = np.random.default_rng([size, int(10 * better)])
  truth = chances(rng, size, _EXPECTED, [better, 0.0]).mean(axis=1)[0]
  clusters, found = np.arange(_QUESTIONS) // size, []
  for _ in range(tables):
    answers = rng.random([2, _QUESTIONS]) < chances(rng, size, _QUESTIONS, [better, 0.0])
    with tempfile.TemporaryDirectory() as folder:
      cache = accuracy_cache.AccuracyCache(folder, create=True)
      cache.add_models(["a", "b"], answers.astype(np.int8), [str(i) for i in range(_QUESTIONS)])
      tests = [paired_standings.compare(cache, clusters=one).pairs[0].p for one in (None, clusters)]
      errors = [standings.Standings(cache, clusters=one).model(0).error for one in (None, clusters)]
    found.append([*(float(p is not None and p < 0.05) for p in tests),
                  *(float(abs(answers[0].mean() - truth) < 1.96 * (one or 0.0))
                    for one in errors)])
  return (100 * np.mean(found, axis=0)).tolist()


def estimates(size: int, tables: int) -> list[float]:
  """Shares of tables: the questions' interval contains the truth; that of whole passages does,
  without and with clusters; two equal models are found to differ, without and with clusters."""
  rng, found = np.random.default_rng(size), []
  for _ in range(tables):
    skills = [*rng.normal(0, 1, _KNOWN), 0.0, 0.0]
    answers = (rng.random([len(skills), _ALL]) < chances(rng, size, _ALL, skills)).astype(np.int8)
    clusters, truth = np.arange(_ALL) // size, answers[-2].mean()
    passages = rng.permutation(_ALL // size)[:_ASKED // size]
    whole = {str(i): float(answers[-2, i]) for i in np.flatnonzero(np.isin(clusters, passages))}
    with tempfile.TemporaryDirectory() as folder:
      cache = accuracy_cache.AccuracyCache(folder, create=True)
      cache.add_models([f"m{i}" for i in range(_KNOWN)], answers[:-2],
                       [str(i) for i in range(_ALL)])
      plain = lifelong.Reference(cache)
      by_cluster = lifelong.Reference(cache, clusters=clusters)
      asked = plain.questions(_ASKED).tolist()
      ones = [plain.estimate_from({one: float(row[int(one)]) for one in asked})
              for row in answers[-2:]]
      inside = [ones[0], *(one.estimate_from(whole, is_random=True) for one in (plain, by_cluster))]
    found.append([*(one.interval[0] <= truth <= one.interval[1] for one in inside),
                  *(lifelong.compare(*ones, _ALL, one)[1] < 0.05 for one in (None, clusters))])
  return (100 * np.mean(found, axis=0)).tolist()


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("--tables", type=int, default=200)
  args = parser.parse_args()
  sys.stdout.write("| questions a passage | models | found | with clusters | covered | "
                   "with clusters |\n| ---: | --- | ---: | ---: | ---: | ---: |\n")
  for size in (1, 5, 10, 25):
    for better, what in ((0.0, "equal"), (0.5, "one is better")):
      cells = " | ".join(f"{value:.1f}" for value in row(size, better, args.tables))
      sys.stdout.write(f"| {size} | {what} | {cells} |\n")
      sys.stdout.flush()
  sys.stdout.write("\n| questions a passage | covered, questions | covered, passages | "
                   "with clusters | found falsely | with clusters |\n|" + " ---: |" * 6 + "\n")
  for size in (1, 5, 10, 25):
    cells = " | ".join(f"{value:.1f}" for value in estimates(size, args.tables))
    sys.stdout.write(f"| {size} | {cells} |\n")
    sys.stdout.flush()
  return 0


if __name__ == "__main__":
  sys.exit(main())
