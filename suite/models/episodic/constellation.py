# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The four-block net of ConstellationNet (Xu et al., 2021), for `constellation.ClusteredEmbedding`.

A block is a 3x3 convolution; similarities of the cells of its output to K clusters; in the last
blocks a layer of self-attention over the cells on these; a 1x1 convolution of both outputs; batch
norm, ReLU and 2x2 max pooling. Features are the mean over the cells of the last block.

Self-attention is that of the authors' code, without its dropout: queries and keys are similarities
plus sines and cosines of the cell's place, values are similarities; several heads; a sum with the
input and a layer norm; two dense layers, a sum and a layer norm.

B images, H x W cells, C channels, F filters, K clusters, N blocks.

Clusters of cell features, and embeddings whose nets see their distances to them.

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

from collections.abc import Callable, Sequence
import dataclasses
import math
from typing import Any

import numpy as np
import tensorflow as tf

from suite.models import precision
from suite.models.episodic import embedding
from suite.models.episodic import functional_call
from suite.models.episodic import functional_conv4
from suite.models.episodic import kinks

_NORM_EPSILON = 1e-5  # PyTorch's layer norm.
_DENSE = ("query", "key", "value", "merge_heads", "hidden", "output")


@dataclasses.dataclass(frozen=True)
class ConstellationConv4:
  """The net; see the module.

  Attributes:
    filters: F.
    blocks: N.
    clusters: K, a multiple of `heads` and of 4.
    attended: number of last blocks that have self-attention; the others have clusters alone.
    heads: of the self-attention.
    pixel_range: values that the pixels 0 and 255 are mapped to, or "imagenet".
    dtype: float64 is slow and serves to check gradients.
  """

  filters: int = 64
  blocks: int = 4
  clusters: int = 64
  attended: int = 2
  heads: int = 8
  pixel_range: functional_conv4.PixelRange = (-1.0, 1.0)
  dtype: str = "float32"

  def __post_init__(self):
    if self.clusters % self.heads or self.clusters % 4:
      raise ValueError(f"ConstellationConv4.clusters is {self.clusters}; it must be a multiple of "
                       f"heads, {self.heads}, and of 4.")
    if not 0 <= self.attended <= self.blocks:
      raise ValueError(f"ConstellationConv4.attended is {self.attended}; allowed are 0 to "
                       f"{self.blocks} blocks.")

  def initial(self, seed: int, image_shape: Sequence[int]) -> dict[str, np.ndarray]:
    """Initial weights "block1/kernel" [3, 3, C, F], "block1/merge" [F + K, F], ... .

    Convolutions are normal, of variance 2 / (window * F); dense layers uniform within 1 / sqrt(K).
    """
    height, width, channels = image_shape
    if min(height, width) < 2 ** self.blocks:
      raise ValueError(f"Images of {height}x{width} pixels vanish in {self.blocks} blocks, each of "
                       f"which halves them; use at least {2 ** self.blocks}x{2 ** self.blocks} "
                       "pixels or fewer blocks.")
    rng, weights = np.random.default_rng(seed), {}
    for block in range(1, self.blocks + 1):
      name = f"block{block}"
      spread = math.sqrt(2.0 / self.filters)
      weights[f"{name}/kernel"] = rng.normal(0.0, spread / 3, [3, 3, channels, self.filters])
      weights[f"{name}/merge"] = rng.normal(
          0.0, spread, [self.filters + self.clusters, self.filters])
      if block > self.blocks - self.attended:  # The block has self-attention.
        size, limit = self.clusters, 1.0 / math.sqrt(self.clusters)
        for layer in _DENSE:
          weights[f"{name}/{layer}/kernel"] = rng.uniform(-limit, limit, [size, size])
          weights[f"{name}/{layer}/bias"] = rng.uniform(-limit, limit, [size])
        for norm in ("norm1", "norm2"):
          weights[f"{name}/{norm}/scale"] = np.ones([size])
          weights[f"{name}/{norm}/offset"] = np.zeros([size])
      channels = self.filters
    return weights

  def initial_centers(self, seed: int) -> np.ndarray:
    """Initial cluster centers [N, K, F]: random directions."""
    drawn = np.random.default_rng([seed, 1]).normal(size=[self.blocks, self.clusters, self.filters])
    return drawn / np.linalg.norm(drawn, axis=-1, keepdims=True)

  def norm_sizes(self, image_shape: Sequence[int]) -> list[int]:
    del image_shape
    return [self.filters] * self.blocks

  def features(self, weights: embedding.Weights, images: tf.Tensor,
               normalize: embedding.Normalize, cluster: Callable[[tf.Tensor], tf.Tensor]
               ) -> tf.Tensor:
    """Computes features [B, F] of prepared images; `cluster`: see `ClusteredEmbedding`."""
    x = images
    for block in range(1, self.blocks + 1):
      name = f"block{block}"
      x = precision.conv2d(x, weights[f"{name}/kernel"])
      near = cluster(x)
      if f"{name}/query/kernel" in weights:
        near = self_attention(weights, name, near, self.heads)
      x = tf.einsum("bhwc,cf->bhwf", tf.concat([x, near], -1), weights[f"{name}/merge"])
      x = kinks.rectify(kinks.max_pool(normalize(x)), leak=0.0)
    return tf.reduce_mean(x, axis=[1, 2])

  def prepare(self, images: tf.Tensor) -> tf.Tensor:
    """Scales pixels 0..255 of any type to floats in `pixel_range`."""
    return functional_conv4.scaled(images, self.pixel_range, self.dtype)


