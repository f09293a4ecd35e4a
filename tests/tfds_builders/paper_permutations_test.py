# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The draw whose parts have exact sizes."""

import numpy as np

from tfds_builders import paper_permutations


def test_parts_have_the_sizes_of_the_reference():
  def sizes(num):
    parts = paper_permutations.TRAIN_ONLY.assign(num)
    return [parts.count(name) for name in ("train", "dev", "dev_test")]

  assert sizes(800) == [560, 120, 120]
  assert sizes(700) == [489, 106, 105]  # 0.7 * 700 is a little under 490 there.


def test_parts_follow_the_permutation():
  order = np.random.default_rng(1).permutation(20).tolist()
  parts = paper_permutations.TRAIN_ONLY.assign(20)
  assert [parts[index] for index in order] == ["train"] * 14 + ["dev"] * 3 + ["dev_test"] * 3
  assert paper_permutations.TRAIN_ONLY.parts == ("train", "dev", "dev_test")
