# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Errors, coverage and power of differences of two new models, with their families left out.

  python tools/lifelong_differences.py MATRIX.npz PAGE.md

Families are those of `lifelong_asking.py`. Of each pair of families some models are left out
with all of their families, and compared: by `lifelong.compare` from the answers to the same fixed
questions, by the difference of the two estimates from these answers, and, of up to 64 answers, by
`lifelong.compare` from adaptive ones. The truth is the difference on all samples of the matrix.
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
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.estimators import adaptive_start


def page(found: dict[tuple[int, str], list[tuple[float, ...]]], done: int) -> str:
  """The table of the pairs so far."""
  lines = [f"{done} pairs of families are left out in turn, two models of each, "
           f"{len(next(iter(found.values())))} pairs of models:", "",
           "| answers | difference | error, points | covered, % | width, points | found at 5%, % |",
           "| ---: | --- | ---: | ---: | ---: | ---: |"]
  for (budget, name), rows in found.items():
    error, inside, width, apart = 100 * np.mean(rows, axis=0)
    lines.append(f"| {budget:,} | {name} | {error:.2f} | {inside:.0f} | {width:.1f} | "
                 f"{apart:.0f} |".replace("nan", ""))
  lines += ["", f"    python tools/lifelong_differences.py {' '.join(sys.argv[1:])}"]
  return "\n".join(lines) + "\n"


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("matrix", type=pathlib.Path)
  parser.add_argument("page", type=pathlib.Path)
  parser.add_argument("--budgets", type=int, nargs="+", default=[32, 64, 100, 256])
  parser.add_argument("--pairs", type=int, default=12, help="pairs of families that are left out")
  args = parser.parse_args()
  names, answers = lifelong_asking.read(args.matrix)
  truth, total, rng = answers.mean(axis=1), answers.shape[1], np.random.default_rng(0)
  family = np.array([lifelong_asking.family(name) for name in names])
  pairs = list(itertools.combinations(sorted(set(family)), 2))
  found: dict[tuple[int, str], list[tuple[float, ...]]] = {}
  for done, place in enumerate(rng.permutation(len(pairs))[:args.pairs].tolist(), start=1):
    mine = [rng.permutation(np.flatnonzero(family == one))[:2] for one in pairs[place]]
    rest = np.flatnonzero(~np.isin(family, pairs[place]))
    with tempfile.TemporaryDirectory() as folder:
      cache = accuracy_cache.AccuracyCache(folder, create=True)
      cache.add_models([names[index] for index in rest], answers[rest].astype(np.int8),
                       [str(index) for index in range(total)])
      reference = lifelong.Reference(cache, seed=place)
      for budget in args.budgets:
        asked, chosen = reference.questions(budget), np.concatenate(mine).tolist()
        fixed = [reference.estimate_from(dict(zip(asked.tolist(), answers[
            index, asked.astype(int)].astype(float).tolist()))) for index in chosen]
        adaptive = [] if budget > adaptive_start.MOST else [reference.estimate(
            lambda ids, index=index: answers[index, ids.astype(int)].astype(float), budget)
                                                           for index in chosen]
        for one, other in itertools.combinations(range(len(chosen)), 2):
          right = truth[chosen[one]] - truth[chosen[other]]
          for name, ones in (("fixed questions", fixed), ("adaptive questions", adaptive)):
            if ones:
              gap, p = lifelong.compare(ones[one], ones[other], total)
              found.setdefault((budget, name), []).append((
                  abs(gap.value - right), gap.low <= right <= gap.high, gap.width, p < 0.05))
          found.setdefault((budget, "of fixed estimates"), []).append((
              abs(fixed[one].accuracy - fixed[other].accuracy - right), *[np.nan] * 3))
    args.page.write_text(page(found, done), encoding="utf-8")
  return 0


if __name__ == "__main__":
  sys.exit(main())
