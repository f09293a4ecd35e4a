# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Embeddings of images are means over the cells of the net's features."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from suite.models.episodic import embedding
from suite.models.episodic import film
from suite.models.episodic import proto_conv4

SHAPE = (8, 8, 3)
IMAGES = np.random.default_rng(0).integers(0, 256, [6, *SHAPE]).astype(np.uint8)


def made(kind):
  found = kind(proto_conv4.ProtoConv4(filters=3, blocks=2))
  found.make(0, SHAPE)
  return found


def test_an_embedding_is_the_mean_over_cells_of_each_channel():
  encoder, cells = made(film.SetEncoder), made(embedding.Embedding)
  assert encoder.width == 3
  images = tf.constant(IMAGES)
  expected = np.reshape(cells.encode(images), [6, 2 * 2, 3]).mean(1)
  np.testing.assert_allclose(encoder.encode(images), expected, rtol=1e-5, atol=1e-6)
  found, seen = encoder.train(images)
  features, expected_seen = cells.train(images)
  np.testing.assert_allclose(found, np.reshape(features, [6, 4, 3]).mean(1), rtol=1e-5, atol=1e-6)
  for a, b in zip(tf.nest.flatten(seen), tf.nest.flatten(expected_seen)):
    np.testing.assert_array_equal(a, b)


def test_the_order_of_a_set_does_not_matter():
  encoder = made(film.SetEncoder)
  found = [tf.reduce_mean(encoder.encode(tf.constant(images)), 0) for images in
           (IMAGES, IMAGES[::-1])]
  np.testing.assert_allclose(*found, rtol=1e-5, atol=1e-6)
