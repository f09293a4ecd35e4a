# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Nets of ConstellationNet (Xu et al., 2021), for `constellation.ClusteredEmbedding`.

`ConstellationConv4` has four blocks. A block is a 3x3 convolution; similarities of the cells of its
output to K clusters; in the last blocks a layer of self-attention over the cells on these; a 1x1
convolution of both outputs; batch norm, ReLU and 2x2 max pooling. Features are the mean over the
cells of the last block.

Self-attention is that of the authors' code, without its dropout: queries and keys are similarities
plus sines and cosines of the cell's place, values are similarities; several heads; a sum with the
input and a layer norm; two dense layers, a sum and a layer norm.

`ConstellationResNet` is torchvision's ResNet of basic blocks, whose stages end in the same way:
similarities, self-attention in the last ones, a 1x1 convolution of both, batch norm, ReLU. The
convolution begins as the identity on the stage's output, so the net begins as the ResNet, which may
be a pretrained one. The authors have it on a ResNet-12; FLUID's paper does not say how it put it on
a ResNet-18.

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

from suite.models import initial as initial_lib
from suite.models import precision
from suite.models.episodic import embedding
from suite.models.episodic import functional_call
from suite.models.episodic import functional_conv4
from suite.models.episodic import kinks
from suite.models.torchvision import torch_resnet

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

  def __post_init__(self) -> None:
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
        weights.update(attention_weights(rng, name, self.clusters))
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


@dataclasses.dataclass(frozen=True)
class ConstellationResNet:
  """A ResNet with clusters; see the module.

  Attributes:
    name: of torchvision's ResNet of basic blocks, "resnet18" or "resnet34".
    weights: its weights in Keras order, such as an encoder's; None: drawn.
    clusters: K, a multiple of `heads` and of 4.
    attended: number of last stages that have self-attention; the others have clusters alone.
    heads: of the self-attention.
    channels: of the stem; None: 64.
    dtype: float64 is slow and serves to check gradients.
  """

  name: str = "resnet18"
  weights: Sequence[np.ndarray] | None = None
  clusters: int = 64
  attended: int = 2
  heads: int = 8
  channels: int | None = None
  dtype: str = "float32"

  def __post_init__(self) -> None:
    if self.clusters % self.heads or self.clusters % 4:
      raise ValueError(f"ConstellationResNet.clusters is {self.clusters}; it must be a multiple of "
                       f"heads, {self.heads}, and of 4.")
    if torch_resnet.check_name(self.name).bottleneck:
      raise ValueError(f"ConstellationResNet.name is {self.name!r}, a net of bottlenecks; allowed "
                       "are resnet18 and resnet34.")
    if not 0 <= self.attended <= len(self._net.blocks):
      raise ValueError(f"ConstellationResNet.attended is {self.attended}; allowed are 0 to "
                       f"{len(self._net.blocks)} stages.")

  @property
  def _net(self) -> torch_resnet.Architecture:
    net = torch_resnet.KNOWN[self.name]
    return net._replace(channels=self.channels or net.channels)

  def initial(self, seed: int, image_shape: Sequence[int]) -> dict[str, np.ndarray]:
    """Initial weights "stage1_block0_1_conv/kernel", "stage1/merge" [F + K, F], ... ."""
    weights = {f"{layer}/kernel": arrays[0] for layer, arrays in self._arrays(seed).items()
               if layer.endswith("_conv")}
    rng, size = np.random.default_rng([seed, 2]), self.clusters
    for stage, filters in self._stages():
      weights[f"{stage}/merge"] = np.concatenate([np.eye(filters), np.zeros([size, filters])])
      if stage in self._attended():
        weights.update(attention_weights(rng, stage, size))
    return weights

  def initial_centers(self, seed: int) -> np.ndarray:
    """Initial cluster centers [N, K, F]: random directions, zero beyond a stage's channels."""
    stages = self._stages()
    centers = np.zeros([len(stages), self.clusters, stages[-1][1]])
    for number, (_, filters) in enumerate(stages):
      drawn = np.random.default_rng([seed, 1, number]).normal(size=[self.clusters, filters])
      centers[number, :, :filters] = drawn / np.linalg.norm(drawn, axis=-1, keepdims=True)
    return centers

  def norm_sizes(self, image_shape: Sequence[int]) -> list[int]:
    del image_shape
    return [len(column) for column in self._norms(0)[0]]

  def norm_values(self) -> tuple[np.ndarray, ...]:
    """Scales, offsets, running means and variances [F] of all norms, as they begin."""
    return tuple(np.concatenate(column) for column in self._norms(0))

  def features(self, weights: embedding.Weights, images: tf.Tensor,
               normalize: embedding.Normalize, cluster: Callable[[tf.Tensor], tf.Tensor]
               ) -> tf.Tensor:
    """Computes features [B, F] of prepared images; `cluster`: see `ClusteredEmbedding`."""
    def unit(x: tf.Tensor, layer: str, strides: int) -> tf.Tensor:
      kernel = weights[f"{layer}_conv/kernel"]
      border = int(kernel.shape[0]) // 2
      x = tf.pad(x, [[0, 0], [border] * 2, [border] * 2, [0, 0]])
      return normalize(tf.nn.conv2d(x, kernel, strides, "VALID"))

    x = tf.nn.relu(unit(images, "stem", 2))
    x = tf.nn.max_pool2d(tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]]), 3, 2, "VALID")
    for stage, count in enumerate(self._net.blocks):
      for block in range(count):
        layer, strides = f"stage{stage + 1}_block{block}", 2 if stage and not block else 1
        shortcut = (unit(x, f"{layer}_shortcut", strides)
                    if torch_resnet.has_shortcut(self._net, stage, block) else x)
        x = unit(tf.nn.relu(unit(x, f"{layer}_1", strides)), f"{layer}_2", 1)
        x = tf.nn.relu(x + shortcut)
      name = f"stage{stage + 1}"
      near = cluster(x)
      if name in self._attended():
        near = self_attention(weights, name, near, self.heads)
      x = tf.einsum("bhwc,cf->bhwf", tf.concat([x, near], -1), weights[f"{name}/merge"])
      x = tf.nn.relu(normalize(x))
    return tf.reduce_mean(x, axis=[1, 2])

  def prepare(self, images: tf.Tensor) -> tf.Tensor:
    """Scales pixels 0..255 of any type by ImageNet's means and deviations."""
    return functional_conv4.scaled(images, "imagenet", self.dtype)

  def _stages(self) -> list[tuple[str, int]]:
    net = self._net
    return [(f"stage{i + 1}", net.channels * 2 ** i) for i in range(len(net.blocks))]

  def _attended(self) -> list[str]:
    return [stage for stage, _ in self._stages()][len(self._net.blocks) - self.attended:]

  def _arrays(self, seed: int) -> dict[str, list[np.ndarray]]:
    """Layer of the ResNet -> its weights, in the order of its norms' calls."""
    def build() -> tf.keras.Model:
      return torch_resnet.resnet((32, 32, 3), self._net, self.name)

    model = build()
    model.set_weights(
        initial_lib.initial_weights(build, seed) if self.weights is None else list(self.weights))
    return {layer.name: layer.get_weights() for layer in model.layers if layer.weights}

  def _norms(self, seed: int) -> list[list[np.ndarray]]:
    """Scales, offsets, means and variances of each norm, in the order in which they are applied."""
    arrays, columns = self._arrays(seed), []
    for stage, count in enumerate(self._net.blocks):
      columns += [arrays["stem_norm"]] if not stage else []
      for block in range(count):
        layer = f"stage{stage + 1}_block{block}"
        parts = ("_shortcut", "_1", "_2") if torch_resnet.has_shortcut(
            self._net, stage, block) else ("_1", "_2")
        columns += [arrays[f"{layer}{part}_norm"] for part in parts]
      size = self._stages()[stage][1]
      columns.append([np.full([size], value, np.float32) for value in (1.0, 0.0, 0.0, 1.0)])
    return [list(column) for column in zip(*columns)]


