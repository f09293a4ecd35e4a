# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Answers that an interval of a stated width needs, and its coverage where asking stops.

  python tools/lifelong_asking.py MATRIX.npz docs/results/lifelong_asking.md --widths 0.04 0.02

Models of one family are left out together, and each of some of them is asked until the 95% interval
of its accuracy is no wider than the width, by `lifelong.session` and by two methods whose questions
do not depend on answers. All stop at the first interval that is narrow enough. A family is what is
left of a name without numbers of seeds and checkpoints: roberta-base-10M-1_best is of
roberta-base-10M, m012_knn of knn.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
import pathlib
import re
import sys
import tempfile
import time

import numpy as np

from suite import lifelong
from suite.lifelong import adaptive_session
from suite.lifelong.answers import intervals
from suite.lifelong.answers import random_sample
from suite.lifelong.cache import accuracy_cache

METHODS = ("random questions, mean", "fixed questions, factors", "adaptive session")
Truth = Callable[[np.ndarray], np.ndarray]  # Samples [n] -> answers [n].


def read(path: pathlib.Path) -> tuple[list[str], np.ndarray]:
  """(names, answers uint8 [M, N]) of an npz with `models` and `correct`, or `A_packed`."""
  with np.load(path) as file:
    if "A_packed" in file:
      return (file["model_names"].tolist(),
              np.unpackbits(file["A_packed"], axis=1, count=int(file["n_samples"])))
    return (file["models"].tolist(),
            np.unpackbits(file["correct"], axis=1, count=int(file["num_items"])))


def family(name: str) -> str:
  """Family of a model, from its name."""
  if re.match(r"m\d+_", name):
    return name.split("_", 1)[1]
  return re.sub(r"-\d$", "", name.rsplit("_", 1)[0])


def widened(interval: intervals.Interval, num: int, target: float) -> int:
  """Number of answers after the next round, planned as those of `adaptive_session`."""
  wanted = int(np.ceil(1.05 * num * (interval.width / target) ** 2))
  return max(num + max(32, num // 8), min(2 * num, wanted))


def ask_random(truth: Truth, num_samples: int, target: float, seed: int
               ) -> tuple[int, intervals.Interval]:
  order, num = np.random.default_rng(seed).permutation(num_samples), adaptive_session.FIRST
  while True:
    found = intervals.accuracy(truth(order[:num]), num_samples,
                               random_sample.of_all(order[:num], num_samples))
    if found.width <= target or num == num_samples:
      return num, found
    num = min(num_samples, widened(found, num, target))


def ask_fixed(reference: lifelong.Reference, truth: Truth, target: float
              ) -> tuple[int, intervals.Interval]:
  num, total = adaptive_session.FIRST, reference.num_samples
  while True:
    ids = reference.questions(num).tolist()
    one = reference.estimate_from(dict(zip(ids, truth(np.array(ids, np.int64)).tolist())))
    assert one.interval is not None
    found = intervals.Interval(one.accuracy, *one.interval)
    if found.width <= target or num == total:
      return num, found
    num = min(total, widened(found, num, target))


def ask_session(reference: lifelong.Reference, truth: Truth, target: float, seed: int
                ) -> tuple[int, intervals.Interval]:
  asking = lifelong.Session(reference, target, seed=seed)
  while len(ids := asking.questions()):
    asking.answer(truth(ids.astype(np.int64)))
  return asking.num_answers, asking.accuracy()


def page(args: argparse.Namespace, names: list[str], answers: np.ndarray,
         rows: dict[tuple[float, str], list[tuple[float, ...]]], done: int, asked: int,
         start: float) -> str:
  """The table of the families so far."""
  lines = [
      f"{len(names)} models x {answers.shape[1]:,} samples. {done} families are left out in turn, "
      f"{asked} models of them are asked, with {args.seeds} draws of each (one of the fixed "
      "questions)" + (f"; {args.known} others are known" if args.known else "") + ".", "",
      "| +- points | method | answers, mean | median | 90% | covered, % | error, points |",
      "| ---: | --- | ---: | ---: | ---: | ---: | ---: |"]
  for (width, method), each in sorted(rows.items(), key=lambda row: (
      -row[0][0], METHODS.index(row[0][1]))):
    num, covered, error, _ = np.array(each, np.float64).T
    lines.append(f"| {50 * width:g} | {method} | {num.mean():,.0f} | {np.median(num):,.0f} | "
                 f"{np.quantile(num, 0.9):,.0f} | {100 * covered.mean():.1f} of {len(each)} | "
                 f"{100 * error.mean():.2f} |")
  lines += ["", f"    python tools/lifelong_asking.py {' '.join(sys.argv[1:])}", "",
            f"{time.process_time() - start:.0f} s of CPU."]
  return "\n".join(lines) + "\n"


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("matrix", type=pathlib.Path)
  parser.add_argument("page", type=pathlib.Path)
  parser.add_argument("--widths", type=float, nargs="+", default=[0.04, 0.02])
  parser.add_argument("--known", type=int, default=0, help="known models, drawn at random (all)")
  parser.add_argument("--families", type=int, default=0, help="families that are left out (all)")
  parser.add_argument("--models", type=int, default=5, help="models of a family that are asked")
  parser.add_argument("--seeds", type=int, default=1, help="draws for each model")
  args = parser.parse_args()
  start = time.process_time()
  names, answers = read(args.matrix)
  families = sorted(set(map(family, names)))
  rng = np.random.default_rng(0)
  chosen = families if not args.families else rng.permutation(families)[:args.families].tolist()
  rows: dict[tuple[float, str], list[tuple[float, ...]]] = {}
  asked = 0
  for done, left_out in enumerate(chosen, 1):
    mine = [index for index, name in enumerate(names) if family(name) == left_out]
    rest = np.setdiff1d(np.arange(len(names)), mine)
    if args.known:
      rest = np.sort(rng.permutation(rest)[:args.known])
    with tempfile.TemporaryDirectory() as folder:
      cache = accuracy_cache.AccuracyCache(folder, create=True)
      cache.add_models([names[index] for index in rest], answers[rest].astype(np.int8),
                       [str(index) for index in range(answers.shape[1])])
      reference = lifelong.Reference(cache, save=False)
      for model in rng.permutation(mine)[:args.models].tolist():
        asked += 1
        accuracy = float(answers[model].mean())
        for width in args.widths:
          for seed in range(args.seeds):
            def truth(samples: np.ndarray, row: np.ndarray = answers[model]) -> np.ndarray:
              return row[samples].astype(np.float64)

            draw = 1000 * model + seed
            found = [ask_random(truth, answers.shape[1], width, draw),
                     *([ask_fixed(reference, truth, width)] if not seed else []),
                     ask_session(reference, truth, width, draw)]
            methods = METHODS if not seed else (METHODS[0], METHODS[2])
            for method, (num, one) in zip(methods, found):
              rows.setdefault((width, method), []).append((
                  num, one.low <= accuracy <= one.high, abs(one.value - accuracy), one.width))
    args.page.write_text(page(args, names, answers, rows, done, asked, start), encoding="utf-8")
  return 0


if __name__ == "__main__":
  sys.exit(main())
