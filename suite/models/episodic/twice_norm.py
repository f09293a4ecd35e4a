# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Batch norm with exact moments, and its second derivative in closed form.

TensorFlow's fused kernel sums a channel's numbers one after the other in float32. Where many are
equal, as in the flat regions of drawings, every addition is rounded the same way: outputs are off
by 1e-5 to 1e-3, and so are those of plain means by `tf.reduce_mean`. Here x is centered by the mean
of groups' means, and what rounding left of the mean is found by a second pass: 1e-7. The kernel
still computes the gradient. On a GPU, whose kernels sum in trees and keep other numbers for their
gradients, they do all of it.

TensorFlow differentiates the fused kernel's gradient by composing it of some 30 passes over the
images; the closed form takes 10. For one channel of n numbers x, with r = 1 / sqrt(var + epsilon),
x^ = (x - mean) r, g = dL/dy, and < > the mean over the n numbers, the first derivative is

  dx = scale r (g - <g> - x^ <g x^>)      dscale = n <g x^>      doffset = n <g>

Let v, p, q be the gradients of some function of (dx, dscale, doffset), and

  S1 = <g>,  S2 = <g x^>,  T1 = <v>,  T2 = <v x^>,  Q = <v g> - S1 T1 - S2 T2,  c = scale r.

Since dr/dx = -r^2 x^ / n, the function's gradients are

  for g      c (v - T1 - x^ T2) + p x^ + q     whose first part is the fused kernel's own gradient
  for x      r ((p - c T2) g - c S2 v - e - x^ (p S2 - 2 c S2 T2 + c Q)),
             e = p S1 - c (S1 T2 + S2 T1)
  for scale  r n Q

A third derivative raises an error. B images, H x W positions, F channels.
"""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import Any, NamedTuple

import tensorflow as tf

from suite.compute import own_gradients
from suite.models import norms

_NO_THIRD = ("The batch norm of suite.models.episodic.twice_norm has no third derivative; use "
             "float64, where one is needed.")


def batch_norm(x: tf.Tensor, scale: tf.Tensor, offset: tf.Tensor,
               epsilon: float = norms.EPSILON) -> tf.Tensor:
  """Batch norm of [B, H, W, F] with scale and offset [F]; its first two derivatives are right."""
  return with_moments(x, scale, offset, epsilon)[0]


def with_moments(x: tf.Tensor, scale: tf.Tensor, offset: tf.Tensor,
                 epsilon: float = norms.EPSILON) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
  """Batch norm, and the mean and variance [F] by which it normalized, which have no gradient.

  The kernels know no float64; TensorFlow differentiates what replaces them. They know no smaller
  epsilon than `norms.EPSILON` either, which replaces it.
  """
  if x.dtype == tf.float32:
    epsilon = max(epsilon, norms.EPSILON)
    forward = own_gradients.custom_gradient(lambda a, b, c: _forward(a, b, c, epsilon))
    return forward(x, scale, offset)
  mean, variance = moments(x)
  return (affine(x, mean, variance, scale, offset, epsilon), tf.stop_gradient(mean),
          tf.stop_gradient(variance))


def moments(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
  """Mean and variance [F] of [B, H, W, F]; `tf.nn.moments` stops a gradient (see norms.py)."""
  centered, mean = _centered(x)
  left = group_mean(centered)
  return mean + left, group_mean(tf.math.squared_difference(centered, left))


def affine(x: tf.Tensor, mean: tf.Tensor, variance: tf.Tensor, scale: tf.Tensor,
           offset: tf.Tensor, epsilon: float = norms.EPSILON) -> tf.Tensor:
  """[B, H, W, F] normalized by moments, scale and offset [F]."""
  return (x - mean) * (scale * tf.math.rsqrt(variance + epsilon)) + offset


def _centered(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
  """(x - mean, mean) with a mean [F] that rounding has moved a little."""
  mean = group_mean(x)
  return x - mean, mean


def group_mean(x: tf.Tensor) -> tf.Tensor:
  """[B, H, W, F] -> [F]: the mean of the groups' means."""
  return tf.reduce_mean(tf.reduce_mean(_groups(x), 1), 0)


