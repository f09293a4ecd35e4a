# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Batch norm of a batch that is held in parts, so that each part is computed by another core.

A net of one small batch is a chain of operations, and TensorFlow runs one after the other. In two
parts of the batch it is two chains, which meet only where a norm needs the moments of all images.
The moments are exact as those of `twice_norm`; so is the first derivative, and TensorFlow
differentiates it further where that is asked for. For one channel of n numbers x in all parts, with
r = 1 / sqrt(var + epsilon), x^ = (x - mean) r, g = dL/dy and < > the mean over the n numbers,

  dx = scale r (g - <g> - x^ <g x^>)      dscale = n <g x^>      doffset = n <g>

P parts of B_p images, H x W positions, F channels.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
import math
from typing import Any, Callable, Union

import tensorflow as tf

from suite.compute import own_gradients
from suite.models import norms
from suite.models.episodic import patch_norm
from suite.models.episodic import twice_norm

SMALLEST = 8  # Images; smaller parts cost more in operations than a second core gains.

# A pass of a net over images: it yields what goes into each norm, is sent what comes out, and
# returns the features. Where `patch_norm.folds`, it yields the convolution that goes into the norm,
# and is sent a `patch_norm.Shifted`.
Asked = Union[tf.Tensor, patch_norm.Convolution]
Given = Union[tf.Tensor, patch_norm.Shifted]
Pass = Generator[Asked, Given, tf.Tensor]


def split(images: tf.Tensor, parts: int) -> list[tf.Tensor]:
  """Returns images [B, ...] in up to `parts` parts of at least `SMALLEST`.

  They stay whole in float64, whose moments TensorFlow differentiates, and where a GPU computes.
  """
  size = images.shape[0]
  parts = min(parts, size // SMALLEST)
  if parts < 2 or images.dtype != tf.float32 or tf.config.list_logical_devices("GPU"):
    return [images]
  return tf.split(images, [size // parts + (i < size % parts) for i in range(parts)])


def finish(steps: Pass, normalize: Callable[[tf.Tensor], tf.Tensor]) -> tf.Tensor:
  """Returns the features of one pass, with `normalize` of tensors for its norms in turn."""
  def of_one(xs: list[Asked]) -> list[Given]:
    x, = xs
    if not isinstance(x, patch_norm.Convolution):
      return [normalize(x)]
    y = normalize(x.result())
    return [patch_norm.Shifted(y, tf.zeros(y.shape[-1:], y.dtype))]

  return finish_together([steps], of_one)[0]


def finish_together(passes: Sequence[Pass],
                    normalize: Callable[[list[Any]], Sequence[Given]]) -> list[tf.Tensor]:
  """Returns the features of P passes of one net, whose norms `normalize` computes together."""
  given: Sequence[Given | None] = [None] * len(passes)
  while True:
    asked, done = [], []
    for steps, y in zip(passes, given):
      try:
        asked.append(steps.send(y))  # The first takes None.
      except StopIteration as end:
        done.append(end.value)
    if done:
      return done
    given = normalize(asked)


def with_moments(xs: Sequence[tf.Tensor], scale: tf.Tensor, offset: tf.Tensor,
                 epsilon: float = norms.EPSILON) -> tuple[list[tf.Tensor], tf.Tensor, tf.Tensor]:
  """Batch norm of the images in all parts as one batch.

  Args:
    xs: P parts [B_p, H, W, F], float32.
    scale, offset: [F].
    epsilon: as of `twice_norm.with_moments`.

  Returns:
    P parts like xs, and the mean and variance [F], which have no gradient.
  """
  epsilon = max(epsilon, norms.EPSILON)
  ys = own_gradients.custom_gradient(lambda *a: _forward(a[:-2], a[-2], a[-1], epsilon))(
      *xs, scale, offset)
  return list(ys[:-2]), ys[-2], ys[-1]


def _forward(xs: Sequence[tf.Tensor], scale: tf.Tensor, offset: tf.Tensor, epsilon: float) -> Any:
  """((*ys, mean, variance), the function of their gradients)."""
  counts = [float(math.prod(x.shape[:3])) for x in xs]
  shares = [count / sum(counts) for count in counts]

  def mean_of(parts: Sequence[tf.Tensor]) -> tf.Tensor:
    return tf.add_n([share * part for share, part in zip(shares, parts)])

  mean = mean_of([twice_norm.group_mean(x) for x in xs])
  centered = [x - mean for x in xs]
  left = mean_of([twice_norm.group_mean(c) for c in centered])
  variance = mean_of([twice_norm.group_mean_square(c) for c in centered]) - tf.square(left)
  r = tf.math.rsqrt(variance + epsilon)
  factor, n = scale * r, sum(counts)

  def gradient(*gs: tf.Tensor) -> list[tf.Tensor]:
    gs = gs[:-2]  # The moments' are none.
    by_y = mean_of([twice_norm.group_mean(g) for g in gs])
    by_hat = r * (mean_of([twice_norm.group_mean(g * c) for g, c in zip(gs, centered)])
                  - left * by_y)
    slope = factor * r * by_hat
    shift = left * slope - factor * by_y
    return [*(factor * g - (slope * c - shift) for g, c in zip(gs, centered)), n * by_hat, n * by_y]

  shift = offset - left * factor
  return (*(c * factor + shift for c in centered), mean + left, variance), gradient
