# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""FLUID sequences: counts by hand, no sample twice, a pure function of data set, spec and seed."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys

import numpy as np
import pytest

from suite.data.sequences import fluid_sequences

# floor(20 / (1 + r)) for r = 1..4.
SMALL = fluid_sequences.Spec(1, 3, num_pretrain=2, numerator=20, offset=1, base_cap=3,
                             num_validation=1, num_test=2)
LABELS = np.repeat(np.arange(6), 12)  # 6 classes x 12 images.
IDS = [f"{label}/{item:02d}" for label in range(6) for item in range(12)]


def _make(spec=SMALL, seed=0, labels=LABELS, ids=IDS, **values):
  return fluid_sequences.make(ids, labels, spec, seed, **values)


def _sequences(plan):
  return plan.validation + plan.test


def _as_tuples(plan):
  return ([plan.pretrain_classes.tolist(), plan.novel_classes.tolist()]
          + [(one.name, one.classes.tolist(), one.ids.tolist(), one.labels.tolist())
             for one in _sequences(plan)])


def test_the_papers_counts():
  counts = fluid_sequences.PAPER.counts()
  assert counts[:4].tolist() == [961, 925, 892, 862] and counts[-1] == 24
  assert counts.sum() == 91_858 and len(counts) == 1000
  assert np.count_nonzero(counts == 50) == 10
  assert fluid_sequences.PAPER.head_above == 50
  # Sequence 5, which lacks no class of the head, has 108 + 357 head classes (published labels).
  assert np.count_nonzero(counts > 50) == 108 + 357


def test_scaling_down_keeps_the_papers_shape():
  again = fluid_sequences.scaled(250, 750, 25_000 / 26, num_pretrain=1000)
  assert again.counts().tolist() == fluid_sequences.PAPER.counts().tolist()
  assert again.head_above == 50


@pytest.mark.parametrize("name, first, last, total, head", [
    ("tiny", 500, 15, 7_659, 32), ("tiny_disjoint", 500, 23, 3_478, 47),
    ("omniglot", 20, 1, 774, 1), ("omniglot_423", 20, 1, 774, 1),
    ("omniglot_turned", 80, 2, 3_034, 4), ("omniglot_disjoint", 20, 1, 556, 1)])
