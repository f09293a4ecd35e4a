# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Clusters of cell features, and embeddings whose nets see their distances to them.

A cell is a position of a feature map. Its feature u, a direction, belongs to the clusters k of a
layer by soft assignments, and the centers follow as in mini-batch k-means (Xu et al., 2021, section
3, after Sculley, 2010):

    s_k = u . v_k / |v_k|                         what the net sees of a cell
    m_k = softmax over k of sharpness * s_k
    v_k <- (n_k v_k + sum over cells of m_k u) / (n_k + sum of m_k);  n_k <- n_k + sum of m_k

so a center is the weighted mean of all cells so far, and moves less and less. Centers have no
gradient; the net has one through u. They move after an update of the net, by the cells of all its
images, as the running statistics of norms do.

B images, H x W cells, F channels, N layers with K clusters each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from suite.models.episodic import embedding


def similarities(cells: tf.Tensor, centers: tf.Tensor) -> tf.Tensor:
  """s [B, H, W, K] of cells [B, H, W, F] and centers [K, F]."""
  directions = tf.math.l2_normalize(cells, axis=-1)
  return tf.einsum("bhwf,kf->bhwk", directions, tf.math.l2_normalize(centers, axis=-1))


def sums(cells: tf.Tensor, found: tf.Tensor, sharpness: float) -> tuple[tf.Tensor, tf.Tensor]:
  """Sums of m u [K, F] and of m [K] over cells [B, H, W, F] with similarities [B, H, W, K]."""
  shares = tf.nn.softmax(sharpness * found)
  directions = tf.math.l2_normalize(cells, axis=-1)
  return tf.einsum("bhwk,bhwf->kf", shares, directions), tf.reduce_sum(shares, axis=[0, 1, 2])


def moved(centers: tf.Tensor, counts: tf.Tensor, total: tf.Tensor, number: tf.Tensor) -> tf.Tensor:
  """Centers [..., K, F] of counts [..., K], after cells with these sums [..., K, F], [..., K]."""
  return (counts[..., None] * centers + total) / (counts + number)[..., None]


class ClusteredEmbedding(embedding.Embedding):
  """An `Embedding` of a net that sees distances to clusters, such as `ConstellationConv4`.

  The net has `initial_centers(seed)`, float [N, K, F], and its `features` take `cluster`, a
  function of cells [B, H, W, F] to similarities [B, H, W, K], called once a layer.

  Args:
    net: the net. momentum: of norms, see `Embedding`.
    sharpness: of the assignments, 100 in the authors' code.
  """

  def __init__(self, net: Any, *, momentum: float = 0.9, sharpness: float = 100.0):
    super().__init__(net, momentum=momentum)
    if not sharpness > 0:
      raise ValueError(f"ClusteredEmbedding.sharpness is {sharpness}; it must be above 0.")
    if not hasattr(net, "initial_centers"):
      raise ValueError(f"ClusteredEmbedding.net is {type(net).__name__}, which has no clusters; "
                       "give it a ConstellationConv4, or take Embedding.")
    self._sharpness, self._initial_centers = sharpness, net.initial_centers

  def make(self, seed: int, image_shape: Sequence[int]) -> None:
    super().make(seed, image_shape)
    kept: dict[str, Any] = dict(trainable=False, aggregation=tf.VariableAggregation.MEAN)
    first = self._initial_centers(seed)
    self.centers = tf.Variable(first, dtype=self._net.dtype, name="centers", **kept)
    self.counts = tf.Variable(
        tf.ones(first.shape[:2], self._net.dtype), name="cell_counts", **kept)

  def train(self, images: tf.Tensor, **layers: Any) -> tuple[tf.Tensor, embedding.Seen]:
    """As `Embedding.train`; the statistics have the sums of cells, too."""
    centers, found = iter(tf.unstack(self.centers)), []

    def cluster(cells: tf.Tensor) -> tf.Tensor:
      near = similarities(cells, next(centers))
      found.append(sums(tf.stop_gradient(cells), tf.stop_gradient(near), self._sharpness))
      return near

    features, seen = super().train(images, cluster=cluster, **layers)
    return features, seen._replace(cells=tuple(tf.stack(parts) for parts in zip(*found)))

  def encode(self, images: tf.Tensor, **layers: Any) -> tf.Tensor:
    centers = iter(tf.unstack(self.centers))
    return super().encode(
        images, cluster=lambda cells: similarities(cells, next(centers)), **layers)

  def zero_statistics(self) -> embedding.Seen:
    return super().zero_statistics()._replace(
        cells=(tf.zeros_like(self.centers), tf.zeros_like(self.counts)))

  def update_statistics(self, seen: embedding.Seen) -> None:
    """Moves the running statistics and the centers."""
    super().update_statistics(seen)
    total, number = seen.cells
    self.centers.assign(moved(self.centers, self.counts, total, number))
    self.counts.assign(self.counts + number)
