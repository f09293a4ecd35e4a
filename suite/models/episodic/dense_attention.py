# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The embedding of MAML++ high-end (Antoniou et al., 2020): dense blocks with channel attention.

A stem and stages of dense blocks. A block gates its input's channels (Hu et al., 2018: a sigmoid of
a linear layer of their means), computes F new channels by a 1x1 and a 3x3 convolution, and returns
both. A stage ends with 2x2 average pooling and a 1x1 convolution with the same number of channels.
Every convolution is followed by batch norm and LeakyReLU. The last maps are averaged to P x P.

Large maps are neither multiplied by their gates nor concatenated:
  * The channels of a stage remain in the parts in which they were computed. A gated mean is the
    gate times the mean, so all gates follow from the means of the parts.
  * A 1x1 convolution of gated channels is a matrix product with each image's own gated kernel.
  * Gates are applied after pooling, to a quarter of the pixels, and where S is even the means, too,
    are those of the pooled maps.

B images, S = H = W their size, C channels of the layer at hand, F filters.

The head of MAML++ high-end, adapted above its embedding, as pure functions of its weights.

Gated channels (see dense_attention.py), a 3x3 convolution with batch norm and LeakyReLU, 2x2 max
pooling, gated channels, the mean over all positions and a linear layer (Antoniou et al., 2020). As
in functional_conv4.py, which says why the results are equal, pooling precedes the LeakyReLU, and
the convolution's bias is stored but not added.

B codes of P x P positions and C channels; F filters, K classes. There is one norm: N = 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
import dataclasses

import numpy as np
import tensorflow as tf

from suite.models import precision
from suite.models.episodic import embedding
from suite.models.episodic import functional_conv4
from suite.models.episodic import kinks
from suite.models.episodic import twice_norm


class Stage:
  """Feature maps of a stage: parts [B, S, S, C_p] and the gates [B, C] of all their channels."""

  def __init__(self, x: tf.Tensor):
    self.parts, self._pooled = [x], [_pooled(x)]
    self.means = _means(x, self._pooled[0])
    self.gates = tf.ones_like(self.means)

  def gate(self, kernel: tf.Tensor, bias: tf.Tensor) -> None:
    """Multiplies every channel by its gate."""
    self.gates *= gate(self.means * self.gates, kernel, bias)

  def product(self, kernel: tf.Tensor) -> tf.Tensor:
    """1x1 convolution of the gated channels with kernel [C, F]: [B, S, S, F]."""
    kernels = tf.split(self.gates[:, :, None] * kernel, [x.shape[-1] for x in self.parts], axis=1)
    every = []
    for x, gated in zip(self.parts, kernels):
      batch, height, width, channels = x.shape
      y = precision.matmul(tf.reshape(x, [batch, height * width, channels]), gated)
      every.append(tf.reshape(y, [batch, height, width, -1]))
    return every[0] if len(every) == 1 else tf.add_n(every)

  def add(self, x: tf.Tensor) -> None:
    """Adds channels [B, S, S, F], not gated yet."""
    self.parts.append(x)
    self._pooled.append(_pooled(x))
    mean = _means(x, self._pooled[-1])
    self.means = tf.concat([self.means, mean], axis=1)
    self.gates = tf.concat([self.gates, tf.ones_like(mean)], axis=1)

  def pooled(self) -> tf.Tensor:
    """All gated channels, [B, S // 2, S // 2, C]."""
    return tf.concat(self._pooled, axis=-1) * self.gates[:, None, None]


def gate(means: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor) -> tf.Tensor:
  """Gates [B, C] in (0, 1) from the channels' means [B, C]."""
  return tf.sigmoid(tf.matmul(means, kernel) + bias)


def adaptive_average(x: tf.Tensor, size: int) -> tf.Tensor:
  """[B, H, W, C] -> [B, P, P, C]: row i averages rows floor(i H / P) to ceil((i + 1) H / P) - 1."""
  batch, height, width, channels = x.shape
  averages = []  # Of rows, then of columns: [P, length], row i averages window i.
  for length in (height, width):
    windows = np.zeros([size, length])
    for i in range(size):
      first, last = i * length // size, -(-(i + 1) * length // size)
      windows[i, first:last] = 1.0 / (last - first)
    averages.append(tf.constant(windows, x.dtype))
  rows, columns = averages
  if height != size:
    x = tf.matmul(rows, tf.reshape(x, [batch, height, width * channels]))
  if width != size:
    x = tf.matmul(columns, tf.reshape(x, [batch * size, width, channels]))
  return tf.reshape(x, [batch, size, size, channels])


