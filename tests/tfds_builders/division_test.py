# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Stratified splits: worked by hand, against their definition, and whatever the order."""

import collections
import math
import random
import types

import pytest

from tfds_builders import division
from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders.rows import row as row_lib


def _row(rule, **changes):
  layout = row_lib.Layout(types.SimpleNamespace(), (row_lib.File("x"),))
  return row_lib.Row("toy", title="Toy", layouts=(layout,), splits=rule, num_classes=9, channels=3,
                     citation="", homepage="", **changes)


def _member(key, *labels, source="all", unit=None):
  return division.Member(source, key, unit or key, labels)


def test_four_images_of_a_class_worked_by_hand():
  # printf 'toy/a' | sha256sum | cut -c1-4, and so on: the order is d, a, c, b.
  heads = {key: int(splits.unit_hash("toy", key) * 2**16) for key in "abcd"}
  assert heads == {"a": 0x834e, "b": 0xece0, "c": 0xde0a, "d": 0x51e5}
  # printf 'toy/start/d' | sha256sum: u = 0x5172 / 2**16 = .318; (r + u) / 4 is .08, .33, .58, .83.
  found = division.divide(_row({"all": {"train": 0.5, "dev": 0.25, "test": 0.25}}),
                          [_member(key, 0) for key in "abcd"])
  assert found == {"d": "train", "a": "train", "c": "dev", "b": "test"}


def _shares(rule, members):
  """{classes of an image: {split: number of images}}."""
  found = division.divide(_row({"all": rule}), members)
  counts = collections.defaultdict(collections.Counter)
  for member in members:
    counts[member.labels][found[member.key]] += 1
  return counts


@pytest.mark.parametrize("rule", [splits.POOLED["all"], splits.TRAIN_TEST["train"],
                                  splits.OFFICIAL["train"]])
def test_each_split_has_its_share_of_every_class_rounded_down_or_up(rule):
  members = [_member(f"{label}/{i}", label) for label in range(1, 120) for i in range(label)]
  counts = _shares(rule, members)
  total = collections.Counter()
  for (num,), found in counts.items():
    total.update(found)
    for name, share in rule.items():
      assert math.floor(num * share + 1e-9) <= found[name] <= math.ceil(num * share - 1e-9) or (
          num == 1 and found == {"train": 1})
    assert found["train"] >= 1
  for name, share in rule.items():  # Rounding is fair: up as often as down.
    assert abs(total[name] - share * len(members)) < 20


def test_many_small_classes_have_all_splits_in_their_shares():
  # Without strata, each of 400 classes of 5 images would miss test with probability .8^5 = .33.
  counts = _shares(splits.POOLED["all"], [_member(f"{label}/{i}", label) for label in range(400)
                                          for i in range(5)])
  assert {found["test"] for found in counts.values()} == {1}
  assert {found["train"] for found in counts.values()} == {2, 3}
  assert abs(sum(found["dev"] for found in counts.values()) - 0.12 * 2000) < 40


def test_a_group_is_one_unit_of_its_rarest_class():
  # Patients 0..29 have three images: "common", and one of five rare findings at the second image.
  members = [_member(f"{patient}_{i}", "common", *([f"rare {patient % 5}"] if i == 1 else []),
                     unit=str(patient)) for patient in range(30) for i in range(3)]
  found = division.divide(_row({"all": {"train": 0.5, "test": 0.5}}), members)
  of_patient = collections.defaultdict(set)
  for member in members:
    of_patient[member.unit].add(found[member.key])
  assert all(len(some) == 1 for some in of_patient.values())
  for rare in range(5):  # Six patients each: three in train, three in test.
    halves = collections.Counter(next(iter(of_patient[str(p)])) for p in range(rare, 30, 5))
    assert halves == {"train": 3, "test": 3}


def test_the_order_of_the_source_does_not_matter_and_another_data_set_draws_otherwise():
  members = [_member(f"k{i}", i % 7, *([8] if i % 3 else [])) for i in range(300)]
  members += [_member(f"n{i}") for i in range(10)]  # Images without a label.
  row = _row(splits.POOLED)
  found = division.divide(row, members)
  mixed = random.Random(0).sample(members, len(members))
  assert division.divide(row, mixed) == found and len(found) == 310
  other = row_lib.Row("other", **{name: getattr(row, name) for name in (
      "title", "layouts", "splits", "num_classes", "channels", "citation", "homepage")})
  assert division.divide(other, members) != found


def test_source_splits_are_divided_by_themselves():
  members = [_member(f"{source}/{i}", i % 2, source=source) for source in ("train", "test")
             for i in range(40)]
  found = division.divide(_row(splits.TRAIN_TEST), members)
  counts = collections.Counter((key.split("/")[0], split) for key, split in found.items())
  assert counts == {("train", "train"): 28, ("train", "dev"): 6, ("train", "validation"): 6,
                    ("test", "test"): 40}


@pytest.mark.parametrize("order", [row_lib.STORED, row_lib.SORTED])
def test_a_paper_variant_takes_the_draw_of_the_reference_under_our_names(order):
  row = row_lib.variants(_row(splits.POOLED, paper={"all": paper_draws.POOLED},
                              paper_order=order))[1]
  members = [_member(f"k{99 - i}", 0) for i in range(80)]
  keys = [member.key for member in members]
  keys = sorted(keys) if order == row_lib.SORTED else keys
  drawn = dict(zip(keys, paper_draws.POOLED.assign(80)))
  ours = {"train": "train", "dev": "dev", "dev_test": "validation", "test": "test"}
  assert division.divide(row, members) == {key: ours[part] for key, part in drawn.items()}
