# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Splits depend only on the data set's name and the key, and never change."""

import collections

import pytest

from tfds_builders import splits


def test_unit_hash_is_the_first_53_bits_of_sha256():
  # printf 'semeion/all/0' | sha256sum -> 52ff4bb0d00cb468...
  assert splits.unit_hash("semeion", "all/0") == (0x52ff4bb0d00cb468 >> 11) / 2**53


@pytest.mark.parametrize("key, begins, expected", [
    ("s7/1", 0xd8, "test"),  # 216 / 256 = .84
    ("s7/2", 0x62, "train"),  # 98 / 256 = .38
    ("s7/3", 0x3b, "train"),
    ("s7/4", 0x05, "train"),
    ("s7/5", 0xd3, "test"),
    ("s7/10", 0xc3, "validation"),  # 195 / 256 = .76
    ("s1/1", 0x69, "train"),
    ("s1/2", 0xe7, "test"),
])
def test_pooled_buckets_of_some_keys_never_change(key, begins, expected):
  assert int(splits.unit_hash("olivetti_face", key) * 256) == begins
  assert splits.draw("olivetti_face", key, splits.POOLED["all"]) == expected


def test_official_test_split_is_kept_whole():
  keys = [f"test/{i}" for i in range(1000)]
  assert {splits.draw("mnist", key, splits.TRAIN_TEST["test"]) for key in keys} == {"test"}


def test_proportions_are_those_of_the_rule():
  keys = [f"train/{i}" for i in range(20000)]
  drawn = collections.Counter(splits.draw("x", key, splits.POOLED["all"]) for key in keys)
  # Three standard deviations of a binomial with n = 20,000 and p = .2 are 170.
  for name, proportion in splits.POOLED["all"].items():
    assert abs(drawn[name] - proportion * 20000) < 200


def test_another_data_set_draws_other_splits():
  keys = [str(i) for i in range(200)]
  parts = splits.POOLED["all"]
  assert [splits.draw("a", k, parts) for k in keys] != [splits.draw("b", k, parts) for k in keys]


def test_the_last_part_takes_what_rounding_leaves():
  parts = {"train": 0.0, "test": 0.0}
  assert splits.draw("a", "b", parts) == "test"


@pytest.mark.parametrize("rule, message", [
    ({"all": {"train": 0.5, "test": 0.4}}, r"'all' sum to 0\.9, not 1"),
    ({"all": {"train": 0.5, "dev": 0.5}}, r"'all' is divided into \['dev'\]; allowed"),
])
def test_check_refuses_rules_that_lose_examples(rule, message):
  with pytest.raises(ValueError, match=message):
    splits.check(rule)