def group_mean_square(x: tf.Tensor) -> tf.Tensor:
  """[B, H, W, F] -> [F]: the mean of squares."""
  groups = _groups(x)
  lengths = tf.raw_ops.EuclideanNorm(input=groups, axis=[1])  # Squares and adds in one pass.
  return tf.reduce_mean(tf.square(lengths), 0) / float(groups.shape[1])


def _groups(x: tf.Tensor) -> tf.Tensor:
  """[B, H, W, F] -> [G, n / G, F], groups of consecutive numbers; G is about sqrt(n)."""
  n = math.prod(x.shape[:3])
  groups = next(k for k in range(math.isqrt(n), 0, -1) if n % k == 0)
  return tf.reshape(x, [groups, n // groups, x.shape[3]])


def _count(x: tf.Tensor) -> float:
  return float(math.prod(x.shape[:3]))


def _normalized(x: tf.Tensor, scale: tf.Tensor, offset: tf.Tensor, epsilon: float
                ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor, Sequence[tf.Tensor]]:
  """(y, mean, variance, what the gradient's kernel takes)."""
  empty = tf.constant([], tf.float32)
  if _on_gpu():
    y, mean, variance, *reserved = tf.raw_ops.FusedBatchNormV3(
        x=x, scale=scale, offset=offset, mean=empty, variance=empty, epsilon=epsilon,
        is_training=True)
    n = _count(x)
    return y, mean, variance * ((n - 1.0) / n), reserved  # The kernel's divides by n - 1.
  centered, mean = _centered(x)
  left = group_mean(centered)
  variance = group_mean_square(centered) - tf.square(left)
  factor = scale * tf.math.rsqrt(variance + epsilon)
  return (centered * factor + (offset - left * factor), mean + left, variance,
          (mean + left, variance, empty))


def _on_gpu() -> bool:
  return bool(tf.config.list_logical_devices("GPU"))


def _forward(x: tf.Tensor, scale: tf.Tensor, offset: tf.Tensor, epsilon: float) -> Any:
  """((y, mean, variance), the function of their gradients), for `own_gradients.custom_gradient`."""
  y, mean, variance, reserved = _normalized(x, scale, offset, epsilon)
  n, r = _count(x), tf.math.rsqrt(variance + epsilon)

  def kernel(g: tf.Tensor) -> Any:
    """(dx, dscale, doffset)."""
    return tf.raw_ops.FusedBatchNormGradV3(
        y_backprop=g, x=x, scale=scale, reserve_space_1=reserved[0], reserve_space_2=reserved[1],
        reserve_space_3=reserved[2], epsilon=epsilon, is_training=True)[:3]

  @own_gradients.custom_gradient
  def first(g: tf.Tensor, x: tf.Tensor, scale: tf.Tensor) -> Any:
    dx, dscale, doffset = kernel(g)

    def second(v: tf.Tensor, p: tf.Tensor, q: tf.Tensor) -> list[tf.Tensor]:
      by_v = kernel(v)
      sums = _Moments(doffset / n, dscale / n, by_v[2] / n, by_v[1] / n)
      every = _second(v, p, q, g, x, scale, mean, r, sums, by_v[0])
      return [tf.raw_ops.PreventGradient(input=part, message=_NO_THIRD) for part in every]

    return (dx, dscale, doffset), second

  return (y, mean, variance), lambda g, *_: first(g, x, scale)


class _Moments(NamedTuple):
  """S1, S2, T1, T2, [F] each."""

  g: tf.Tensor
  g_hat: tf.Tensor
  v: tf.Tensor
  v_hat: tf.Tensor


def _second(v, p, q, g, x, scale, mean, r, moments: _Moments, by_v) -> tuple[tf.Tensor, ...]:
  """Gradients for g, x and scale; `by_v` is the kernel's own gradient for v."""
  s1, s2, t1, t2 = moments
  n, c = _count(x), scale * r
  spread = group_mean(v * g) - s1 * t1 - s2 * t2
  by_hat = p * s2 - 2.0 * c * s2 * t2 + c * spread
  e = p * s1 - c * (s1 * t2 + s2 * t1)
  # x^ = r x - r mean, so every line is an affine function of whole tensors, channel by channel.
  for_g = by_v + (x * (p * r) + (q - p * r * mean))
  for_x = g * (r * (p - c * t2)) - v * (r * c * s2) - (
      x * (r * r * by_hat) + r * (e - r * mean * by_hat))
  return for_g, for_x, r * n * spread