def self_attention(weights: embedding.Weights, name: str, cells: tf.Tensor, heads: int
                   ) -> tf.Tensor:
  """Cells [B, H, W, K] after a layer of self-attention; see the module.

  Args:
    weights: with `name` before "/query/kernel" [K, K] and so on.
    name: of the block. cells: of any K that `heads` divides. heads: their number.
  """
  _, height, width, size = cells.shape
  place = tf.constant(positions(height, width, size), cells.dtype)

  def dense(x: tf.Tensor, layer: str) -> tf.Tensor:
    kernel, bias = (weights[f"{name}/{layer}/{part}"] for part in ("kernel", "bias"))
    return tf.einsum("bnk,kl->bnl", x, kernel) + bias

  def split(x: tf.Tensor) -> tf.Tensor:
    return tf.reshape(x, [-1, height * width, heads, size // heads])

  def normed(x: tf.Tensor, layer: str) -> tf.Tensor:
    return layer_norm(x, weights[f"{name}/{layer}/scale"], weights[f"{name}/{layer}/offset"])

  x = tf.reshape(cells, [-1, height * width, size])
  placed = tf.reshape(cells + place, [-1, height * width, size])
  scores = tf.einsum("bnhd,bmhd->bhnm", split(dense(placed, "query")), split(dense(placed, "key")))
  shares = tf.nn.softmax(scores / math.sqrt(size // heads))
  taken = tf.einsum("bhnm,bmhd->bnhd", shares, split(dense(x, "value")))
  x = normed(x + dense(tf.reshape(taken, [-1, height * width, size]), "merge_heads"), "norm1")
  x = normed(x + dense(tf.nn.relu(dense(x, "hidden")), "output"), "norm2")
  return tf.reshape(x, [-1, height, width, size])


def layer_norm(x: tf.Tensor, scale: tf.Tensor, offset: tf.Tensor) -> tf.Tensor:
  """Normalizes [..., K] over K, with scale and offset [K]."""
  return functional_call.standardized(x, [-1], _NORM_EPSILON) * scale + offset


def positions(height: int, width: int, size: int) -> np.ndarray:
  """Sines and cosines of places [H, W, K]: K / 2 channels of the row, then K / 2 of the column.

  Channel 2 i of a half is sin(p / 10000^(4 i / K)), channel 2 i + 1 the cosine, p = 1 at first.
  """
  half = size // 2
  waves = 10000.0 ** (2 * (np.arange(half) // 2) / half)

  def of(places: np.ndarray) -> np.ndarray:
    angles = places[:, None] / waves
    return np.where(np.arange(half) % 2, np.cos(angles), np.sin(angles))

  rows = np.broadcast_to(of(np.arange(1, height + 1))[:, None], [height, width, half])
  columns = np.broadcast_to(of(np.arange(1, width + 1))[None], [height, width, half])
  return np.concatenate([rows, columns], axis=-1)


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
