# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""FiLM layers in a frozen network, and the adaptation network that sets them (CNAPS).

A FiLM layer (Perez et al., 2018) scales and shifts the channels of a feature map. Here one follows
each batch norm of a frozen network, which keeps its weights and running statistics. Scales gamma_n
and offsets beta_n of norm n are made from the embedding z of a task (Requeima et al., 2019, section
2.2; Bateni et al., 2020, section 4; not the auto-regressive variant):

    h       = relu(z V_n + v_n)
    gamma_n = 1 + s_n * m(h)         beta_n = t_n * m'(h)

where m and m' have residual dense layers, x + x W + w, with ReLUs between them. The strengths s_n
and t_n [F_n] begin at 0, so that the network first computes what it did without FiLM, and the sum
of their squares is a penalty, as in the authors' code. (That draws the strengths from a normal
distribution of deviation 0.001, shares h between the norms of a stage, and has no FiLM at a
ResNet's stem and shortcuts.)

B images of H x W pixels; N norms of F_1 ... F_N channels, F in all; Z numbers in z.

The set encoder of CNAPS (Requeima et al., 2019, section 2.2): an embedding of a task.

Convolutional blocks and a mean over positions make an embedding of each image; that of the task is
the mean over all its support images, in any order. The authors' has five blocks of 64 channels.

B images, Z channels of the last block.
"""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from suite.models.episodic import embedding
from suite.models.episodic import functional_call


class Film(NamedTuple):
  """Scales and offsets [F] of all FiLM layers, in the order in which they are applied."""

  scale: tf.Tensor
  offset: tf.Tensor


class FilmedModel:
  """A frozen Keras model with a FiLM layer after each of its `BatchNormalization` layers.

  It is no `tf.Module`: a learner that holds one neither saves nor trains the model's variables.

  Args:
    model: images [B, H, W, C] to features [B, D]; used by nothing else.
    owner: the argument that it was given as, for messages.

  Attributes:
    sizes: F_1 ... F_N.
    num_features: D.
  """

  def __init__(self, model: tf.keras.Model, *, owner: str = "the model"):
    model.trainable = True  # Calls of norms that are not trainable cannot be replaced.
    try:
      self._call = functional_call.FunctionalCall(model, owner=owner)
    finally:
      model.trainable = False
    if not self._call.norms:
      raise ValueError(
          f"{owner}, {model.name!r}, has no BatchNormalization, after which FiLM layers stand. "
          "Take one with batch norms, for example conv4.conv4 with norm = 'batch', or a learner "
          "without FiLM, such as Mahalanobis.")
    self._weights = {name: model.weights[i]
                     for name, i in zip(self._call.names, self._call.places())}
    self.sizes = [int(layer.moving_mean.shape[0]) for layer in self._call.norms]
    self._input_shape = tuple(model.input_shape[1:])
    self.num_features = int(model.output_shape[-1])

  @property
  def weights(self) -> list[tf.Variable]:
    """The model's."""
    return list(self._weights.values())

  def identity(self) -> Film:
    """FiLM layers that change nothing."""
    return Film(tf.ones([sum(self.sizes)]), tf.zeros([sum(self.sizes)]))

  def features(self, images: tf.Tensor, film: Film) -> tf.Tensor:
    """Features [B, D] of images [B, H, W, C]; each is independent of the others."""
    self.check(images)
    scales, offsets = (tf.split(part, self.sizes) for part in film)

    def normalize(number: int, x: tf.Tensor, epsilon: float) -> tf.Tensor:
      """[B, H, W, F] by a norm's running statistics, as Keras evaluates, then its FiLM layer."""
      layer = self._call.norms[number]
      mean, variance = (tf.convert_to_tensor(v) for v in (layer.moving_mean, layer.moving_variance))
      scale = tf.ones_like(mean) if layer.gamma is None else tf.convert_to_tensor(layer.gamma)
      offset = tf.zeros_like(mean) if layer.beta is None else tf.convert_to_tensor(layer.beta)
      if x.dtype == tf.float32:  # The same kernel: equal to the last digit.
        normal = tf.compat.v1.nn.fused_batch_norm(
            x, scale, offset, mean=mean, variance=variance, epsilon=epsilon, is_training=False)[0]
      else:
        normal = tf.nn.batch_normalization(x, mean, variance, offset, scale, epsilon)
      return normal * scales[number] + offsets[number]

    weights = {name: tf.convert_to_tensor(value) for name, value in self._weights.items()}
    return tf.cast(self._call(weights, tf.cast(images, tf.float32), normalize), tf.float32)

  def check(self, images: tf.Tensor) -> None:
    """Raises an error for images of another shape, or none."""
    found = tuple(images.shape[1:])
    if found != self._input_shape:
      raise ValueError(
          f"Images are {_by(found)}, but the network was made for {_by(self._input_shape)}. Set "
          f"the learner's channels = {found[-1]} and its transform's size, or give such images.")
    if images.shape[0] == 0:
      raise ValueError("There are 0 images; a set has at least 1. Leave empty sets out.")


