# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The draws by position, and those whose parts have exact sizes."""

import itertools

import numpy as np
import pytest

from tfds_builders import paper_draws


def _runs(parts):
  return [(name, len(list(group))) for name, group in itertools.groupby(parts)]


def test_slices_are_consecutive_rounded_down_and_the_last_has_the_rest():
  draw = paper_draws.slices({"train": 0.70, "dev": 0.15, "dev_test": 0.15})
  assert _runs(draw.assign(3059)) == [("train", 2141), ("dev", 458), ("dev_test", 460)]
  assert _runs(draw.assign(60000)) == [("train", 42000), ("dev", 9000), ("dev_test", 9000)]
  assert draw.assign(1) == ["dev_test"] and draw.assign(0) == []
  assert draw == paper_draws.SLICED_TRAIN_ONLY
  assert draw.parts == ("train", "dev", "dev_test")


def test_slices_keep_the_given_order():
  assert paper_draws.slices({"test": 0.5, "dev_test": 0.5}).assign(3) == [
      "test", "dev_test", "dev_test"]
  assert paper_draws.SLICED_TRAIN_DEV.assign(6) == ["train"] * 4 + ["dev"] * 2


def test_slices_are_those_that_tfds_makes_of_numbers():
  # What the reference asks TFDS for: [:int(n * .7)], the int(n * .15) after it, and the rest.
  for num in range(1, 300):
    first = int(num * 0.7)
    second = first + int(num * 0.15)
    parts = np.array(paper_draws.SLICED_TRAIN_ONLY.assign(num))
    assert set(parts[:first]) <= {"train"} and set(parts[first:second]) <= {"dev"}
    assert set(parts[second:]) == {"dev_test"} and len(parts) == num


def test_a_multinomial_draw_is_that_of_the_legacy_generator():
  draw = paper_draws.multinomial({"train": 0.5, "dev": 0.5})
  assert draw == paper_draws.multinomial({"dev": 0.5, "train": 0.5})
  random = np.random.RandomState(0)
  expected = [("dev", "train")[random.multinomial(1, [0.5, 0.5]).argmax()] for _ in range(20)]
  assert draw.assign(20) == expected and set(expected) == {"dev", "train"}
  assert draw.assign(7) == expected[:7]


def test_pools_have_about_their_shares():
  parts = paper_draws.POOLED.assign(2000)
  assert {name: round(parts.count(name) / 2000, 1) for name in paper_draws.NAMES} == {
      "train": 0.6, "dev": 0.1, "dev_test": 0.1, "test": 0.2}
  assert paper_draws.whole("test").assign(3) == ["test"] * 3


@pytest.mark.parametrize("make", [paper_draws.multinomial, paper_draws.slices])
@pytest.mark.parametrize("shares", [{"train": 0.5, "dev": 0.4}, {"train": 0.5, "validation": 0.5}])
def test_shares_must_be_of_known_parts_and_whole(make, shares):
  with pytest.raises(ValueError, match="must be of .* and sum to 1"):
    make(shares)


def test_parts_have_the_sizes_of_the_reference():
  def sizes(num):
    parts = paper_draws.PERMUTED_TRAIN_ONLY.assign(num)
    return [parts.count(name) for name in ("train", "dev", "dev_test")]

  assert sizes(800) == [560, 120, 120]
  assert sizes(700) == [489, 106, 105]  # 0.7 * 700 is a little under 490 there.


def test_parts_follow_the_permutation():
  order = np.random.default_rng(1).permutation(20).tolist()
  parts = paper_draws.PERMUTED_TRAIN_ONLY.assign(20)
  assert [parts[index] for index in order] == ["train"] * 14 + ["dev"] * 3 + ["dev_test"] * 3
  assert paper_draws.PERMUTED_TRAIN_ONLY.parts == ("train", "dev", "dev_test")
