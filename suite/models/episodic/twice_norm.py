# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Batch norm by the fused kernel, with its second derivative in closed form.

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

A third derivative raises an error.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from suite.models import norms

_NO_THIRD = ("The batch norm of suite.models.episodic.twice_norm has no third derivative; use "
             "functional_conv4.moments, in float64, where one is needed.")


def batch_norm(x: tf.Tensor, scale: tf.Tensor, offset: tf.Tensor) -> tf.Tensor:
  """Batch norm of float32 [B, H, W, F] with scale and offset [F]."""
  return _forward(x, scale, offset)


@tf.custom_gradient
def _forward(x: tf.Tensor, scale: tf.Tensor, offset: tf.Tensor) -> Any:
  empty = tf.constant([], tf.float32)
  y, mean, variance, *reserved = tf.raw_ops.FusedBatchNormV3(
      x=x, scale=scale, offset=offset, mean=empty, variance=empty, epsilon=norms.EPSILON,
      is_training=True)
  n = float(x.shape[0] * x.shape[1] * x.shape[2])
  r = tf.math.rsqrt(variance * ((n - 1.0) / n) + norms.EPSILON)  # The kernel's divides by n - 1.

  def kernel(g: tf.Tensor) -> Any:
    """(dx, dscale, doffset)."""
    return tf.raw_ops.FusedBatchNormGradV3(
        y_backprop=g, x=x, scale=scale, reserve_space_1=reserved[0], reserve_space_2=reserved[1],
        reserve_space_3=reserved[2], epsilon=norms.EPSILON, is_training=True)[:3]

  @tf.custom_gradient
  def first(g: tf.Tensor, x: tf.Tensor, scale: tf.Tensor) -> Any:
    dx, dscale, doffset = kernel(g)

    def second(v: tf.Tensor, p: tf.Tensor, q: tf.Tensor) -> list[tf.Tensor]:
      by_v = kernel(v)
      moments = _Moments(doffset / n, dscale / n, by_v[2] / n, by_v[1] / n)
      every = _second(v, p, q, g, x, scale, mean, r, moments, by_v[0])
      return [tf.raw_ops.PreventGradient(input=part, message=_NO_THIRD) for part in every]

    return (dx, dscale, doffset), second

  return y, lambda g: first(g, x, scale)


class _Moments(NamedTuple):
  """S1, S2, T1, T2, [F] each."""

  g: tf.Tensor
  g_hat: tf.Tensor
  v: tf.Tensor
  v_hat: tf.Tensor


def _second(v, p, q, g, x, scale, mean, r, moments: _Moments, by_v) -> tuple[tf.Tensor, ...]:
  """Gradients for g, x and scale; `by_v` is the kernel's own gradient for v."""
  s1, s2, t1, t2 = moments
  n, c = float(x.shape[0] * x.shape[1] * x.shape[2]), scale * r
  spread = tf.reduce_mean(v * g, (0, 1, 2)) - s1 * t1 - s2 * t2
  by_hat = p * s2 - 2.0 * c * s2 * t2 + c * spread
  e = p * s1 - c * (s1 * t2 + s2 * t1)
  # x^ = r x - r mean, so every line is an affine function of whole tensors, channel by channel.
  for_g = by_v + (x * (p * r) + (q - p * r * mean))
  for_x = g * (r * (p - c * t2)) - v * (r * c * s2) - (
      x * (r * r * by_hat) + r * (e - r * mean * by_hat))
  return for_g, for_x, r * n * spread
