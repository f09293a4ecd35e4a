# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The projection head of contrastive losses, discarded after pretraining."""

from __future__ import annotations

import tensorflow as tf

from suite.models import precision


def projection(feature_size: int, *, size: int = 128, name: str = "projection") -> tf.keras.Model:
  """Builds the head: features [B, D] -> [B, size] by dense, ReLU, dense (MoCo V2, SimCLR)."""
  inputs = tf.keras.Input(shape=(feature_size,), dtype=tf.float32, name="features")
  x = tf.keras.layers.Dense(feature_size, activation="relu", name="hidden",
                            dtype=precision.FLOAT32)(inputs)
  x = tf.keras.layers.Dense(size, name="embedding", dtype=precision.FLOAT32)(x)
  return tf.keras.Model(inputs, x, name=name)
