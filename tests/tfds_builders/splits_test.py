# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The hash of a key never changes, and rules lose no example."""

import pytest

from tfds_builders import splits


def test_unit_hash_is_the_first_53_bits_of_sha256():
  # printf 'semeion/all/0' | sha256sum -> 52ff4bb0d00cb468...
  assert splits.unit_hash("semeion", "all/0") == (0x52ff4bb0d00cb468 >> 11) / 2**53


@pytest.mark.parametrize("position, expected", [
    (0.0, "train"), (0.559, "train"), (0.561, "dev"), (0.679, "dev"), (0.681, "validation"),
    (0.799, "validation"), (0.801, "test"), (1 - 2**-53, "test")])
def test_the_shares_of_a_pool_cut_the_unit_interval_in_order(position, expected):
  assert splits.part_at(position, splits.POOLED["all"]) == expected


def test_the_last_part_takes_what_rounding_leaves():
  assert splits.part_at(0.5, {"train": 0.0, "test": 0.0}) == "test"


@pytest.mark.parametrize("rule", [splits.TRAIN_TEST, splits.POOLED, splits.OFFICIAL, splits.GIVEN])
def test_every_rule_gives_all_four_splits_and_keeps_the_test_split_whole(rule):
  splits.check(rule)
  assert {part for parts in rule.values() for part in parts} == set(splits.NAMES)
  assert rule.get("test", {"test": 1.0}) == {"test": 1.0}


@pytest.mark.parametrize("rule, message", [
    ({"all": {"train": 0.5, "test": 0.4}}, r"'all' sum to 0\.9, not 1"),
    ({"all": {"train": 0.5, "rest": 0.5}}, r"'all' is divided into \['rest'\]; allowed"),
])
def test_check_refuses_rules_that_lose_examples(rule, message):
  with pytest.raises(ValueError, match=message):
    splits.check(rule)
