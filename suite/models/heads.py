# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Classifiers on features, and their random weights by name.

  glorot    Keras' default: kernel uniform in ±sqrt(6 / (D + C)), bias 0
  pytorch   PyTorch's default (`torch.nn.Linear`): kernel and bias uniform in ±1 / sqrt(D)

D features, C classes. With D = 2048 and C = 11 a kernel by PyTorch's rule has 0.41 times the
standard deviation of one by Glorot's, which matters where training is short.

The heads of self-supervised losses, discarded after pretraining.
"""

from __future__ import annotations

import math

import tensorflow as tf

from suite.models import precision

INITIALIZERS = ("glorot", "pytorch")


def initializers(name: str, feature_size: int) -> dict[str, tf.keras.initializers.Initializer]:
  """Returns the arguments of a dense layer on `feature_size` features that make its weights."""
  if name not in INITIALIZERS:
    raise ValueError(f"Unknown weights of a head {name!r}; allowed are {', '.join(INITIALIZERS)}.")
  if name == "glorot":
    return {"kernel_initializer": tf.keras.initializers.GlorotUniform(),
            "bias_initializer": tf.keras.initializers.Zeros()}
  limit = 1.0 / math.sqrt(feature_size)
  return {f"{part}_initializer": tf.keras.initializers.RandomUniform(-limit, limit)
          for part in ("kernel", "bias")}


def linear(num_classes: int, feature_size: int, *, init: str = "glorot", name: str = "head"
           ) -> tf.keras.Model:
  """Builds a linear classifier: float [B, feature_size] -> float32 logits [B, num_classes].

  `init` is one of `INITIALIZERS`.
  """
  inputs = tf.keras.Input(shape=(feature_size,), dtype=tf.float32, name="features")
  return tf.keras.Model(inputs, _layer(num_classes, feature_size, init)(inputs), name=name)


def joined(body: tf.keras.Model, head: tf.keras.Model) -> tf.keras.Model:
  """A model of both, which share their layers with it; it ends with the layers of the head."""
  images = tf.keras.Input(body.input_shape[1:], dtype=body.inputs[0].dtype, name="image")
  x = body(images)
  for layer in head.layers[1:]:  # After the input: heads are chains of layers.
    x = layer(x)
  return tf.keras.Model(images, x, name=body.name)


def dense(num_classes: int, feature_size: int, *, init: str = "glorot") -> tf.keras.layers.Dense:
  """Builds the only layer of `linear`, with the same weights, in a quarter of the time."""
  layer = _layer(num_classes, feature_size, init)
  layer.build([None, feature_size])
  return layer


def _layer(num_classes: int, feature_size: int, init: str) -> tf.keras.layers.Dense:
  return tf.keras.layers.Dense(
      num_classes, dtype=tf.float32, name="logits", **initializers(init, feature_size))


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
