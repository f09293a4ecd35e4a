# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""CLEAR's five iid splits: 70% of each bucket to train on, 30% to test on, for seeds 0 to 4.

They are drawn by position, not stratified. The released lists hold the images of a bucket class by
class, each class in the order of its metadata; Python's `random`, seeded for each bucket, shuffles
the positions; the last int(0.3 N) are the test images.
"""

from __future__ import annotations

import random

SEEDS = (0, 1, 2, 3, 4)
TEST_SHARE = 0.3
NO_PLACE = {"place": -1, **{f"iid_test_{seed}": False for seed in SEEDS}}  # Of no iid split.
DECLARED = {"place": "int64", **{f"iid_test_{seed}": "bool" for seed in SEEDS}}


def shuffled(num: int, seed: int) -> list[int]:
  """Returns the positions 0 .. num - 1 of a bucket in the order of one seed."""
  places = list(range(num))
  random.Random(seed).shuffle(places)
  return places


def iid(num: int, seed: int) -> tuple[list[int], list[int]]:
  """Returns (training positions, test positions) of a bucket of `num` images."""
  places = shuffled(num, seed)
  num_train = num - int(TEST_SHARE * num)
  return places[:num_train], places[num_train:]


def features(num: int) -> list[dict]:
  """Returns the features "place" and "iid_test_0" to "iid_test_4" for each position."""
  tests = {f"iid_test_{seed}": set(iid(num, seed)[1]) for seed in SEEDS}
  return [{"place": place, **{name: place in test for name, test in tests.items()}}
          for place in range(num)]
