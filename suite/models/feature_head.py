# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A linear classifier on wide features with a fast kernel gradient.

TensorFlow computes the gradient of a kernel [D, C] as x^T d, which transposes the wide x [B, D]; on
a CPU, with D = 2048 and C = 11, this takes two thirds of a training step. (d^T x)^T is equal, and
the transposed matrix is small.
"""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf

from suite.compute import own_gradients
from suite.models import heads


@own_gradients.custom_gradient
def product(x: tf.Tensor, kernel: tf.Tensor) -> tuple[tf.Tensor, Callable[..., Any]]:
  """Matrix product [B, D] x [D, C] -> [B, C] and its gradient function."""
  def gradient(upstream: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    return (tf.matmul(upstream, kernel, transpose_b=True),
            tf.transpose(tf.matmul(upstream, x, transpose_a=True)))

  return tf.matmul(x, kernel), gradient


class WideDense(tf.keras.layers.Dense):
  """`tf.keras.layers.Dense` with a bias and no activation, for inputs [B, D]."""

  def call(self, inputs: tf.Tensor) -> tf.Tensor:
    return tf.nn.bias_add(product(inputs, tf.convert_to_tensor(self.kernel)), self.bias)


def linear(num_classes: int, feature_size: int, *, init: str = "glorot", name: str = "head"
           ) -> tf.keras.Model:
  """Builds a classifier as `heads.linear`: [B, feature_size] -> float32 [B, num_classes]."""
  inputs = tf.keras.Input(shape=(feature_size,), dtype=tf.float32, name="features")
  logits = WideDense(num_classes, dtype=tf.float32, name="logits",
                     **heads.initializers(init, feature_size))(inputs)
  return tf.keras.Model(inputs, logits, name=name)
