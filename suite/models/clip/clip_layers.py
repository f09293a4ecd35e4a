# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Layers that both towers of CLIP consist of."""

from __future__ import annotations

import tensorflow as tf

from suite.models.clip import architecture

EPSILON = 1e-5  # Of all norms.


@tf.keras.utils.register_keras_serializable("lifelong_suite")
def quick_gelu(x):
  """x sigmoid(1.702 x), the approximation of GELU with which CLIP was trained."""
  return x * tf.sigmoid(1.702 * x)


@tf.keras.utils.register_keras_serializable("lifelong_suite")
class Positions(tf.keras.layers.Layer):
  """Adds learned positions: [B, L, D] -> [B, L, D]."""

  def build(self, input_shape):
    self.positions = self.add_weight("positions", shape=input_shape[1:])
    super().build(input_shape)

  def call(self, x):
    return x + self.positions


def norm(name: str) -> tf.keras.layers.Layer:
  return tf.keras.layers.LayerNormalization(epsilon=EPSILON, name=name)


def blocks(x, body: architecture.Body, *, causal: bool):
  """Applies the residual blocks, norms first: [B, L, D] -> [B, L, D].

  With `causal`, position i attends to positions 0..i only.
  """
  activation = quick_gelu if body.activation == "quick_gelu" else tf.nn.gelu
  for i in range(body.layers):
    y = norm(f"block{i}_norm1")(x)
    attention = tf.keras.layers.MultiHeadAttention(body.heads, body.width // body.heads,
                                                   name=f"block{i}_attention")
    x = x + attention(y, y, use_causal_mask=causal)
    y = norm(f"block{i}_norm2")(x)
    y = tf.keras.layers.Dense(body.mlp, activation, name=f"block{i}_mlp1")(y)
    x = x + tf.keras.layers.Dense(body.width, name=f"block{i}_mlp2")(y)
  return x
