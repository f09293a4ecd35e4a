# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import tensorflow as tf

from suite.models import keras_cv_models


def test_batch_norms_have_the_suites_momentum():
  model = keras_cv_models.resnet((1, 1, 1, 1), (32, 32, 3))
  momenta = [layer.momentum for layer in model.layers
             if isinstance(layer, tf.keras.layers.BatchNormalization)]
  assert set(momenta) == {0.9} and len(momenta) == 1 + 4 * 2 + 3
  assert model.output_shape == (None, 1, 1, 512)


def test_a_block_keeps_the_shape():
  tokens = tf.keras.Input((5, 8))
  out = keras_cv_models.transformer_block(tokens, heads=2, mlp_size=16, dropout=0.0, name="block")
  assert out.shape == (None, 5, 8)
