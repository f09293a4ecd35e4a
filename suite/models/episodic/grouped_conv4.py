# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The four-block nets of several episodes as one net of grouped convolutions.

Each episode adapts its own weights, so E episodes need E kernels a layer. Along the channels they
are one kernel of E groups: episode e has the channels e * C ... e * C + C - 1 of every tensor.
Norms and pooling work on channels one by one, so they are those of `functional_conv4`; the last
layer is a product of E matrices. An `inner_loop.InnerLoop` takes it as any other net, with two
differences:

  * Labels are [B, E] and logits [B, E, K], so a mean loss is that of all episodes; `folded`
    multiplies the inner rates by E, and each episode takes the step of its own mean loss.
  * The weights are E copies side by side; a meta-gradient sums over them.

B images, H x W positions, C channels, F filters, K classes, N blocks.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import tensorflow as tf

from suite.models.episodic import functional_conv4

Weights = functional_conv4.Weights


@dataclasses.dataclass(frozen=True)
class GroupedConv4:
  """E nets side by side.

  Attributes:
    net: the net of one episode.
    groups: E.
  """

  net: functional_conv4.Conv4
  groups: int

  @property
  def dtype(self) -> str:
    """The type of weights and images."""
    return self.net.dtype

  def folded(self, parameters: Any) -> Any:
    """Returns `inner_loop.Parameters` of one episode, repeated for E."""
    norms = parameters.norms
    return parameters._replace(
        weights={name: self._repeated(value) for name, value in parameters.weights.items()},
        rates=self.groups * parameters.rates,
        norms=type(norms)(*map(self._repeated, norms)))

  def folded_images(self, images: tf.Tensor) -> tf.Tensor:
    """Returns images [E, ..., H, W, C] of episodes as [..., H, W, E * C]."""
    rank = len(images.shape)
    images = tf.transpose(images, [*range(1, rank - 1), 0, rank - 1])
    return tf.reshape(images, [*images.shape[:-2], self.groups * images.shape[-1]])

  def folded_labels(self, labels: tf.Tensor) -> tf.Tensor:
    """Returns labels [E, ...] of episodes as [..., E]."""
    return tf.transpose(labels, [*range(1, len(labels.shape)), 0])

  def observe(self, weights: Weights, images: tf.Tensor, *, twice: bool = True,
              as_batch: bool = True, parts: int = 1) -> functional_conv4.Observed:
    """Returns images [B, H, W, E * C] for several passes over them."""
    return functional_conv4.observe(weights, images, twice=twice, as_batch=as_batch, parts=parts)

  def apply(self, weights: Weights, norms_row: functional_conv4.Norms,
            images: functional_conv4.Images,
            statistics: functional_conv4.Statistics | None = None) -> tf.Tensor:
    """Computes logits [B, E, K] of images [B, H, W, E * C]."""
    features = functional_conv4.features(weights, norms_row, images, statistics)
    size, groups = features.shape[0], self.groups
    width = weights["block1/kernel"].shape[-1] // groups
    by_episode = tf.transpose(tf.reshape(features, [size, -1, groups, width]), [2, 0, 1, 3])
    kernel = weights["head/kernel"]
    kernels = tf.transpose(tf.reshape(kernel, [kernel.shape[0], groups, -1]), [1, 0, 2])
    logits = tf.matmul(tf.reshape(by_episode, [groups, size, kernel.shape[0]]), kernels)
    return tf.transpose(logits, [1, 0, 2]) + tf.reshape(weights["head/bias"], [groups, -1])

  def measure(self, weights: Weights, norms_row: functional_conv4.Norms,
              images: functional_conv4.Images) -> functional_conv4.Statistics:
    """Computes the statistics [N, E * F] of the episodes' images, each by itself."""
    return functional_conv4.measure(weights, norms_row, images)

  def _repeated(self, value: tf.Tensor) -> tf.Tensor:
    """Returns a tensor [..., F] as [..., E * F]."""
    return tf.tile(value, [*[1] * (len(value.shape) - 1), self.groups])
