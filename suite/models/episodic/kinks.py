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

from typing import Any

import tensorflow as tf

from suite.compute import own_gradients

LEAK = 0.01
_WINDOWS: dict[str, Any] = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}


def max_pool(x: tf.Tensor, *, twice: bool = True) -> tf.Tensor:
  """2x2 max pooling, [B, H, W, F] -> [B, H // 2, W // 2, F].

  TensorFlow's own derivatives look for the winners each time: the second takes as long as a
  convolution, and so does the first of a loop, where oneDNN has no kernel for it. Here a mask of
  the winners is made once, beside the forward pass, and only where a derivative is asked for.

  Args:
    x: [B, H, W, F].
    twice: whether a second derivative will be asked for. Without, TensorFlow's first one saves two
      passes over the images; values and derivatives are the same.
  """
  return _max_pool(x) if twice else tf.nn.max_pool2d(x, 2, 2, "VALID")


@own_gradients.custom_gradient
def _max_pool(x: tf.Tensor) -> Any:
  y = tf.nn.max_pool2d(x, 2, 2, "VALID")
  winners = tf.stop_gradient(tf.raw_ops.MaxPoolGrad(
      orig_input=x, orig_output=y, grad=tf.ones_like(y), **_WINDOWS))

  def gradient(g: tf.Tensor) -> tf.Tensor:
    # The gradient of a window's sum: four times that of its mean.
    return masked(tf.raw_ops.AvgPoolGrad(orig_input_shape=x.shape, grad=4.0 * g, **_WINDOWS))

  @own_gradients.custom_gradient
  def masked(spread: tf.Tensor) -> Any:
    # A loop would keep every `spread` for a derivative by the winners, which have none.
    return winners * spread, lambda v: winners * v

  return y, gradient


def rectify(x: tf.Tensor, leak: float = LEAK) -> tf.Tensor:
  """LeakyReLU, or ReLU with leak 0, of any shape."""
  return tf.nn.leaky_relu(x, leak) if leak else tf.nn.relu(x)
