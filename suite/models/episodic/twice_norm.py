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

Batch norm of a net's first convolution, folded into its kernel.

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

Batch norm of a batch that is held in parts, so that each part is computed by another core.

A net of one small batch is a chain of operations, and TensorFlow runs one after the other. In two
parts of the batch it is two chains, which meet only where a norm needs the moments of all images.
The moments are exact as those of `twice_norm`; so is the first derivative, and TensorFlow
differentiates it further where that is asked for. For one channel of n numbers x in all parts, with
r = 1 / sqrt(var + epsilon), x^ = (x - mean) r, g = dL/dy and < > the mean over the n numbers,

  dx = scale r (g - <g> - x^ <g x^>)      dscale = n <g x^>      doffset = n <g>

P parts of B_p images, H x W positions, F channels.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
import contextlib
import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import tensorflow as tf

from suite.compute import own_gradients
from suite.models import norms
from suite.models import precision

_NO_THIRD = ("The batch norm of suite.models.episodic.twice_norm has no third derivative; use "
             "float64, where one is needed.")
_for_xla = [False]
SMALLEST = 8  # Images; smaller parts cost more in operations than a second core gains.


@contextlib.contextmanager
def for_xla() -> Iterator[None]:
  """Traces graphs that XLA compiles: without an operation that it has no kernel for."""
  before, _for_xla[0] = _for_xla[0], True
  try:
    yield
  finally:
    _for_xla[0] = before


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
  if _for_xla[0]:
    return tf.reduce_mean(tf.reduce_sum(tf.square(groups), 1), 0) / float(groups.shape[1])
  lengths = tf.raw_ops.EuclideanNorm(input=groups, axis=[1])  # Squares and adds in one pass.
  return tf.reduce_mean(tf.square(lengths), 0) / float(groups.shape[1])


