# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import tensorflow as tf

from suite.models import heads


def test_linear_is_features_times_kernel_plus_bias():
  head = heads.linear(2, 3)
  head.set_weights([np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0]]), np.array([0.5, -0.5])])
  np.testing.assert_allclose(head(np.array([[1.0, 2.0, 3.0]])), [[7.5, 1.5]])


def test_logits_are_float32_even_from_half_precision_features():
  assert heads.linear(2, 3)(tf.ones([1, 3], tf.bfloat16)).dtype == tf.float32
