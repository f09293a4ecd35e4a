# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Embeddings that meta-training trains and episodes leave unchanged; learners adapt a head above.

Many episodes run in parallel in one graph, so embedding an image must not write variables.
An embedding with batch norm therefore returns what it has seen (`train`), the protocol adds that up
over all episodes of an update, and `update_statistics` puts it into the running statistics, once.
Outside of training an image's features depend on no other image (`encode`), so they are computed
once.

B images of H x W pixels and C channels; N norms of F_1 ... F_N channels, their sum is F.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
from typing import Any, NamedTuple, Protocol

import numpy as np
import tensorflow as tf

from suite.models import initial as initial_lib
from suite.models import norms
from suite.models import precision
from suite.models.episodic import twice_norm
from suite.models.own import own_model

Weights = dict[str, tf.Tensor]
Normalize = Callable[..., tf.Tensor]  # Of x, and an epsilon if it is not `norms.EPSILON`.


class Seen(NamedTuple):
  """Moments of the norms' inputs, summed over batches with the number of images as weight.

  Attributes:
    mean: [F], weighted sum of the channels' means.
    variance: [F], weighted sum of their variances.
    count: [], number of images.
    cells: sums over cells of an embedding with clusters, see `constellation`; () for others.
  """

  mean: tf.Tensor
  variance: tf.Tensor
  count: tf.Tensor
  cells: tuple[tf.Tensor, ...] = ()


class EmbeddingNet(Protocol):
  """A net as a pure function of its weights, which exclude the norms' scales and offsets.

  With norms that do not begin at scale 1 and offset 0 it has `norm_values`, as `FunctionalModel`.
  A net that can be computed in parts has `passing(weights, images)`, the `twice_norm.Pass` of
  its features, which may leave a convolution to the norm behind it.
  """

  @property
  def dtype(self) -> str:
    """The type of weights and features."""

  def initial(self, seed: int, image_shape: Sequence[int]) -> dict[str, np.ndarray]:
    """Initial weights by name for images (H, W, C)."""

  def norm_sizes(self, image_shape: Sequence[int]) -> list[int]:
    """F_1 ... F_N, in the order in which `features` applies its norms."""

  def features(self, weights: Weights, images: tf.Tensor, normalize: Normalize) -> tf.Tensor:
    """Features [B, ...] of prepared images; normalize(x [B, H, W, F_n]) is the next norm."""

  def prepare(self, images: tf.Tensor) -> tf.Tensor:
    """Converts pixels 0..255 of any type to the input of `features`."""


