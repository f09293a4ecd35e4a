# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import tensorflow as tf

from suite.models import conv4
from suite.models import heads


def test_linear_is_features_times_kernel_plus_bias():
  head = heads.linear(2, 3)
  head.set_weights([np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0]]), np.array([0.5, -0.5])])
  np.testing.assert_allclose(head(np.array([[1.0, 2.0, 3.0]])), [[7.5, 1.5]])


def test_logits_are_float32_even_from_half_precision_features():
  assert heads.linear(2, 3)(tf.ones([1, 3], tf.bfloat16)).dtype == tf.float32


def test_classifier_shares_the_backbone_and_updates_its_norms():
  backbone = conv4.conv4((16, 16, 3), filters=2)
  model = heads.with_head(backbone, 5)
  images = np.full([2, 16, 16, 3], 200, np.uint8)
  before = backbone.get_layer("block1_norm").moving_mean.numpy()
  model(images, training=True)
  assert (backbone.get_layer("block1_norm").moving_mean.numpy() != before).any()
  logits = model(images)
  assert logits.shape == (2, 5)
  np.testing.assert_allclose(logits, model.get_layer("head")(backbone(images)), rtol=1e-6)


def test_static_shapes_with_a_fixed_batch():
  model = heads.with_head(conv4.conv4((16, 16, 3), filters=2), 5)
  step = tf.function(lambda x: model(x, training=True))
  assert step.get_concrete_function(tf.TensorSpec([3, 16, 16, 3], tf.uint8)).output_shapes == (3, 5)
