# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The head of MAML++ high-end, adapted above its embedding, as pure functions of its weights.

Gated channels (see dense_attention.py), a 3x3 convolution with batch norm and LeakyReLU, 2x2 max
pooling, gated channels, the mean over all positions and a linear layer (Antoniou et al., 2020). As
in functional_conv4.py, which says why the results are equal, pooling precedes the LeakyReLU, and
the convolution's bias is stored but not added.

B codes of P x P positions and C channels; F filters, K classes. There is one norm: N = 1.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses

import numpy as np
import tensorflow as tf

from suite.models import precision
from suite.models.episodic import dense_attention
from suite.models.episodic import functional_conv4
from suite.models.episodic import kinks
from suite.models.episodic import twice_norm

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
    means *= dense_attention.gate(means, weights["late_gate/kernel"], weights["late_gate/bias"])
    return tf.matmul(means, weights["head/kernel"]) + weights["head/bias"]

  def measure(self, weights: Weights, norms_row: functional_conv4.Norms, images: tf.Tensor
              ) -> functional_conv4.Statistics:
    """Moments [1, F] with which `apply` normalizes these codes as one batch."""
    del norms_row
    mean, variance = twice_norm.moments(_convolved(weights, images))
    return functional_conv4.Statistics(mean[None], variance[None])


def _convolved(weights: Weights, codes: tf.Tensor) -> tf.Tensor:
  gates = dense_attention.gate(
      tf.reduce_mean(codes, axis=(1, 2)), weights["gate/kernel"], weights["gate/bias"])
  return precision.conv2d(codes * gates[:, None, None], weights["conv/kernel"])
