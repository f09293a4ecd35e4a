# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Augmentation layers draw by the seeds of rows: repeatable, and row by row."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.models import keras_cv_models
from suite.models.own import seeded_layers

IMAGES = np.random.default_rng(0).integers(0, 256, [3, 8, 8, 3]).astype(np.uint8)
SEEDS = np.array([1, 2, 2**63 + 5], np.uint64)
layers = tf.keras.layers


@pytest.mark.parametrize("make", [
    lambda: [layers.RandomFlip(), layers.RandomContrast(0.5)],
    lambda: [layers.GaussianNoise(30.0)],  # Draws by tf.random.normal.
    lambda: [keras_cv_models.library().layers.RandomHue(0.5, value_range=(0, 255))],
], ids=["keras", "noise", "keras-cv"])
def test_a_row_is_a_function_of_its_image_and_seed(make):
  op = seeded_layers.LayerOp(*make())
  in_graph = tf.function(op, autograph=False)
  whole = in_graph(IMAGES, SEEDS).numpy()
  assert whole.dtype == np.uint8 and (whole != IMAGES).any()
  np.testing.assert_array_equal(whole, in_graph(IMAGES, SEEDS))
  np.testing.assert_array_equal(whole[1:2], op(tf.constant(IMAGES[1:2]), tf.constant(SEEDS[1:2])))
  assert (whole != in_graph(IMAGES, SEEDS + np.uint64(3)).numpy()).any()


def test_layers_one_after_the_other_draw_other_numbers():
  drawing = seeded_layers._Generator(tf.constant(1, tf.int64))
  assert float(drawing.random_uniform([])) != float(drawing.random_uniform([]))


def test_a_pipeline_draws_the_same():
  op = seeded_layers.LayerOp(layers.RandomFlip(), layers.RandomContrast(0.5))
  dataset = tf.data.Dataset.from_tensors((IMAGES, SEEDS)).map(op)
  np.testing.assert_array_equal(op(tf.constant(IMAGES), tf.constant(SEEDS)), next(iter(dataset)))


def test_the_layer_and_tensorflow_draw_as_before_afterwards():
  layer, uniform = layers.RandomFlip(), tf.random.uniform
  seeded_layers.LayerOp(layer)(tf.constant(IMAGES), tf.constant(SEEDS))
  assert tf.random.uniform is uniform
  assert not isinstance(layer._random_generator, seeded_layers._Generator)


@pytest.mark.parametrize("layer, message", [
    (lambda: layers.RandomCrop(4, 4, name="crop"), "crop cannot be used on single images"),
    (lambda: lambda x: x + tf.random.gamma(tf.shape(x), 1.0), "draws by RandomGamma from a state"),
    (lambda: "flip", "An augmentation is 'flip'; give Keras layers"),
])
def test_what_no_seed_determines_is_refused(layer, message):
  with pytest.raises(ValueError, match=message):
    seeded_layers.LayerOp(layer())(tf.constant(IMAGES), tf.constant(SEEDS))
