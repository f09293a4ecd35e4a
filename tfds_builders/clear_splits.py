# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""CLEAR's five iid splits: of each bucket 70% to train on and 30% to test on, for seeds 0 to 4.

They are positional. The released lists hold the images of a bucket class by class, each class in
the order of its metadata; Python's `random`, seeded anew for each bucket, shuffles the places; the
last int(0.3 N) are the test images. Not stratified.
"""

from __future__ import annotations

import random

SEEDS = (0, 1, 2, 3, 4)
TEST_SHARE = 0.3


def shuffled(num: int, seed: int) -> list[int]:
  """The places 0 .. num - 1 of a bucket in the order of one seed."""
  places = list(range(num))
  random.Random(seed).shuffle(places)
  return places


def iid(num: int, seed: int) -> tuple[list[int], list[int]]:
  """(places to train on, places to test on) of a bucket of `num` images."""
  places = shuffled(num, seed)
  num_train = num - int(TEST_SHARE * num)
  return places[:num_train], places[num_train:]


def features(num: int) -> list[dict]:
  """For each place the features of its record: "place", and "iid_test_0" to "iid_test_4"."""
  tests = {f"iid_test_{seed}": set(iid(num, seed)[1]) for seed in SEEDS}
  return [{"place": place, **{name: place in test for name, test in tests.items()}}
          for place in range(num)]


NO_PLACE = {"place": -1, **{f"iid_test_{seed}": False for seed in SEEDS}}  # Of no iid split.
DECLARED = {"place": "int64", **{f"iid_test_{seed}": "bool" for seed in SEEDS}}
