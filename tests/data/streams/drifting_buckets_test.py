# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Series of drifting buckets made from the 2 x 23 pictures of tfds_pictures."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from suite.data.images import image_ops
from suite.data.streams import drifting_buckets

SERIES = drifting_buckets.Series(
    data="suite_test_pictures/same_shape", splits=("train", "test"), num_buckets=3, bucket_size=8,
    pretrain_size=15, seed=1)


def _pixels(images):
  batches = images.eval_batches(images.size, transform=image_ops.Plain(6))
  return next(iter(batches))["image"].numpy()


def test_buckets_are_disjoint_even_and_repeat(pictures_dir):
  buckets = drifting_buckets.load(SERIES, data_dir=pictures_dir)
  assert [b.name for b in buckets] == ["bucket_01", "bucket_02", "bucket_03"]
  assert [(b.train.size, b.test.size) for b in buckets] == [(6, 2)] * 3
  first = drifting_buckets.unlabelled(SERIES, data_dir=pictures_dir)
  ids = [set(part.ids) for b in buckets for part in (b.train, b.test)] + [set(first.ids)]
  assert sum(map(len, ids)) == len(set().union(*ids)) == 24 + 15
  for b in buckets:
    labels = np.concatenate([b.train.labels, b.test.labels])
    assert np.bincount(labels).tolist() == [2, 2, 2, 2]
  assert set(first.labels) == {0} and first.num_classes == 1
  again = drifting_buckets.load(SERIES, data_dir=pictures_dir)
  np.testing.assert_array_equal(_pixels(again[1].train), _pixels(buckets[1].train))
  other = drifting_buckets.load(dataclasses.replace(SERIES, seed=2), data_dir=pictures_dir)
  assert set(other[0].train.ids) != set(buckets[0].train.ids)


def test_streaming_trains_and_tests_on_all_of_a_bucket(pictures_dir):
  for b in drifting_buckets.load(SERIES, protocol="streaming", data_dir=pictures_dir):
    assert b.train is b.test and b.train.size == 8


def test_the_drift_is_nothing_at_first_and_grows_smoothly():
  images = np.random.default_rng(0).integers(0, 256, (1, 8, 8, 3)).astype(np.uint8)
  times = np.array([0.0, 0.25, 0.26, 0.5, 1.0])
  got = drifting_buckets.drifted(np.repeat(images, 5, 0), times, SERIES).astype(int)
  np.testing.assert_array_equal(got[0], images[0])
  spread = got.std(axis=(1, 2, 3))
  assert (np.diff(spread) < 0.5).all() and spread[-1] < spread[0] / 2
  steps = [np.abs(got[i] - got[0]).mean() for i in range(5)]
  assert abs(steps[2] - steps[1]) < 2 < steps[1] < steps[3] < steps[4]


def test_only_hue_by_hand():
  series = dataclasses.replace(SERIES, fade=0.0, blur=0.0)
  gray = np.full([1, 4, 4, 3], 99, np.uint8)
  np.testing.assert_array_equal(drifting_buckets.drifted(gray, np.ones(1), series), gray)
  pink = np.full([1, 4, 4, 3], (120, 90, 100), np.uint8)  # Luma 100.11; half a turn mirrors it.
  assert drifting_buckets.drifted(pink, np.ones(1), series)[0, 0, 0].tolist() == [80, 110, 100]


def test_the_deal_by_hand():
  series = dataclasses.replace(SERIES, num_buckets=2, bucket_size=4, pretrain_size=3)
  labels = np.array([0, 1] * 6)
  hands = drifting_buckets.deal(labels, series)
  assert [len(hand) for hand in hands] == [3, 4, 4]
  assert all(labels[hand].sum() == 2 for hand in hands[1:])
  assert len(np.unique(np.concatenate(hands))) == 11


@pytest.mark.parametrize("change, message", [
    (dict(bucket_size=6), "6 images a bucket are no multiple of the 4 classes"),
    (dict(bucket_size=16), "Class 3 of .* has 10 images; 3 buckets with 4 each take 12"),
    (dict(data="suite_test_pictures/listed"), "is multi_label; a series is made of single_label"),
    (dict(data="suite_test_pictures/mixed"), "are not all of one size"),
])
def test_what_no_series_can_be_made_of_is_said(change, message, pictures_dir):
  with pytest.raises(ValueError, match=message):
    drifting_buckets.load(dataclasses.replace(SERIES, **change), data_dir=pictures_dir)


def test_bad_arguments_are_said(pictures_dir):
  with pytest.raises(ValueError, match="Unknown series 'x'; allowed are drifting/cifar10, "):
    drifting_buckets.load("x")
  with pytest.raises(ValueError, match="Unknown protocol 'x'; allowed are iid, streaming"):
    drifting_buckets.load(SERIES, protocol="x")
  with pytest.raises(ValueError, match="has none of number 4; allowed are 0..3"):
    drifting_buckets.bucket(SERIES, 4)
  with pytest.raises(ValueError, match="both numbers must be at least 1"):
    drifting_buckets.Series(num_buckets=0)
  greedy = dataclasses.replace(SERIES, splits=("train",), num_buckets=1, bucket_size=20)
  with pytest.raises(ValueError, match="bucket_00' is empty: the other buckets take all"):
    drifting_buckets.unlabelled(dataclasses.replace(greedy, pretrain_size=0), data_dir=pictures_dir)
