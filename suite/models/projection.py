# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The head on which contrastive losses work, thrown away after pretraining."""

from __future__ import annotations

import tensorflow as tf


def projection(feature_size: int, *, size: int = 128, name: str = "projection") -> tf.keras.Model:
  """[B, D] features -> [B, size]: dense, ReLU, dense, as MoCo V2 and SimCLR have it."""
  inputs = tf.keras.Input(shape=(feature_size,), dtype=tf.float32, name="features")
  x = tf.keras.layers.Dense(feature_size, activation="relu", name="hidden")(inputs)
  x = tf.keras.layers.Dense(size, name="embedding")(x)
  return tf.keras.Model(inputs, x, name=name)
