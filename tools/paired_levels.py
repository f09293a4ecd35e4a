# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Measures how often tests of equal methods find a difference, on simulated answers.

    python tools/paired_levels.py            # the tables of docs/statistics.md; minutes on one core

A simulated method answers U images with S seeds. Image u is answered rightly by seed s if

    difficulty[u] + method's own part of the image[u] + seed[s] + remainder[s, u] > 0,

all normal. All methods have equal accuracies in expectation, so every difference found is false.
The standard deviation of `seed` is the setting; the others are 1.5, 0.5 and 0.6.

The last table is about two methods beside a third one whose `seed` has ten times their deviation.
There the second one is better by as much as is nearly always found between the two alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import pathlib
import sys
from typing import Any

import numpy as np
from scipy import stats

# Lets the tool run from a checkout without an installation.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from suite.metrics import paired_tests

_SEEDS = (2, 3, 5, 10)
_EFFECTS = {"none": 0.0, "small": 0.05, "as the images": 0.1, "large": 0.3}
_METHODS = 6
# Seeds -> how much the second method is better beside an unstable one, before the threshold.
_BETTER = {3: 0.9, 5: 0.42, 10: 0.3}
_EFFECT, _UNSTABLE = 0.1, 1.0  # Deviations of `seed` there.
_RESAMPLES = 300
_TWO = {"pooled": "McNemar, seeds pooled", "one": "McNemar, one seed",
        "percentile": "two-level bootstrap, percentiles", "seeds": "t-test of the seeds' scores",
        "ours": "of the suite"}
_ALL = {"images": "images alone, Holm", "holm": "of the suite, Holm", "ranks": "a wrong rank"}


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
  parser.add_argument("--runs", type=int, default=400, help="simulated tables of each setting")
  parser.add_argument("--images", type=int, default=800)
  args = parser.parse_args()
  rows: dict[str, list[str]] = {"two": [], "all": []}
  for effect, size in _EFFECTS.items():
    for num_seeds in _SEEDS:
      rng = np.random.default_rng([num_seeds, int(100 * size)])
      found = [_outcome(_answers(rng, num_seeds, args.images, np.full([_METHODS], size)))
               for _ in range(args.runs)]
      share = {name: f"{100 * np.mean([one[name] for one in found]):.1f}" for name in found[0]}
      for table, names in (("two", _TWO), ("all", _ALL)):
        rows[table].append(" | ".join([effect, str(num_seeds), *(share[name] for name in names)]))
      print(f"{effect}, {num_seeds} seeds: done", file=sys.stderr)
  for table, names in (("two", _TWO), ("all", _ALL)):
    print(f"| effect of seeds | seeds | {' | '.join(names.values())} |")
    print("| --- |" + " ---: |" * (1 + len(names)))
    print("\n".join(f"| {row} |" for row in rows[table]) + "\n")
  print("| seeds | alone | beside a like method | beside an unstable one | falsely there |\n"
        "| --- |" + " ---: |" * 4)
  for num_seeds, better in _BETTER.items():
    shares = [_share_found(num_seeds, args, deviations, better) for deviations in (
        [_EFFECT] * 2, [_EFFECT] * 3, [_EFFECT] * 2 + [_UNSTABLE])]
    shares.append(_share_found(num_seeds, args, [_EFFECT] * 2 + [_UNSTABLE], 0.0))
    print(f"| {num_seeds} | " + " | ".join(f"{100 * one:.1f}" for one in shares) + " |")
  return 0


def _share_found(num_seeds: int, args: argparse.Namespace, deviations: Sequence[float],
                 better: float) -> float:
  """The share of tables in which the first two methods differ; if they are equal, any two."""
  rng, found = np.random.default_rng([num_seeds, len(deviations), int(100 * better)]), 0
  names, strata = [[str(s) for s in range(num_seeds)]] * len(deviations), np.zeros(args.images, int)
  for _ in range(args.runs):
    values = _answers(rng, num_seeds, args.images, np.array(deviations), better)
    p = paired_tests.compare(list(values), names, strata).p_value
    found += (p[0, 1] if better else np.nanmin(p)) < .05
  return found / args.runs


def _answers(rng: np.random.Generator, num_seeds: int, num_images: int, effects: np.ndarray,
             better: float = 0.0) -> np.ndarray:
  """Each image's part of the accuracy, [M, S, U], with effects of seeds [M]."""
  num = len(effects)
  means = better * (np.arange(num) == 1)[:, None, None]
  return (rng.normal(0, 1.5, [1, 1, num_images]) + rng.normal(0, 0.5, [num, 1, num_images])
          + rng.normal(0, effects[:, None, None], [num, num_seeds, 1]) + means
          + rng.normal(0, 0.6, [num, num_seeds, num_images]) > 0) / num_images


def _outcome(values: np.ndarray) -> dict[str, Any]:
  """Whether each way finds a difference: between the first two methods, or between any two."""
  _, num_seeds, num_images = values.shape
  strata, names = np.zeros(num_images, int), [str(s) for s in range(num_seeds)]
  first, second = values[:2] > 0
  drawn = paired_tests.two_level_bootstrap(values[:2], strata, num=_RESAMPLES, seed=0)
  low, high = np.quantile(drawn[:, 0] - drawn[:, 1], [.025, .975])
  of_seeds = stats.ttest_rel(first.sum(axis=1), second.sum(axis=1)).pvalue
  pair = paired_tests.compare(list(values[:2]), [names] * 2, strata)
  every = paired_tests.compare(list(values), [names] * len(values), strata)
  ranks = paired_tests.rank_intervals(every)
  # The same with the mean over seeds as if it were the answers of one seed.
  images = paired_tests.compare(list(values.mean(axis=1, keepdims=True)), [[""]] * len(values),
                                strata)
  return {
      "pooled": paired_tests.mcnemar(first.ravel(), second.ravel()).p_value < .05,
      "one": paired_tests.mcnemar(first[0], second[0]).p_value < .05,
      "percentile": low > 0 or high < 0, "seeds": of_seeds < .05,
      "ours": pair.is_apart(0, 1), "images": np.nanmin(images.p_value) < .05,
      "holm": np.nanmin(every.p_value) < .05, "ranks": any(r != (1, _METHODS) for r in ranks)}


if __name__ == "__main__":
  sys.exit(main())