def _pooled(x: tf.Tensor) -> tf.Tensor:
  return tf.nn.avg_pool2d(x, 2, 2, "VALID")


def _means(x: tf.Tensor, pooled: tf.Tensor) -> tf.Tensor:
  """The means [B, C] of maps [B, H, W, C] with these pooled maps, which hold all of even sizes."""
  whole = x if x.shape[1] % 2 or x.shape[2] % 2 else pooled
  # Rows first: in one go, equal numbers of flat regions are rounded the same way again and again.
  return tf.reduce_mean(tf.reduce_mean(whole, axis=2), axis=1)


@dataclasses.dataclass(frozen=True)
class DenseAttention:
  """The net, an `embedding.EmbeddingNet`.

  Attributes:
    filters: F, of the stem and of every block.
    stages: number of stages.
    blocks: number of blocks of each stage.
    size: P.
    pixel_range: values that the pixels 0 and 255 are mapped to, or "imagenet".
    dtype: float64 is slow and serves to check gradients.
  """

  filters: int = 64
  stages: int = 2
  blocks: int = 2
  size: int = 5
  pixel_range: functional_conv4.PixelRange = (-1.0, 1.0)
  dtype: str = "float32"

  def initial(self, seed: int, image_shape: Sequence[int]) -> dict[str, np.ndarray]:
    """Initial weights by Glorot's uniform rule.

    Returns:
      "stem/kernel" [3, 3, C, F]; "block1/gate/kernel" [C, C], ".../bias" [C], ".../narrow" [C, F],
      ".../wide" [3, 3, F, F] and so on; "transition1" [C, C] and so on.
    """
    height, width, channels = image_shape
    if min(height, width) < 2 ** self.stages:
      raise ValueError(f"Images of {height}x{width} pixels vanish in {self.stages} stages, each of "
                       f"which halves them; use at least {2 ** self.stages}x{2 ** self.stages} "
                       "pixels or fewer stages.")
    rng, filters = np.random.default_rng(seed), self.filters
    weights = {"stem/kernel": functional_conv4.glorot(rng, 3, 3, channels, filters)}
    for stage, blocks, channels in self._plan():
      for block, inputs in blocks:
        weights[f"{block}/gate/kernel"] = functional_conv4.glorot(rng, inputs, inputs)
        weights[f"{block}/gate/bias"] = np.zeros([inputs])
        weights[f"{block}/narrow"] = functional_conv4.glorot(rng, inputs, filters)
        weights[f"{block}/wide"] = functional_conv4.glorot(rng, 3, 3, filters, filters)
      weights[stage] = functional_conv4.glorot(rng, channels, channels)
    return weights

  def norm_sizes(self, image_shape: Sequence[int]) -> list[int]:
    del image_shape
    sizes = [self.filters]
    for _, blocks, channels in self._plan():
      sizes += [self.filters] * 2 * len(blocks) + [channels]
    return sizes

  def features(self, weights: embedding.Weights, images: tf.Tensor,
               normalize: embedding.Normalize) -> tf.Tensor:
    """Computes features: [B, H, W, C] -> [B, P, P, F * (1 + stages * blocks)]."""
    return twice_norm.finish(self.passing(weights, images), normalize)

  def passing(self, weights: embedding.Weights, images: tf.Tensor) -> twice_norm.Pass:
    """The pass of `features`, which stops at each norm."""
    if twice_norm.folds(weights["stem/kernel"]):
      values, offset = yield twice_norm.Convolution(images, weights["stem/kernel"])
      x = kinks.rectify(values + offset)
    else:
      x = kinks.rectify((yield precision.conv2d(images, weights["stem/kernel"])))
    for transition, blocks, _ in self._plan():
      maps = Stage(x)
      for block, _ in blocks:
        maps.gate(weights[f"{block}/gate/kernel"], weights[f"{block}/gate/bias"])
        y = kinks.rectify((yield maps.product(weights[f"{block}/narrow"])))
        maps.add(kinks.rectify((yield precision.conv2d(y, weights[f"{block}/wide"]))))
      x = kinks.rectify((yield precision.conv2d(maps.pooled(), weights[transition][None, None])))
    return adaptive_average(x, self.size)

  def prepare(self, images: tf.Tensor) -> tf.Tensor:
    """Scales pixels 0..255 of any type to floats in `pixel_range`."""
    return functional_conv4.scaled(images, self.pixel_range, self.dtype)

  def _plan(self) -> Iterator[tuple[str, list[tuple[str, int]], int]]:
    """Yields per stage: the transition's name, (name, input channels) of the blocks, and C."""
    channels, number = self.filters, 0
    for stage in range(1, self.stages + 1):
      blocks = []
      for _ in range(self.blocks):
        number += 1
        blocks.append((f"block{number}", channels))
        channels += self.filters
      yield f"transition{stage}", blocks, channels


