# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Every transform keeps to the contract: its shape is that of the examples it prepares."""

from __future__ import annotations

import pytest
import tensorflow as tf

from suite.data.images import clear_transform
from suite.data.images import contrastive_views
from suite.data.images import example_arrays
from suite.data.images import feature_set
from suite.data.images import image_ops

IMAGES, SEEDS = tf.zeros([2, 6, 6, 3], tf.uint8), tf.constant([1, 2], tf.uint64)
TRANSFORMS = [
    image_ops.Plain(4), image_ops.AsStored(6), image_ops.Nevis(4),
    image_ops.Augmented(image_ops.Plain(4), (image_ops.Cutout(2),)), clear_transform.Clear(4),
    contrastive_views.AugPlus(4)]


@pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda t: type(t).__name__)
def test_prepared_images_have_its_shape(transform):
  assert transform.shape == (transform.size, transform.size, 3)
  for images in (transform.train(IMAGES, SEEDS), transform.evaluate(IMAGES)):
    assert images.shape == (2, *transform.shape) and images.dtype == example_arrays.dtype(transform)
  assert hash(transform) == hash(transform)  # Batches are kept by their transform.


def test_features_have_their_width_as_shape():
  transform, features = feature_set.Features(5), tf.zeros([2, 5])
  assert transform.shape == (5,) == features.shape[1:]
  for found in (transform.train(features, SEEDS), transform.evaluate(features)):
    assert found.shape == (2, 5) and found.dtype == example_arrays.dtype(transform)
