# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The heads of self-supervised losses, discarded after pretraining."""

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


def normalized_mlp(feature_size: int, *, hidden: int, size: int, name: str) -> tf.keras.Model:
  """Builds BYOL's head: features [B, D] -> [B, size] by dense, batch norm, ReLU, dense."""
  inputs = tf.keras.Input(shape=(feature_size,), dtype=tf.float32, name="features")
  x = tf.keras.layers.Dense(hidden, name=f"{name}_hidden", dtype=precision.FLOAT32)(inputs)
  x = tf.keras.layers.BatchNormalization(momentum=0.9, epsilon=1e-5, name=f"{name}_norm",
                                         dtype=precision.FLOAT32)(x)
  x = tf.keras.layers.ReLU(name=f"{name}_relu", dtype=precision.FLOAT32)(x)
  x = tf.keras.layers.Dense(size, name=f"{name}_embedding", dtype=precision.FLOAT32)(x)
  return tf.keras.Model(inputs, x, name=name)