Weights = functional_conv4.Weights


@dataclasses.dataclass(frozen=True)
class AttentionHead:
  """A net for an `InnerLoop`.

  Attributes:
    filters: F.
    dtype: float64 is slow and serves to check gradients.
  """

  filters: int = 48
  dtype: str = "float32"

  def initial(self, seed: int, image_shape: Sequence[int], num_classes: int
              ) -> dict[str, np.ndarray]:
    """Initial weights for codes (P, P, C) by Glorot's uniform rule, biases 0.

    Returns:
      "gate/kernel" [C, C], "gate/bias" [C], "conv/kernel" [3, 3, C, F], "conv/bias" [F],
      "late_gate/kernel" [F, F], "late_gate/bias" [F], "head/kernel" [F, K], "head/bias" [K].
    """
    height, width, channels = image_shape
    if min(height, width) < 2:
      raise ValueError(f"Codes of {height}x{width} positions are too small for the head's pooling; "
                       "the embedding must return at least 2x2 (DenseAttention.size).")
    rng, filters = np.random.default_rng(seed), self.filters
    kernels = {"gate": [channels, channels], "conv": [3, 3, channels, filters],
               "late_gate": [filters, filters], "head": [filters, num_classes]}
    weights = {}
    for layer, shape in kernels.items():
      weights[f"{layer}/kernel"] = functional_conv4.glorot(rng, *shape).astype(self.dtype)
      weights[f"{layer}/bias"] = np.zeros(shape[-1:], self.dtype)
    return weights

  def initial_norms(self, num_rows: int) -> functional_conv4.Norms:
    """Initial scales (1) and offsets (0), [R, 1, F] each, as arrays."""
    shape = [num_rows, 1, self.filters]
    return functional_conv4.Norms(np.ones(shape, self.dtype), np.zeros(shape, self.dtype))

  def prepare(self, images: tf.Tensor) -> tf.Tensor:
    """Returns the codes unchanged."""
    return tf.cast(images, self.dtype)

  def observe(self, weights: Weights, images: tf.Tensor, **_: int) -> tf.Tensor:
    """Returns the images: passes over them share nothing."""
    del weights
    return images

  def apply(self, weights: Weights, norms_row: functional_conv4.Norms, images: tf.Tensor,
            statistics: functional_conv4.Statistics | None = None) -> tf.Tensor:
    """Computes logits [B, K] of codes [B, P, P, C].

    Args:
      weights: by the names of `initial`.
      norms_row: scales and offsets, [1, F] each.
      images: the codes.
      statistics: moments to normalize with; None: those of the codes, as one batch.
    """
    x, scale, offset = _convolved(weights, images), norms_row.scale[0], norms_row.offset[0]
    if statistics is None:
      x = twice_norm.batch_norm(x, scale, offset)
    else:
      x = twice_norm.affine(x, statistics.mean[0], statistics.variance[0], scale, offset)
    x = kinks.rectify(kinks.max_pool(x))
    means = tf.reduce_mean(x, axis=(1, 2))
    # The mean of gated maps equals the gated mean.
    means *= gate(means, weights["late_gate/kernel"], weights["late_gate/bias"])
    return tf.matmul(means, weights["head/kernel"]) + weights["head/bias"]

  def measure(self, weights: Weights, norms_row: functional_conv4.Norms, images: tf.Tensor
              ) -> functional_conv4.Statistics:
    """Moments [1, F] with which `apply` normalizes these codes as one batch."""
    del norms_row
    mean, variance = twice_norm.moments(_convolved(weights, images))
    return functional_conv4.Statistics(mean[None], variance[None])


def _convolved(weights: Weights, codes: tf.Tensor) -> tf.Tensor:
  gates = gate(
      tf.reduce_mean(codes, axis=(1, 2)), weights["gate/kernel"], weights["gate/bias"])
  return precision.conv2d(codes * gates[:, None, None], weights["conv/kernel"])