def _groups(x: tf.Tensor) -> tf.Tensor:
  """[B, H, W, F] -> [G, n / G, F], groups of consecutive numbers; G is about sqrt(n)."""
  n = math.prod(x.shape[:3])
  groups = next(k for k in range(math.isqrt(n), 0, -1) if n % k == 0)
  return tf.reshape(x, [groups, n // groups, x.shape[3]])


def _on_gpu() -> bool:
  return bool(tf.config.list_logical_devices("GPU"))


def _forward(x: tf.Tensor, scale: tf.Tensor, offset: tf.Tensor, epsilon: float) -> Any:
  """((y, mean, variance), the function of their gradients), for `own_gradients.custom_gradient`."""
  n, empty = float(math.prod(x.shape[:3])), tf.constant([], tf.float32)
  if _on_gpu():
    y, mean, variance, *reserved = tf.raw_ops.FusedBatchNormV3(
        x=x, scale=scale, offset=offset, mean=empty, variance=empty, epsilon=epsilon,
        is_training=True)
    variance *= (n - 1.0) / n  # The kernel's divides by n - 1.
  else:
    centered, mean = _centered(x)
    left = group_mean(centered)
    variance = group_mean_square(centered) - tf.square(left)
    factor = scale * tf.math.rsqrt(variance + epsilon)
    y, mean, reserved = (centered * factor + (offset - left * factor), mean + left,
                         [mean + left, variance, empty])
  r = tf.math.rsqrt(variance + epsilon)

  def kernel(g: tf.Tensor) -> Any:
    """(dx, dscale, doffset)."""
    return tf.raw_ops.FusedBatchNormGradV3(
        y_backprop=g, x=x, scale=scale, reserve_space_1=reserved[0], reserve_space_2=reserved[1],
        reserve_space_3=reserved[2], epsilon=epsilon, is_training=True)[:3]

  @own_gradients.custom_gradient
  def first(g: tf.Tensor, x: tf.Tensor, scale: tf.Tensor) -> Any:
    dx, dscale, doffset = kernel(g)

    def second(v: tf.Tensor, p: tf.Tensor, q: tf.Tensor) -> list[tf.Tensor]:
      """Gradients for g, x and scale, by the formulas and names of the module."""
      by_v = kernel(v)
      s1, s2, t1, t2 = doffset / n, dscale / n, by_v[2] / n, by_v[1] / n
      c = scale * r
      spread = group_mean(v * g) - s1 * t1 - s2 * t2  # Q
      by_hat = p * s2 - 2.0 * c * s2 * t2 + c * spread
      e = p * s1 - c * (s1 * t2 + s2 * t1)
      # x^ = r x - r mean, so every line is an affine function of whole tensors, channel by channel.
      for_g = by_v[0] + (x * (p * r) + (q - p * r * mean))
      for_x = g * (r * (p - c * t2)) - v * (r * c * s2) - (
          x * (r * r * by_hat) + r * (e - r * mean * by_hat))
      return [tf.raw_ops.PreventGradient(input=part, message=_NO_THIRD)
              for part in (for_g, for_x, r * n * spread)]

    return (dx, dscale, doffset), second

  return (y, mean, variance), lambda g, *_: first(g, x, scale)


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


def permuted(x: tf.Tensor, order: Sequence[int]) -> tf.Tensor:
  """`tf.transpose` with constant orders in the gradients of all orders, too.

  TensorFlow inverts the order in the graph of a gradient, and a loop that is differentiated again
  hands that on as a value of each trip: XLA compiles no such transposition.
  """
  back = [int(i) for i in np.argsort(order)]

  @own_gradients.custom_gradient
  def transpose(x: tf.Tensor) -> Any:
    return tf.transpose(x, order), lambda upstream: permuted(upstream, back)

  return transpose(x)


def observe(images: tf.Tensor) -> Patches:
  """Returns the moments of the patches of images [B, H, W, G] as one batch."""
  height, width, groups = images.shape[1:]
  padded = tf.pad(tf.cast(images, tf.float64), [[0, 0], [1, 1], [1, 1], [0, 0]])
  taps = [padded[:, i:i + height, j:j + width] for i in range(3) for j in range(3)]
  every = tf.reshape(permuted(tf.stack(taps), [4, 0, 1, 2, 3]), [groups, 9, -1])
  mean = tf.reduce_mean(every, 2)
  centered = every - mean[:, :, None]
  return Patches(mean, tf.matmul(centered, centered, transpose_b=True) / every.shape[2])


def patch_moments(patches: Patches, kernel: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
  """Returns the mean and variance [F] of the convolution by a kernel [3, 3, 1, F]."""
  groups, filters = patches.mean.shape[0], kernel.shape[3]
  columns = tf.reshape(tf.cast(kernel, tf.float64), [-1, groups, filters // groups])
  columns = permuted(columns, [1, 0, 2])  # [G, 9, F / G]
  mean = tf.matmul(patches.mean[:, None], columns)
  variance = tf.reduce_sum(columns * tf.matmul(patches.covariance, columns), 1)
  return tuple(tf.cast(tf.reshape(m, [filters]), kernel.dtype) for m in (mean, variance))


def normalized(images: tf.Tensor, kernel: tf.Tensor, mean: tf.Tensor, variance: tf.Tensor,
               scale: tf.Tensor, offset: tf.Tensor, epsilon: float = norms.EPSILON) -> Shifted:
  """Returns the convolution of images, normalized by moments, scale and offset [F]."""
  factor = scale * tf.math.rsqrt(variance + epsilon)
  return Shifted(precision.conv2d(images, kernel * factor), offset - mean * factor)


def with_patch_moments(parts: Sequence[Convolution], scale: tf.Tensor, offset: tf.Tensor,
                 epsilon: float = norms.EPSILON) -> tuple[list[Shifted], tf.Tensor, tf.Tensor]:
  """Batch norm of one convolution of several parts of a batch, as `norm_with_moments_of_parts`.

  The mean and variance [F] that it returns, too, have no gradient.
  """
  if scale.dtype == tf.float32:
    epsilon = max(epsilon, norms.EPSILON)  # As `twice_norm`.
  patches = observe(tf.concat([part.images for part in parts], 0))  # Small beside the output.
  mean, variance = patch_moments(patches, parts[0].kernel)
  shifted = [normalized(*part, mean, variance, scale, offset, epsilon) for part in parts]
  return shifted, tf.stop_gradient(mean), tf.stop_gradient(variance)


# A pass of a net over images: it yields what goes into each norm, is sent what comes out, and
# returns the features. Where `twice_norm.folds`, it yields the convolution that goes into the norm,
# and is sent a `twice_norm.Shifted`.
Asked: TypeAlias = tf.Tensor | Convolution
Given: TypeAlias = tf.Tensor | Shifted
Pass = Generator[Asked, Given, tf.Tensor]


def split(images: tf.Tensor, parts: int) -> list[tf.Tensor]:
  """Returns images [B, ...] in up to `parts` parts of at least `SMALLEST`.

  They stay whole in float64, whose moments TensorFlow differentiates, and where a GPU computes.
  """
  size = images.shape[0]
  parts = min(parts, size // SMALLEST)
  if parts < 2 or images.dtype != tf.float32 or _on_gpu():
    return [images]
  return tf.split(images, [size // parts + (i < size % parts) for i in range(parts)])


def finish(steps: Pass, normalize: Callable[[tf.Tensor], tf.Tensor]) -> tf.Tensor:
  """Returns the features of one pass, with `normalize` of tensors for its norms in turn."""
  def of_one(xs: list[Asked]) -> list[Given]:
    x, = xs
    if not isinstance(x, Convolution):
      return [normalize(x)]
    y = normalize(x.result())
    return [Shifted(y, tf.zeros(y.shape[-1:], y.dtype))]

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


def norm_with_moments_of_parts(xs: Sequence[tf.Tensor], scale: tf.Tensor, offset: tf.Tensor,
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
  counts = [float(math.prod(x.shape[:3])) for x in xs]
  shares, n = [count / sum(counts) for count in counts], sum(counts)

  def mean_of(parts: Sequence[tf.Tensor]) -> tf.Tensor:
    return tf.add_n([share * part for share, part in zip(shares, parts)])

  @own_gradients.custom_gradient
  def forward(*arguments: tf.Tensor) -> Any:
    """((*ys, mean, variance), the function of their gradients)."""
    *xs, scale, offset = arguments
    mean = mean_of([group_mean(x) for x in xs])
    centered = [x - mean for x in xs]
    left = mean_of([group_mean(c) for c in centered])
    variance = mean_of([group_mean_square(c) for c in centered]) - tf.square(left)
    r = tf.math.rsqrt(variance + epsilon)
    factor = scale * r

    def gradient(*gs: tf.Tensor) -> list[tf.Tensor]:
      gs = gs[:-2]  # The moments' are none.
      by_y = mean_of([group_mean(g) for g in gs])
      by_hat = r * (mean_of([group_mean(g * c) for g, c in zip(gs, centered)])
                    - left * by_y)
      slope = factor * r * by_hat
      shift = left * slope - factor * by_y
      return [*(factor * g - (slope * c - shift) for g, c in zip(gs, centered)),
              n * by_hat, n * by_y]

    shift = offset - left * factor
    return (*(c * factor + shift for c in centered), mean + left, variance), gradient

  ys = forward(*xs, scale, offset)
  return list(ys[:-2]), ys[-2], ys[-1]
