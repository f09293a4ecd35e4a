# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Classifiers on features."""

from __future__ import annotations

import tensorflow as tf


def linear(num_classes: int, feature_size: int, *, name: str = "head") -> tf.keras.Model:
  """[B, feature_size] features of any float type -> [B, num_classes] logits, float32."""
  inputs = tf.keras.Input(shape=(feature_size,), dtype=tf.float32, name="features")
  logits = tf.keras.layers.Dense(num_classes, dtype=tf.float32, name="logits")(inputs)
  return tf.keras.Model(inputs, logits, name=name)


def with_head(backbone: tf.keras.Model, num_classes: int, *,
              name: str = "classifier") -> tf.keras.Model:
  """[B, H, W, C] pixels 0..255 -> [B, num_classes] logits; shares the backbone's variables.

  `model.get_layer("head")` is the head and `model.get_layer(backbone.name)` the backbone.
  """
  inputs = tf.keras.Input(shape=backbone.input_shape[1:], dtype=tf.float32, name="image")
  logits = linear(num_classes, backbone.output_shape[-1])(backbone(inputs))
  return tf.keras.Model(inputs, logits, name=name)