def test_small_specs(name, first, last, total, head):
  spec = fluid_sequences.SPECS[name]
  counts = spec.counts()
  assert (counts[0], counts[-1], counts.sum()) == (first, last, total)
  assert spec.head_above == head
  assert -(-total // spec.update_interval) in (18, 19, 20)


def test_counts_by_hand():
  assert SMALL.counts().tolist() == [10, 6, 5, 4]
  assert dataclasses.replace(SMALL, numerator=3, minimum=1).counts().tolist() == [1, 1, 1, 1]
  plan = _make()
  for one in _sequences(plan):
    counts = one.class_counts()
    assert one.num_base == 1 and counts[0] == 3  # Of any count, the cap is left.
    assert sorted(counts[1:].tolist()) in ([4, 5, 6], [4, 5, 10], [4, 6, 10], [5, 6, 10])
    assert len(one) == counts.sum() == len(one.ids) == len(one.labels)


def test_labels_are_those_of_the_images():
  for one in _sequences(_make()):
    np.testing.assert_array_equal(one.classes[one.labels], LABELS[one.index])
    assert [IDS[i] for i in one.index] == one.ids.tolist()
    assert set(one.segments) == {0}


def test_no_sample_twice_and_none_of_pretraining():
  plan = _make()
  for one in _sequences(plan):
    assert len(set(one.ids.tolist())) == len(one)
    assert not set(one.index.tolist()) & set(plan.pretrain.tolist())
    assert set(one.classes[:1]) <= set(plan.pretrain_classes)
    assert set(one.classes[1:]) <= set(plan.novel_classes)
  assert not set(plan.pretrain_classes) & set(plan.novel_classes)
  # Of 12 images of each of the 2 pretraining classes 3 may stand in sequences.
  assert len(plan.pretrain) == 2 * 9
  assert set(LABELS[plan.pretrain]) == set(plan.pretrain_classes)


def test_another_order_of_the_data_set_changes_nothing():
  order = np.random.default_rng(3).permutation(len(IDS))
  shuffled = _make(labels=LABELS[order], ids=[IDS[i] for i in order])
  assert _as_tuples(shuffled) == _as_tuples(_make())
  assert [IDS[order[i]] for i in shuffled.pretrain] != []
  assert {IDS[order[i]] for i in shuffled.pretrain} == {IDS[i] for i in _make().pretrain}


def test_another_seed_or_place_is_another_sequence():
  plan = _make()
  assert _as_tuples(plan) == _as_tuples(_make())
  assert _as_tuples(plan) != _as_tuples(_make(seed=1))
  digests = [one.digest() for one in _sequences(plan)]
  assert len(set(digests)) == 3
  assert [one.name for one in _sequences(plan)] == ["validation_0", "test_0", "test_1"]


def test_sequences_are_the_same_in_another_process_with_another_hash_seed():
  program = ("import sys; from unittest import mock;"
             "name = 'suite.data.images.image_set';"  # It would import TensorFlow.
             "sys.modules[name] = sys.modules.get(name, mock.Mock());"
             "from suite.data.sequences import fluid_sequences as f;"
             "s = f.scaled(2, 4, 8, num_pretrain=4);"
             "p = f.make([f'{i:03d}' for i in range(200)], [i % 10 for i in range(200)], s, 5);"
             "found = [one.digest() for one in p.validation + p.test]")
  here: dict = {}
  exec(program, here)
  seed = "1" if os.environ.get("PYTHONHASHSEED") == "2" else "2"
  done = subprocess.run([sys.executable, "-c", f"{program}; print(found)"], check=True, text=True,
                        env={"PYTHONHASHSEED": seed}, capture_output=True)
  assert done.stdout.strip() == str(here["found"]) and len(here["found"]) == 5


def test_disjoint_sequences_share_no_class_and_no_sample():
  spec = dataclasses.replace(SMALL, num_novel=2, num_validation=0, disjoint=True)
  first, second = _make(spec).test
  assert not set(first.classes) & set(second.classes)
  assert not set(first.ids) & set(second.ids)


def test_classes_to_pretrain_on_may_be_given():
  plan = _make(base=[4, 5])
  assert plan.pretrain_classes.tolist() == [4, 5] and plan.novel_classes.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("values, message", [
    (dict(spec=dataclasses.replace(SMALL, num_novel=5)), "4 novel classes, 5 are needed"),
    (dict(spec=dataclasses.replace(SMALL, disjoint=True)), "4 novel classes, 9 are needed"),
    (dict(base=[0], spec=dataclasses.replace(SMALL, num_base=2)), "1 base classes, 2 are needed"),
    (dict(ids=["a"] * len(IDS)), "72 ids, 1 of them different"),
    (dict(ids=IDS[:-1]), "71 ids, 71 of them different, and 72 labels"),
])
def test_bad_input(values, message):
  with pytest.raises(ValueError, match=message):
    _make(**values)


def test_classes_with_too_few_images_give_what_they_have():
  labels = np.concatenate([LABELS, [6, 6]])
  spec = dataclasses.replace(SMALL, num_novel=5, num_validation=0, num_test=4)
  plan = _make(spec, labels=labels, ids=[*IDS, "6/00", "6/01"], base=[0, 1])
  counts = [one.class_counts()[list(one.classes).index(6)] for one in plan.test]
  assert counts == [2, 2, 2, 2]


def _sequence(name, classes, num_base, labels, ids):
  labels = np.array(labels)
  return fluid_sequences.PlannedSequence(name, np.array(classes), num_base, np.arange(len(labels)),
                                np.array(ids), labels, np.zeros(len(labels), np.int64))


def test_segments_alternate_and_continue():
  # Base class 10 is shared; novel classes are 20 and 30.
  one = _sequence("a", [10, 20], 1, [0, 1, 1, 0, 1], ["a0", "a1", "a2", "a3", "a4"])
  two = _sequence("b", [10, 30], 1, [1, 0, 1], ["b0", "b1", "b2"])
  merged = fluid_sequences.alternate([one, two], 2, num_segments=5)
  assert merged.classes.tolist() == [10, 20, 30] and merged.num_base == 1
  assert merged.ids.tolist() == ["a0", "a1", "b0", "b1", "a2", "a3", "b2", "a4"]
  assert merged.labels.tolist() == [0, 1, 2, 0, 1, 0, 2, 1]
  assert merged.segments.tolist() == [0, 0, 1, 1, 2, 2, 3, 4]


def test_only_sequences_that_share_no_sample_and_agree_can_be_merged():
  one = _sequence("a", [10, 20], 1, [0, 1], ["a0", "a1"])
  with pytest.raises(ValueError, match="2 samples are in more than one segment"):
    fluid_sequences.alternate([one, one], 2)
  with pytest.raises(ValueError, match="Class 20 is base in one sequence and novel in another"):
    fluid_sequences.alternate([one, _sequence("b", [20, 30], 1, [0], ["b0"])], 2)


def test_the_disjoint_tiny_spec_alternates():
  labels = np.repeat(np.arange(200), 60)
  ids = [f"{number:05d}" for number in range(len(labels))]
  plan = fluid_sequences.make(ids, labels, fluid_sequences.TINY_DISJOINT, 0)
  merged = fluid_sequences.alternate(plan.test, 100)
  assert len(merged) == 1000 and np.bincount(merged.segments).tolist() == [100] * 10
  assert merged.num_base == 33 and len(merged.classes) == 3 * 44


def test_sections_by_hand():
  drawn = _sequence("a", [1, 2, 3, 4], 2, [0, 0, 0, 1, 2, 2, 3, 3, 3], list("abcdefghi"))
  found = fluid_sequences.sections(drawn, head_above=2)  # Counts 3, 1, 2, 3.
  assert {name: np.flatnonzero(mask).tolist() for name, mask in found.items()} == {
      "pretrain_head": [0], "pretrain_tail": [1], "novel_head": [3], "novel_tail": [2]}


def test_sections_of_the_papers_counts_add_up():
  labels = np.repeat(np.arange(1000), fluid_sequences.PAPER.counts())
  drawn = _sequence("s", np.arange(1000), 250, labels, np.arange(len(labels)).astype(str))
  sizes = {name: int(mask.sum()) for name, mask in
           fluid_sequences.sections(drawn, fluid_sequences.PAPER.head_above).items()}
  assert sum(sizes.values()) == 1000
  assert sizes["pretrain_head"] + sizes["novel_head"] == 465


def test_a_drawn_sequence_becomes_one_of_the_protocol():
  images = np.arange(len(IDS), dtype=np.uint8)[:, None, None, None] * np.ones((1, 2, 2, 3),
                                                                              np.uint8)
  drawn = _make().test[0]
  sequence = drawn.sequence(images)
  assert sequence.num_classes == 4 and sequence.num_base_classes == 1
  assert sequence.deliver(2)[0, 0, 0] == drawn.index[2]
  assert sequence.reveal(2) == drawn.labels[2] and sequence.ids.tolist() == drawn.ids.tolist()
  assert sequence.class_counts().tolist() == drawn.class_counts().tolist()
