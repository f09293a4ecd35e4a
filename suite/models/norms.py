# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Normalization layers by name.

Second derivatives of "batch" (fused) and "group" are right, as tests/models/conv4_test.py checks.
`tf.nn.moments` stops a gradient: first derivatives through it are correct, second ones silently
wrong. "sync_batch" uses it whenever it is called outside a replica (in a strategy's scope but not
in its `run`), so do not meta-learn through "sync_batch".
"""

from __future__ import annotations

import math

import tensorflow as tf

from suite.models import precision

NORMS = ("batch", "sync_batch", "group", "none")
TWICE_DIFFERENTIABLE = ("batch", "group", "none")

# 0.9 instead of Keras's 0.99: many tasks of a stream end after some hundred steps.
MOMENTUM = 0.9
# The smallest value that fused batch norm supports; it replaces smaller ones by this.
EPSILON = 1.001e-5
MAX_GROUPS = 32


def check(norm: str, allowed: tuple[str, ...] = NORMS) -> str:
  """Returns `norm`, or raises an error that lists the allowed ones."""
  if norm not in allowed:
    reason = ""
    if norm in NORMS:
      reason = " (its second derivatives may be wrong, see suite/models/norms.py)"
    raise ValueError(f"norm is {norm!r}{reason}; allowed are {', '.join(allowed)}.")
  return norm


def apply(x: tf.Tensor, norm: str, name: str, *, epsilon: float = EPSILON) -> tf.Tensor:
  """Normalizes [B, H, W, C] with a learned scale and offset ("none" returns x).

  Batch norm's kernel keeps moments in float32 whatever the type of x; group norm's does not.
  """
  check(norm)
  if norm == "none":
    return x
  if norm == "group":
    groups = math.gcd(MAX_GROUPS, x.shape[-1])
    return tf.keras.layers.GroupNormalization(groups, epsilon=epsilon, name=name,
                                              dtype=precision.FLOAT32)(x)
  return tf.keras.layers.BatchNormalization(
      momentum=MOMENTUM, epsilon=epsilon, synchronized=norm == "sync_batch", name=name)(x)


def conv(x: tf.Tensor, filters: int, kernel_size: int, *, norm: str, name: str, strides: int = 1,
         relu: bool = True) -> tf.Tensor:
  """Convolution, normalization, ReLU: [B, H, W, C] -> [B, H/strides, W/strides, filters].

  The convolution has a bias only without a normalization, whose offset is equivalent.
  """
  x = tf.keras.layers.Conv2D(filters, kernel_size, strides=strides, padding="same",
                             use_bias=norm == "none", name=f"{name}_conv",
                             dtype=precision.of_products())(x)
  x = apply(x, norm, f"{name}_norm")
  return tf.keras.layers.ReLU(name=f"{name}_relu")(x) if relu else x
