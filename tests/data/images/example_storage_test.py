# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What is stored gives what the transform makes of the images themselves."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.contracts import tasks
from suite.data.images import clear_transform
from suite.data.images import example_arrays
from suite.data.images import image_ops
from suite.data.images import image_set

SHAPES = [(8, 13), (13, 8), (8, 8), (16, 21), (21, 16), (5, 7), (40, 11)]
TASK = tasks.Task("t", tasks.SINGLE_LABEL, 2)


def images(height, width, num=30):
  rng = np.random.default_rng(height)
  return tf.constant(rng.integers(0, 256, [num, height, width, 3], np.uint8))


def seeds(num=30):
  return tf.range(num, dtype=tf.int64) * 7 + 1


@pytest.mark.parametrize("height, width", SHAPES)
@pytest.mark.parametrize("transform", [
    clear_transform.Clear(8), clear_transform.Clear(8, longest=1.5),
    image_ops.Augmented(clear_transform.Clear(8), (image_ops.Cutout(2),))],
                         ids=["Clear", "Clear 1.5", "Augmented"])
def test_the_transform_s_own_storage(transform, height, width):
  given, drawn = images(height, width), tf.cast(seeds(), tf.uint64)
  kept = image_ops.of(transform)
  rows = kept.store(given)
  assert rows.dtype == tf.uint8 and rows.shape[1:] == kept.shape != transform.shape
  for found, wanted in ((kept.train(rows, drawn), transform.train(given, drawn)),
                        (kept.evaluate(rows), transform.evaluate(given))):
    assert found.shape == (30, 8, 8, 3) and found.dtype == tf.uint8
    # Where a side is resized, the two resample at places that are rounded differently.
    is_resized = min(height, width) != 8
    assert np.abs(found.numpy().astype(int) - wanted.numpy()).max() <= is_resized


@pytest.mark.parametrize("transform", [
    image_ops.Plain(8), image_ops.Nevis(8), clear_transform.Clear(8, longest=1)],
                         ids=lambda t: type(t).__name__)
def test_others_are_stored_as_they_are_evaluated(transform):
  given, drawn = images(8, 13), tf.cast(seeds(), tf.uint64)
  kept = image_ops.of(transform)
  rows = kept.store(given)
  assert kept.shape == (8, 8, 3)
  np.testing.assert_array_equal(rows, transform.evaluate(given))
  np.testing.assert_array_equal(kept.evaluate(rows), rows)
  np.testing.assert_array_equal(kept.train(rows, drawn), transform.train(rows, drawn))
  assert image_ops.of(clear_transform.Clear(8), as_evaluated=True).shape == (8, 8, 3)


def test_images_of_uneven_shapes_are_read_into_one_array():
  shapes = [SHAPES[i % len(SHAPES)] for i in range(20)]
  pictures = [images(h, w, 1)[0] for h, w in shapes]
  given = image_set.ImageSet.from_encoded(
      "uneven", [tf.io.encode_png(p).numpy() for p in pictures], np.arange(20) % 2, kind=TASK.kind,
      num_classes=2)
  transform = clear_transform.Clear(8)
  kept = image_ops.of(transform)
  rows = example_arrays.read([given, given], TASK, transform, kept).images
  assert rows.shape == (40, *kept.shape)
  for row, picture in zip(rows, pictures):
    np.testing.assert_array_equal(row, kept.store(picture[None])[0])
  plain = example_arrays.read([given], TASK, transform).images
  np.testing.assert_array_equal(plain, tf.concat(
      [transform.evaluate(p[None]) for p in pictures], 0))
