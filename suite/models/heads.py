# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Classifiers on features."""

from __future__ import annotations

import tensorflow as tf


def linear(num_classes: int, feature_size: int, *, name: str = "head") -> tf.keras.Model:
  """Builds a linear classifier: float [B, feature_size] -> float32 logits [B, num_classes]."""
  inputs = tf.keras.Input(shape=(feature_size,), dtype=tf.float32, name="features")
  logits = tf.keras.layers.Dense(num_classes, dtype=tf.float32, name="logits")(inputs)
  return tf.keras.Model(inputs, logits, name=name)
