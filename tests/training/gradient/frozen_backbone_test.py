# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Frozen features: seeded or from a file, and in nobody's checkpoint."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import tensorflow as tf

from suite.contracts import rehearsal
from suite.models import conv4
from suite.state import weight_store
from suite.training.gradient import frozen_backbone

SMALL = functools.partial(conv4.conv4, filters=4, blocks=2)
IMAGES = tf.cast(tf.reshape(tf.range(2 * 8 * 8 * 3) % 256, [2, 8, 8, 3]), tf.uint8)


def test_random_weights_are_of_the_seed():
  one, two, other = (frozen_backbone.FrozenBackbone(SMALL, 8, seed=s)(IMAGES) for s in (0, 0, 1))
  assert one.shape == [2, 16]
  np.testing.assert_array_equal(one, two)
  assert np.abs(one - other).max() > 0.01


def test_weights_of_a_file_with_a_head_behind_them(tmp_path):
  source = frozen_backbone.FrozenBackbone(SMALL, 8, seed=3)
  arrays = [*source.model.get_weights(), np.zeros([16, 5]), np.zeros(5)]
  weight_store.write_arrays(tmp_path / "w.npz", {f"{i:04d}": a for i, a in enumerate(arrays)})
  again = frozen_backbone.FrozenBackbone(SMALL, 8, weights=str(tmp_path / "w.npz"))
  np.testing.assert_array_equal(again(IMAGES), source(IMAGES))
  wider = functools.partial(conv4.conv4, filters=8, blocks=2)
  with pytest.raises(ValueError, match="Give weights of this very backbone"):
    frozen_backbone.FrozenBackbone(wider, 8, weights=str(tmp_path / "w.npz"))


def test_a_rehearsal_without_the_encoder_takes_random_weights_and_names_it(tmp_path):
  place = str(tmp_path / "none.npz")
  with rehearsal.begun() as rehearsed:
    found = frozen_backbone.FrozenBackbone(SMALL, 8, weights=place, seed=3)
  np.testing.assert_array_equal(
      found(IMAGES), frozen_backbone.FrozenBackbone(SMALL, 8, seed=3)(IMAGES))
  assert list(rehearsed.missing) == [f"weights {place}"]


def test_a_learner_that_holds_it_does_not_save_it(tmp_path):
  learner = tf.Module()
  learner.features = frozen_backbone.FrozenBackbone(SMALL, 8)
  assert not learner.variables
  assert [name for name, _ in tf.train.list_variables(
      tf.train.Checkpoint(learner=learner).write(str(tmp_path / "x")))] == [
          "_CHECKPOINTABLE_OBJECT_GRAPH"]


def test_its_layers_are_all_frozen():
  layers = frozen_backbone.layers(frozen_backbone.FrozenBackbone(SMALL, 8))
  assert sum(layer.macs for layer in layers) == 64 * 27 * 4 + 16 * 36 * 4
  assert not any(layer.trained for layer in layers)
  assert frozen_backbone.layers(lambda images: images) == []


class Normed(tf.keras.layers.Layer):
  """Two norms: their weights change places when they are frozen."""

  def __init__(self):
    super().__init__()
    self.norms = [tf.keras.layers.BatchNormalization() for _ in range(2)]

  def call(self, x, training=None):
    return self.norms[1](tf.reduce_sum(self.norms[0](x, training=training), [1, 2]),
                         training=training)


def test_a_layer_of_layers_has_its_own_weights_when_it_is_frozen():
  model = tf.keras.Sequential([tf.keras.Input([8, 8, 3]), Normed()])
  rng = np.random.default_rng(2)
  model.set_weights([rng.uniform(1, 2, w.shape) for w in model.get_weights()])
  expected = model(tf.cast(IMAGES, tf.float32), training=False)
  np.testing.assert_allclose(frozen_backbone.FrozenBackbone(model, 8)(IMAGES), expected, rtol=1e-6)
