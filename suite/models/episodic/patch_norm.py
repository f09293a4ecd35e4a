# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Batch norm of a net's first convolution, folded into its kernel.

A channel of a convolution is w . p, where p is the patch of the images around a position and w the
channel's kernel. So its moments over all positions are those of the patches, projected:

  mean = w . <p>      variance = w' Cov(p) w

and the normalized channel is a convolution by scale r w, plus offset - scale r mean, with
r = 1 / sqrt(variance + epsilon). Nothing passes over the convolution's output, the largest array of
the net, neither forward nor for a first or second derivative: these pass through w alone. Patches
of 3x3 pixels of one channel have small moments, and an inner loop needs those of its images once
for all of its steps. They are computed in float64, so that rounding in flat regions, which
`twice_norm` tells of, does not matter.

B images, H x W positions, F filters; G groups of a grouped convolution, each of one channel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import tensorflow as tf

from suite.models import norms
from suite.models import precision


class Patches(NamedTuple):
  """Moments of the 3x3 patches of images, zeros around these included, in float64.

  Attributes:
    mean: [G, 9].
    covariance: [G, 9, 9].
  """

  mean: tf.Tensor
  covariance: tf.Tensor


class Convolution(NamedTuple):
  """A convolution by a kernel [3, 3, 1, F] of images [B, H, W, 1] that a norm follows."""

  images: tf.Tensor
  kernel: tf.Tensor

  def result(self) -> tf.Tensor:
    """Returns the convolved images, [B, H, W, F]."""
    return precision.conv2d(self.images, self.kernel)


class Shifted(NamedTuple):
  """Normalized values in two parts: `values` [B, H, W, F] + `offset` [F].

  The offset is added where that costs least, such as behind a pooling.
  """

  values: tf.Tensor
  offset: tf.Tensor


def folds(kernel: tf.Tensor) -> bool:
  """Whether the norm of a convolution by a kernel [h, w, C / G, F] is folded: 3x3, of one channel.

  Moments of patches of more channels cost more than they save.
  """
  return tuple(kernel.shape[:3]) == (3, 3, 1)


def observe(images: tf.Tensor) -> Patches:
  """Returns the moments of the patches of images [B, H, W, G] as one batch."""
  height, width, groups = images.shape[1:]
  padded = tf.pad(tf.cast(images, tf.float64), [[0, 0], [1, 1], [1, 1], [0, 0]])
  taps = [padded[:, i:i + height, j:j + width] for i in range(3) for j in range(3)]
  every = tf.reshape(tf.transpose(tf.stack(taps), [4, 0, 1, 2, 3]), [groups, 9, -1])
  mean = tf.reduce_mean(every, 2)
  centered = every - mean[:, :, None]
  return Patches(mean, tf.matmul(centered, centered, transpose_b=True) / every.shape[2])


def moments(patches: Patches, kernel: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
  """Returns the mean and variance [F] of the convolution by a kernel [3, 3, 1, F]."""
  groups, filters = patches.mean.shape[0], kernel.shape[3]
  columns = tf.reshape(tf.cast(kernel, tf.float64), [-1, groups, filters // groups])
  columns = tf.transpose(columns, [1, 0, 2])  # [G, 9, F / G]
  mean = tf.matmul(patches.mean[:, None], columns)
  variance = tf.reduce_sum(columns * tf.matmul(patches.covariance, columns), 1)
  return tuple(tf.cast(tf.reshape(m, [filters]), kernel.dtype) for m in (mean, variance))


def normalized(images: tf.Tensor, kernel: tf.Tensor, mean: tf.Tensor, variance: tf.Tensor,
               scale: tf.Tensor, offset: tf.Tensor, epsilon: float = norms.EPSILON) -> Shifted:
  """Returns the convolution of images, normalized by moments, scale and offset [F]."""
  factor = scale * tf.math.rsqrt(variance + epsilon)
  return Shifted(precision.conv2d(images, kernel * factor), offset - mean * factor)


def with_moments(parts: Sequence[Convolution], scale: tf.Tensor, offset: tf.Tensor,
                 epsilon: float = norms.EPSILON) -> tuple[list[Shifted], tf.Tensor, tf.Tensor]:
  """Batch norm of one convolution of several parts of a batch, as `norm_of_parts.with_moments`.

  The mean and variance [F] that it returns, too, have no gradient.
  """
  if scale.dtype == tf.float32:
    epsilon = max(epsilon, norms.EPSILON)  # As `twice_norm`.
  patches = observe(tf.concat([part.images for part in parts], 0))  # Small beside the output.
  mean, variance = moments(patches, parts[0].kernel)
  shifted = [normalized(*part, mean, variance, scale, offset, epsilon) for part in parts]
  return shifted, tf.stop_gradient(mean), tf.stop_gradient(variance)
