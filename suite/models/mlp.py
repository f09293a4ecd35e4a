# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A multi-layer perceptron on features, or on the pixels of images."""

from __future__ import annotations

import tensorflow as tf

from suite.models import precision


def mlp(feature_size: int, *, hidden: tuple[int, ...] = (512,),
        name: str = "mlp") -> tf.keras.Model:
  """Builds the net: features [B, feature_size] -> [B, hidden[-1]], a ReLU after every layer."""
  if not hidden:
    raise ValueError("hidden is empty; it must name at least one layer's size, for example (512,).")
  inputs = tf.keras.Input(shape=(feature_size,), dtype=tf.float32, name="features")
  x = inputs
  for layer, size in enumerate(hidden):
    x = tf.keras.layers.Dense(size, activation="relu", name=f"layer{layer + 1}",
                              dtype=precision.of_products())(x)
  if x.dtype != tf.float32:
    x = tf.keras.layers.Activation("linear", name="to_float32", dtype=precision.FLOAT32)(x)
  return tf.keras.Model(inputs, x, name=name)


def of_images(image_shape: tuple[int, int, int], *, hidden: tuple[int, ...] = (100, 100),
              name: str = "mlp_of_images") -> tf.keras.Model:
  """Builds the net on pixels: images [B, H, W, C] of 0..255 -> [B, hidden[-1]], see `mlp`."""
  inputs = tf.keras.Input(shape=image_shape, dtype=tf.float32, name="images")
  x = tf.keras.layers.Flatten()(tf.keras.layers.Rescaling(1 / 255)(inputs))
  return tf.keras.Model(inputs, mlp(int(x.shape[1]), hidden=hidden)(x), name=name)
