# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The kinks of the nets for episodes: max pooling and LeakyReLU, which decide by comparing numbers.

Ties: the first of the equal numbers of a window wins, by rows. Which one wins changes no gradient,
however: equal numbers are products of equal patches with one kernel, so the gradients that they
pass on are equal, too. Numbers that differ by less than rounding do matter. The gradient jumps
where two numbers change their order, so a comparison that two ways of computing decide differently
changes the next step of an inner loop, and that step further comparisons. `tools/parity/precision`
records the decisions of one run and imposes them on another, to tell rounding from decisions.

B images, H x W positions, F channels.
"""

from __future__ import annotations

import tensorflow as tf

LEAK = 0.01


def max_pool(x: tf.Tensor) -> tf.Tensor:
  """2x2 max pooling, [B, H, W, F] -> [B, H // 2, W // 2, F]."""
  return tf.nn.max_pool2d(x, 2, 2, "VALID")


def rectify(x: tf.Tensor, leak: float = LEAK) -> tf.Tensor:
  """LeakyReLU, or ReLU with leak 0, of any shape."""
  return tf.nn.leaky_relu(x, leak) if leak else tf.nn.relu(x)
