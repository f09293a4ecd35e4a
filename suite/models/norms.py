# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Normalization layers by name.

Second derivatives: "batch" (fused) and "group" are right, tests/models/conv4_test.py measures it.
Moments taken by `tf.nn.moments` are not: it stops a gradient, so that first derivatives are right
and second ones wrong without a word. "sync_batch" falls back to it whenever it is called outside a
replica (in a strategy's scope but not in its `run`), so never meta-learn through that one.
"""

from __future__ import annotations

import math

import tensorflow as tf

NORMS = ("batch", "sync_batch", "group", "none")
TWICE_DIFFERENTIABLE = ("batch", "group", "none")

# 0.9 and not Keras's 0.99: many tasks of a stream are over after some hundred steps.
MOMENTUM = 0.9
# The smallest that fused batch norm takes; it raises any smaller number to this one by itself.
EPSILON = 1.001e-5
MAX_GROUPS = 32


def check(norm: str, allowed: tuple[str, ...] = NORMS) -> str:
  """Returns norm, or says which ones there are."""
  if norm not in allowed:
    reason = ""
    if norm in NORMS:
      reason = " (its second derivatives cannot be relied on, see suite/models/norms.py)"
    raise ValueError(f"norm is {norm!r}{reason}; allowed are {', '.join(allowed)}.")
  return norm


def apply(x: tf.Tensor, norm: str, name: str) -> tf.Tensor:
  """[B, H, W, C] -> [B, H, W, C], normalized with a learned scale and offset ("none": x itself)."""
  check(norm)
  if norm == "none":
    return x
  if norm == "group":
    groups = math.gcd(MAX_GROUPS, x.shape[-1])
    return tf.keras.layers.GroupNormalization(groups, epsilon=EPSILON, name=name)(x)
  return tf.keras.layers.BatchNormalization(
      momentum=MOMENTUM, epsilon=EPSILON, synchronized=norm == "sync_batch", name=name)(x)


def conv(x: tf.Tensor, filters: int, kernel_size: int, *, norm: str, name: str, strides: int = 1,
         relu: bool = True) -> tf.Tensor:
  """[B, H, W, C] -> [B, H/strides, W/strides, filters]: convolution, normalization, ReLU.

  The convolution has a bias only if there is no normalization, whose offset does the same.
  """
  x = tf.keras.layers.Conv2D(filters, kernel_size, strides=strides, padding="same",
                             use_bias=norm == "none", name=f"{name}_conv")(x)
  x = apply(x, norm, f"{name}_norm")
  return tf.keras.layers.ReLU(name=f"{name}_relu")(x) if relu else x
