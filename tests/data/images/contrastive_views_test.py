# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The two views of MoCo: the same on any number of shards, different from each other."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import tensorflow as tf

from suite.data.images import contrastive_views
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.data.images import sampling

VIEW = contrastive_views.AugPlus(8, blur_at=16)
SEEDS = sampling.row_seeds((3, 4), tf.range(64, dtype=tf.int64))
IMAGES = np.random.default_rng(0).integers(0, 256, (64, 9, 11, 3)).astype(np.uint8)


def _set(num=12):
  return image_set.ImageSet.from_arrays(
      "x", IMAGES[:num], np.arange(num) % 3, kind="single_label", num_classes=3)


def test_a_row_is_the_same_in_any_batch_and_on_any_number_of_shards():
  whole = VIEW.train(IMAGES, SEEDS).numpy()
  assert whole.shape == (64, 8, 8, 3) and whole.dtype == np.uint8
  for b in (0, 5, 63):
    alone = VIEW.train(IMAGES[b:b + 1], SEEDS[b:b + 1]).numpy()[0]
    np.testing.assert_array_equal(alone, whole[b])
  batches = {}
  for shards in (1, 2):
    found = iter(_set().train_batches(
        8, seed=(1, 2), transform=VIEW, num_shards=shards, shards_here=shards))
    batches[shards] = np.concatenate([next(found)["image"].numpy() for _ in range(3 * shards)])
  np.testing.assert_array_equal(batches[1], batches[2])
  later = next(iter(_set().train_batches(8, seed=(1, 2), transform=VIEW, first_step=2)))
  np.testing.assert_array_equal(later["image"], batches[1][16:])


def test_views_of_an_image_differ_and_come_again():
  first, second = (VIEW.view(n).train(IMAGES, SEEDS).numpy() for n in (0, 1))
  assert (first != second).any(axis=(1, 2, 3)).all()
  np.testing.assert_array_equal(first, VIEW.train(IMAGES, SEEDS))


def test_without_any_change_the_crop_is_left():
  plain = dataclasses.replace(VIEW, jitter_probability=0.0, gray_probability=0.0,
                              blur_probability=0.0, area=(1.0, 1.0), aspect=(11 / 9, 11 / 9),
                              flip_probability=0.0)
  want = image_ops.resample(tf.constant(IMAGES), image_ops.whole_boxes(IMAGES), 8)
  np.testing.assert_allclose(plain.train(IMAGES, SEEDS).numpy().astype(int), want, atol=1)
  np.testing.assert_array_equal(VIEW.evaluate(IMAGES), image_ops.Nevis(8).evaluate(IMAGES))


def test_shares_are_those_of_the_paper():
  num = 2000
  seeds = sampling.row_seeds((7, 7), tf.range(num, dtype=tf.int64))
  images = np.tile(np.array([[[[250, 20, 20], [20, 20, 250]]]], np.uint8), (num, 1, 1, 1))
  still = dict(area=(1.0, 1.0), aspect=(2.0, 2.0), blur_probability=0.0)
  grays = dataclasses.replace(VIEW, jitter_probability=0.0, flip_probability=0.0, **still)
  got = grays.train(images, seeds).numpy().astype(int)
  is_gray = (np.ptp(got, axis=3) <= 1).all(axis=(1, 2))
  assert is_gray.mean() == pytest.approx(0.2, abs=4 * np.sqrt(0.2 * 0.8 / num))
  jittered = dataclasses.replace(VIEW, gray_probability=0.0, flip_probability=0.0, **still)
  plain = dataclasses.replace(jittered, jitter_probability=0.0)
  changed = (jittered.train(images, seeds).numpy() != plain.train(images, seeds).numpy())
  assert changed.any(axis=(1, 2, 3)).mean() == pytest.approx(
      0.8, abs=4 * np.sqrt(0.2 * 0.8 / num))


def test_what_is_delivered_without_labels_has_none():
  images = image_set.Unlabelled(_set())
  batch = next(iter(images.train_batches(4, seed=(1, 2), transform=VIEW)))
  assert sorted(batch) == ["image", "mask"] and len(images) == 12
  labelled = next(iter(_set().train_batches(4, seed=(1, 2), transform=VIEW)))
  np.testing.assert_array_equal(batch["image"], labelled["image"])
  for name in ("labels", "ids", "num_classes", "eval_batches"):
    with pytest.raises(AttributeError, match=f"has no '{name}'; it has name, size and train_batc"):
      getattr(images, name)
