# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Errors, coverage and power of differences of two new models, with their families left out.

  python tools/lifelong_differences.py MATRIX.npz PAGE.md

Families are those of `lifelong_asking.py`. Of each pair of families some models are left out
with all of their families, and compared from the answers to the same fixed questions: by the plain
difference of the answers with Agresti and Min's interval, and by `lifelong.compare`, which uses
what is predicted of both. The truth is the difference on all samples of the matrix.
"""

from __future__ import annotations

import argparse
import itertools
import pathlib
import sys
import tempfile

import lifelong_asking
import numpy as np

from suite import lifelong
from suite.lifelong.answers import intervals
from suite.lifelong.cache import accuracy_cache


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("matrix", type=pathlib.Path)
  parser.add_argument("page", type=pathlib.Path)
  parser.add_argument("--budgets", type=int, nargs="+", default=[32, 100, 256, 1024])
  parser.add_argument("--pairs", type=int, default=12, help="pairs of families that are left out")
  args = parser.parse_args()
  names, answers = lifelong_asking.read(args.matrix)
  truth, total, rng = answers.mean(axis=1), answers.shape[1], np.random.default_rng(0)
  family = np.array([lifelong_asking.family(name) for name in names])
  pairs = list(itertools.combinations(sorted(set(family)), 2))
  found: dict[tuple[int, str], list[tuple[float, ...]]] = {}
  for place in rng.permutation(len(pairs))[:args.pairs].tolist():
    mine = [rng.permutation(np.flatnonzero(family == one))[:2] for one in pairs[place]]
    rest = np.flatnonzero(~np.isin(family, pairs[place]))
    with tempfile.TemporaryDirectory() as folder:
      cache = accuracy_cache.AccuracyCache(folder, create=True)
      cache.add_models([names[index] for index in rest], answers[rest].astype(np.int8),
                       [str(index) for index in range(total)])
      reference = lifelong.Reference(cache, seed=place)
      for budget in args.budgets:
        asked = reference.questions(budget)
        ones = {index: reference.estimate_from(dict(zip(asked.tolist(), answers[
            index, asked.astype(int)].astype(float).tolist()))) for index in np.concatenate(mine)}
        for first, second in itertools.combinations(ones, 2):
          gap, p = lifelong.compare(ones[first], ones[second], total)
          pair = ones[first].observed_answers, ones[second].observed_answers
          plain = intervals.difference(*pair, total, ones[first].sample, is_finite=False)
          right = truth[first] - truth[second]
          for name, one, value in (("plain", plain, intervals.sign_test(*pair)),
                                   ("of estimates", gap, p)):
            found.setdefault((budget, name), []).append((
                abs(one.value - right), one.low <= right <= one.high, one.width, value < 0.05))
  lines = [f"{args.pairs} pairs of families are left out in turn, two models of each, "
           f"{len(next(iter(found.values())))} pairs of models:", "",
           "| answers | difference | error, points | covered, % | width, points | found at 5%, % |",
           "| ---: | --- | ---: | ---: | ---: | ---: |"]
  for (budget, name), rows in found.items():
    error, inside, width, apart = 100 * np.mean(rows, axis=0)
    lines.append(f"| {budget:,} | {name} | {error:.2f} | {inside:.0f} | {width:.1f} | "
                 f"{apart:.0f} |")
  lines += ["", f"    python tools/lifelong_differences.py {' '.join(sys.argv[1:])}"]
  args.page.write_text("\n".join(lines) + "\n", encoding="utf-8")
  return 0


if __name__ == "__main__":
  sys.exit(main())
