# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Embeddings that meta-training changes and no episode does: what an episodic learner adapts above.

Many episodes run side by side in one graph, so nothing may be written while an image is embedded.
An embedding with batch norm therefore returns what it has seen (`train`), the protocol adds that up
over all episodes of an update, and `update_statistics` puts it into the running statistics, once.
Outside of training an image's features depend on no other image (`encode`), so they are computed once.

B images of H x W pixels and C channels; N norms of F_1 ... F_N channels, their sum is F.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Protocol, Sequence, Tuple

import numpy as np
import tensorflow as tf

from suite.models import initial as initial_lib
from suite.models import norms

Weights = Dict[str, tf.Tensor]
Normalise = Callable[[tf.Tensor], tf.Tensor]


class Seen(NamedTuple):
  """Sums over batches of images, each counted as often as it has images; sums of these add up.

  Attributes:
    mean: [F], the channels' means. variance: [F]. count: [], images.
  """

  mean: tf.Tensor
  variance: tf.Tensor
  count: tf.Tensor


class Net(Protocol):
  """A net as a pure function of its weights; its norms' scales and offsets are no weights."""

  def initial(self, seed: int, image_shape: Sequence[int]) -> Dict[str, np.ndarray]:
    """Weights by name for images (H, W, C)."""

  def norm_sizes(self, image_shape: Sequence[int]) -> List[int]:
    """F_1 ... F_N, in the order in which `features` calls its norms."""

  def features(self, weights: Weights, images: tf.Tensor, normalise: Normalise) -> tf.Tensor:
    """Features [B, ...] of prepared images; normalise(x [B, H, W, F_n]) is the next norm."""

  def prepare(self, images: tf.Tensor) -> tf.Tensor:
    """Pixels 0..255 of any type to what `features` takes."""


class Embedding(tf.Module):
  """A `Net` with batch norms.

  Args:
    net: what is computed.
    momentum: what share of the running statistics stays at an update.
  """

  def __init__(self, net: Net, *, momentum: float = 0.9):
    super().__init__()
    if not 0.0 <= momentum < 1.0:
      raise ValueError(f"Embedding.momentum is {momentum}; allowed is a share from 0 to below 1.")
    self._net, self._momentum = net, momentum

  def make(self, seed: int, image_shape: Sequence[int]) -> None:
    """Makes the variables, which are a pure function of the arguments."""
    self._weights = {name: tf.Variable(value, dtype=tf.float32, name=name)
                     for name, value in self._net.initial(seed, image_shape).items()}
    self._sizes = self._net.norm_sizes(image_shape)
    ones, zeros = tf.ones([sum(self._sizes)]), tf.zeros([sum(self._sizes)])
    self._scale = tf.Variable(ones, name="norm_scale")
    self._offset = tf.Variable(zeros, name="norm_offset")
    # Written inside replicas, with the same value on all of them.
    kept = dict(trainable=False, aggregation=tf.VariableAggregation.MEAN)
    self._mean = tf.Variable(zeros, name="running_mean", **kept)
    self._variance = tf.Variable(ones, name="running_variance", **kept)

  def train(self, images: tf.Tensor) -> Tuple[tf.Tensor, Seen]:
    """Features [B, ...] of images [B, H, W, C] normalised as one batch, and what was seen."""
    means: List[tf.Tensor] = []
    variances: List[tf.Tensor] = []

    def by_batch(x, scale, offset, mean, variance):
      del mean, variance
      y, mean, variance = tf.compat.v1.nn.fused_batch_norm(x, scale, offset, epsilon=norms.EPSILON)
      means.append(tf.stop_gradient(mean))
      variances.append(tf.stop_gradient(variance))
      return y

    features = self._features(images, by_batch)
    count = tf.constant(float(images.shape[0]))
    if not means:
      return features, _nothing(0)
    return features, Seen(tf.concat(means, 0) * count, tf.concat(variances, 0) * count, count)

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Features [B, ...] of images [B, H, W, C], each by itself: by the running statistics."""
    def by_running(x, scale, offset, mean, variance):
      factor = scale * tf.math.rsqrt(variance + norms.EPSILON)
      return x * factor + (offset - mean * factor)

    return self._features(images, by_running)

  def zero_statistics(self) -> Seen:
    """Of no image."""
    return _nothing(sum(self._sizes))

  def update_statistics(self, seen: Seen) -> None:
    """Moves the running statistics towards the mean of all that was seen in an update."""
    for running, total in ((self._mean, seen.mean), (self._variance, seen.variance)):
      running.assign(self._momentum * running + (1.0 - self._momentum) * total / seen.count)

  def _features(self, images: tf.Tensor, normalise: Callable[..., tf.Tensor]) -> tf.Tensor:
    parts = [tf.split(v, self._sizes) if self._sizes else []
             for v in (self._scale, self._offset, self._mean, self._variance)]
    numbers = iter(zip(*parts))
    weights = {name: tf.convert_to_tensor(value) for name, value in self._weights.items()}
    return self._net.features(
        weights, self._net.prepare(images), lambda x: normalise(x, *next(numbers)))


class KerasEmbedding(tf.Module):
  """A Keras model without running statistics as an embedding.

  Args:
    backbone: backbone(image_shape=(H, W, C)) returns the model, images to features [B, D].
  """

  def __init__(self, backbone: Callable[..., tf.keras.Model]):
    super().__init__()
    self._backbone = backbone
    self._model: Any = None

  def make(self, seed: int, image_shape: Sequence[int]) -> None:
    """Makes the variables, which are a pure function of the arguments."""
    def build() -> tf.keras.Model:
      return self._backbone(image_shape=tuple(image_shape))

    self._model = build()
    if self._model.non_trainable_weights:
      raise ValueError(
          f"Backbone {self._model.name!r} keeps running statistics "
          f"({self._model.non_trainable_weights[0].name}, ...), which episodes that run side by "
          "side cannot share. Use one without, for example conv4.conv4.norm = 'group', or an "
          "embedding.Embedding.")
    self._model.set_weights(initial_lib.initial_weights(build, seed))

  def train(self, images: tf.Tensor) -> Tuple[tf.Tensor, Seen]:
    """Features [B, D]; no statistics are kept, so nothing was seen."""
    return self._model(images), _nothing(0)

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Features [B, D] of images [B, H, W, C]."""
    return self._model(images)

  def zero_statistics(self) -> Seen:
    """Of no image."""
    return _nothing(0)

  def update_statistics(self, seen: Seen) -> None:
    """Nothing: there are no statistics."""


def _nothing(size: int) -> Seen:
  return Seen(tf.zeros([size]), tf.zeros([size]), tf.constant(0.0))


def add(*every: Seen) -> Seen:
  """What was seen in several batches."""
  return Seen(*(tf.add_n(parts) for parts in zip(*every)))