def attention_weights(rng: np.random.Generator, name: str, size: int) -> dict[str, np.ndarray]:
  """Initial weights of `self_attention`: uniform within 1 / sqrt(size)."""
  weights, limit = {}, 1.0 / math.sqrt(size)
  for layer in _DENSE:
    weights[f"{name}/{layer}/kernel"] = rng.uniform(-limit, limit, [size, size])
    weights[f"{name}/{layer}/bias"] = rng.uniform(-limit, limit, [size])
  for norm in ("norm1", "norm2"):
    weights[f"{name}/{norm}/scale"] = np.ones([size])
    weights[f"{name}/{norm}/offset"] = np.zeros([size])
  return weights


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
  function of cells [B, H, W, F] to similarities [B, H, W, K], called once a layer. A layer may have
  fewer channels than F; the centers' others are not used.

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
      of_layer = next(centers)
      near = similarities(cells, of_layer[:, :cells.shape[-1]])
      total, number = sums(tf.stop_gradient(cells), tf.stop_gradient(near), self._sharpness)
      unused = of_layer.shape[-1] - cells.shape[-1]
      found.append((tf.pad(total, [[0, 0], [0, unused]]) if unused else total, number))
      return near

    features, seen = super().train(images, cluster=cluster, **layers)
    return features, seen._replace(cells=tuple(tf.stack(parts) for parts in zip(*found)))

  def encode(self, images: tf.Tensor, **layers: Any) -> tf.Tensor:
    centers = iter(tf.unstack(self.centers))
    return super().encode(
        images, cluster=lambda cells: similarities(cells, next(centers)[:, :cells.shape[-1]]),
        **layers)

  def zero_statistics(self) -> embedding.Seen:
    return super().zero_statistics()._replace(
        cells=(tf.zeros_like(self.centers), tf.zeros_like(self.counts)))

  def update_statistics(self, seen: embedding.Seen) -> None:
    """Moves the running statistics and the centers."""
    super().update_statistics(seen)
    total, number = seen.cells
    self.centers.assign(moved(self.centers, self.counts, total, number))
    self.counts.assign(self.counts + number)