def _by(shape: Sequence[int]) -> str:
  return "x".join(map(str, shape))


class AdaptationNet(tf.Module):
  """Makes scales and offsets of FiLM layers from the embedding of a task; see the module.

  Args:
    depth: number of residual layers of m and of m'.
    penalty: factor of the sum of squared strengths.
  """

  def __init__(self, *, depth: int = 3, penalty: float = 0.001):
    super().__init__()
    if depth < 1 or penalty < 0:
      raise ValueError(f"AdaptationNet has depth {depth} and penalty {penalty}; allowed are a "
                       "depth from 1 and a penalty from 0.")
    self._depth, self._penalty = depth, penalty
    self._norms: list[dict[str, tf.Variable]] = []

  def make(self, seed: int, width: int, sizes: Sequence[int]) -> None:
    """Makes the variables, which are a pure function of the arguments.

    Args:
      seed: of the dense layers, uniform within 1 / sqrt(inputs) as PyTorch's.
      width: Z.
      sizes: F_1 ... F_N.
    """
    rng = np.random.default_rng(seed)
    for number, size in enumerate(sizes):
      first, later = 1.0 / math.sqrt(width), 1.0 / math.sqrt(size)
      values = {
          "shared_kernel": rng.uniform(-first, first, [width, size]),
          "shared_bias": rng.uniform(-first, first, [size]),
          "kernels": rng.uniform(-later, later, [self._depth, 2, size, size]),
          "biases": rng.uniform(-later, later, [self._depth, 2, size]),
          "strengths": np.zeros([2, size])}
      self._norms.append({name: tf.Variable(value, dtype=tf.float32, name=f"film{number}_{name}")
                          for name, value in values.items()})

  def __call__(self, z: tf.Tensor) -> Film:
    """FiLM layers for the embedding z [Z] of a task."""
    parts = []  # s m(h) and t m'(h) of each norm, [2, F_n].
    for values in self._norms:
      kernels, biases = (tf.unstack(values[name]) for name in ("kernels", "biases"))
      h = tf.nn.relu(tf.matmul(z[None], values["shared_kernel"]) + values["shared_bias"])
      x = tf.stack([h, h])  # [2, 1, F_n]: m and m' side by side.
      for layer, (kernel, bias) in enumerate(zip(kernels, biases)):
        x = x if layer == 0 else tf.nn.relu(x)
        x = x + tf.matmul(x, kernel) + bias[:, None]
      parts.append(values["strengths"] * x[:, 0])
    return Film(1.0 + tf.concat([part[0] for part in parts], 0),
                tf.concat([part[1] for part in parts], 0))

  def penalty(self) -> tf.Tensor:
    """Returns the penalty of the strengths, a term of the loss, []."""
    squares = [tf.reduce_sum(tf.square(values["strengths"])) for values in self._norms]
    return self._penalty * tf.add_n(squares)


class SetEncoder(embedding.Embedding):
  """An `Embedding` [B, Z] of a net whose features are cells with Z channels, such as `ProtoConv4`.

  Args are those of `Embedding`.
  """

  @property
  def width(self) -> int:
    """Z, once made."""
    return self._sizes[-1]

  def train(self, images: tf.Tensor, **layers: Any) -> tuple[tf.Tensor, embedding.Seen]:
    """As `Embedding.train`, [B, Z]."""
    features, seen = super().train(images, **layers)
    return self._pooled(features), seen

  def encode(self, images: tf.Tensor, **layers: Any) -> tf.Tensor:
    """As `Embedding.encode`, [B, Z]."""
    return self._pooled(super().encode(images, **layers))

  def _pooled(self, features: tf.Tensor) -> tf.Tensor:
    """Means [B, Z] over the cells of [B, cells * Z]."""
    cells = features.shape[-1] // self.width
    return tf.reduce_mean(tf.reshape(features, [-1, cells, self.width]), axis=1)