class Embedding(tf.Module):
  """An `EmbeddingNet` with batch norms.

  Args:
    net: the net.
    momentum: share of the old running statistics that an update keeps.
    parts: into how many parts a batch of training is split on a CPU, each computed by a core of its
      own, see `twice_norm`. The moments are those of the whole batch, so that results differ by
      rounding only. It pays where episodes are trained one at a time; those that run side by side
      keep the cores busy anyway.
  """

  def __init__(self, net: EmbeddingNet, *, momentum: float = 0.9, parts: int = 1) -> None:
    super().__init__()
    if not 0.0 <= momentum < 1.0:
      raise ValueError(f"Embedding.momentum is {momentum}; allowed is a share from 0 to below 1.")
    if parts < 1 or parts > 1 and not hasattr(net, "passing"):
      raise ValueError(f"Embedding.parts is {parts}; allowed is a number from 1 on, and 1 for a "
                       f"{type(net).__name__}, which cannot be computed in parts.")
    self._net, self._momentum, self._parts = net, momentum, parts

  def make(self, seed: int, image_shape: Sequence[int]) -> None:
    """Makes the variables, which are a pure function of the arguments."""
    precision.check_no_loss_scale(type(self._net).__name__)
    initial = self._net.initial(seed, image_shape)
    dtype = self._net.dtype
    self._weights = {name: tf.Variable(value, dtype=dtype, name=name)
                     for name, value in initial.items()}
    self._sizes = self._net.norm_sizes(image_shape)
    ones, zeros = tf.ones([sum(self._sizes)], dtype), tf.zeros([sum(self._sizes)], dtype)
    values = getattr(self._net, "norm_values", lambda: (ones, zeros, zeros, ones))
    scale, offset, mean, variance = values()
    self._scale = tf.Variable(scale, dtype=dtype, name="norm_scale")
    self._offset = tf.Variable(offset, dtype=dtype, name="norm_offset")
    # Assigned inside replicas, with the same value on all of them.
    kept = dict(trainable=False, aggregation=tf.VariableAggregation.MEAN)
    self._mean = tf.Variable(mean, dtype=dtype, name="running_mean", **kept)
    self._variance = tf.Variable(variance, dtype=dtype, name="running_variance", **kept)

  def train(self, images: tf.Tensor, **layers: Any) -> tuple[tf.Tensor, Seen]:
    """Features [B, ...] of images [B, H, W, C] normalized as one batch, and the batch's moments.

    Args:
      images: see above.
      **layers: what a net's `features` takes besides its weights and norms.
    """
    means: list[tf.Tensor] = []
    variances: list[tf.Tensor] = []

    def see(n: int, mean: tf.Tensor, variance: tf.Tensor) -> None:
      means.append(mean)
      variances.append(variance * (n / max(n - 1, 1)))  # Of the population, as Keras keeps it.

    def by_batch(x: tf.Tensor, epsilon: Any, scale: tf.Tensor, offset: tf.Tensor, *_: Any) -> Any:
      if isinstance(x, twice_norm.Convolution):
        return by_parts([x], epsilon, scale, offset)[0]
      y, *moments = twice_norm.with_moments(x, scale, offset, epsilon)
      see(math.prod(x.shape[:3]), *moments)
      return y

    def by_parts(xs: tf.Tensor, epsilon: Any, scale: tf.Tensor, offset: tf.Tensor, *_: Any) -> Any:
      folded = isinstance(xs[0], twice_norm.Convolution)
      normalize = twice_norm.with_patch_moments if folded else twice_norm.norm_with_moments_of_parts
      ys, *moments = normalize(xs, scale, offset, epsilon)
      see(sum(math.prod(x[0].shape[:3] if folded else x.shape[:3]) for x in xs), *moments)
      return ys

    features = self._features(images, by_batch, by_parts, **layers)
    count = tf.constant(float(images.shape[0]), features.dtype)
    if not means:
      return features, _nothing(0, features.dtype)
    return features, Seen(tf.concat(means, 0) * count, tf.concat(variances, 0) * count, count)

  def encode(self, images: tf.Tensor, **layers: Any) -> tf.Tensor:
    """Features [B, ...] of images [B, H, W, C], normalized with the running statistics.

    Arguments are those of `train`.
    """
    def by_running(x: tf.Tensor, epsilon: Any, scale: tf.Tensor, offset: tf.Tensor,
                   mean: tf.Tensor, variance: tf.Tensor) -> Any:
      if isinstance(x, twice_norm.Convolution):
        return twice_norm.normalized(*x, mean, variance, scale, offset, epsilon)
      return twice_norm.affine(x, mean, variance, scale, offset, epsilon)

    return self._features(images, by_running, **layers)

  def zero_statistics(self) -> Seen:
    """Moments of 0 images."""
    return _nothing(sum(self._sizes), self._net.dtype)

  def update_statistics(self, seen: Seen) -> None:
    """Moves the running statistics towards the mean moments of an update."""
    for running, total in ((self._mean, seen.mean), (self._variance, seen.variance)):
      running.assign(self._momentum * running + (1.0 - self._momentum) * total / seen.count)

  def _features(self, images: tf.Tensor, normalize: Callable[..., tf.Tensor],
                together: Callable[..., Any] | None = None, **layers: Any) -> tf.Tensor:
    """Features by `normalize`, or by `together` where the images are split into parts."""
    prepared = self._net.prepare(images)
    parts = twice_norm.split(prepared, 1 if together is None else self._parts)
    chosen = normalize if together is None or len(parts) == 1 else together
    values = [tf.split(v, self._sizes) if self._sizes else []
              for v in (self._scale, self._offset, self._mean, self._variance)]
    values_by_norm = iter(zip(*values))
    weights = {name: tf.convert_to_tensor(value) for name, value in self._weights.items()}

    def apply_next(x: tf.Tensor, epsilon: float = norms.EPSILON) -> Any:
      return chosen(x, epsilon, *next(values_by_norm))

    if not hasattr(self._net, "passing"):
      return self._net.features(weights, prepared, apply_next, **layers)
    passes = [self._net.passing(weights, part, **layers) for part in parts]
    if len(parts) == 1:
      return twice_norm.finish_together(passes, lambda xs: [apply_next(xs[0])])[0]
    return tf.concat(twice_norm.finish_together(passes, apply_next), 0)


class KerasEmbedding(tf.Module):
  """An embedding by a Keras model without running statistics.

  Args:
    backbone: the model, images to features [B, D], or a function that makes one of image_shape
      (H, W, C).
  """

  def __init__(self, backbone: own_model.Given) -> None:
    super().__init__()
    self._backbone = own_model.as_backbone(backbone, "KerasEmbedding.backbone")
    self._model: Any = None

  def make(self, seed: int, image_shape: Sequence[int]) -> None:
    """Makes the variables, which are a pure function of the arguments."""
    self._model, weights = initial_lib.made(
        lambda: self._backbone(image_shape=tuple(image_shape)), seed)
    self._backbone.refuse_losses("training over episodes")
    if self._model.non_trainable_weights:
      raise ValueError(
          f"Backbone {self._model.name!r} keeps running statistics "
          f"({self._model.non_trainable_weights[0].name}, ...), which episodes that run in "
          "parallel cannot share. Use one without, for example conv4.conv4.norm = 'group', or "
          "embedding.Embedding(functional_model.FunctionalModel(backbone)).")
    self._model.set_weights(weights)

  def train(self, images: tf.Tensor) -> tuple[tf.Tensor, Seen]:
    """Features [B, D] and zero moments: the model has no running statistics."""
    return self._model(images), _nothing(0)

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Features [B, D] of images [B, H, W, C]."""
    return self._model(images)

  def zero_statistics(self) -> Seen:
    """Moments of 0 images."""
    return _nothing(0)

  def update_statistics(self, seen: Seen) -> None:
    """Does nothing: the model has no running statistics."""


def _nothing(size: int, dtype: Any = tf.float32) -> Seen:
  return Seen(tf.zeros([size], dtype), tf.zeros([size], dtype), tf.constant(0.0, dtype))


def add(*every: Seen) -> Seen:
  """Adds the moments of several batches."""
  return tf.nest.map_structure(lambda *parts: tf.add_n(parts), *every)
