# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A Keras model of the user as the net of CFSL's learners: MAML, Pretrain+Tune, ProtoNets.

The model makes features of images; a linear head follows. It is called with tensors in place of its
variables (`functional_call`). All its `BatchNormalization` layers follow the protocol's rule, as
those of the suite's nets: within an inner loop they normalize support images as one batch, targets
by the support's statistics or their own, and their scales and offsets may have a row for each step;
an `embedding.Embedding` keeps running statistics.

B images, D features, K classes, F channels of all norms together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from suite.models import initial as initial_lib
from suite.models.episodic import functional_call
from suite.models.episodic import functional_conv4
from suite.models.episodic import twice_norm
from suite.models.own import own_model

Weights = dict[str, tf.Tensor]
_HEAD = ("head/bias", "head/kernel")


class FunctionalModel:
  """An `inner_loop.Net` and an `embedding.EmbeddingNet`.

  Args:
    backbone: a Keras model of images (pixels 0..255) to features [B, D], or a function that makes
      one; or an `own_model.Backbone`.
  """

  def __init__(self, backbone: own_model.Given | own_model.Backbone):
    self._backbone = own_model.as_backbone(backbone, "FunctionalModel.backbone")
    if self._backbone.keeps_head:
      raise ValueError("FunctionalModel.backbone keeps its own head, but each episode has other "
                       "classes; take head='replace'.")
    self._call: Any = None
    self._values: list[np.ndarray] = []

  @property
  def dtype(self) -> str:
    """The type of weights and features, once made; layers may compute in another one."""
    weights = self._made().model.trainable_variables
    return weights[0].dtype.name if weights else "float32"

  def initial(self, seed: int, image_shape: Sequence[int], num_classes: int | None = None
              ) -> dict[str, np.ndarray]:
    """Weights by name, the instance's or by the layers' initializers; with a head for K classes."""
    def build() -> tf.keras.Model:
      return self._backbone(image_shape=tuple(image_shape))

    if self._call is None:
      model, self._values = initial_lib.made(build, seed)
      self._backbone.refuse_losses("training over episodes")
      self._call = functional_call.FunctionalCall(model, owner="FunctionalModel.backbone")
    else:
      self._values = initial_lib.initial_weights(build, seed)
    call = self._made()
    weights = {name: self._values[i] for name, i in zip(call.names, call.places())}
    # Those that stay as they are, such as layers that are not trainable.
    call.model.set_weights(self._values)
    if num_classes is not None:
      features = call.model.output_shape[-1]
      kernel = functional_conv4.glorot(np.random.default_rng(seed), features, num_classes)
      weights["head/kernel"] = kernel.astype(self.dtype)
      weights["head/bias"] = np.zeros([num_classes], self.dtype)
    return weights

  def norm_sizes(self, image_shape: Sequence[int] = ()) -> list[int]:
    """The channels of each norm, in the order in which they are called."""
    del image_shape
    return [_channels(layer) for layer in self._made().norms]

  def norm_values(self) -> tuple[np.ndarray, ...]:
    """Scales, offsets, running means and variances [F] of all norms, as they begin."""
    places = {id(v): i for i, v in enumerate(self._made().model.weights)}
    columns: list[list[np.ndarray]] = [[], [], [], []]
    for layer in self._made().norms:
      given = (layer.gamma, layer.beta, layer.moving_mean, layer.moving_variance)
      for column, variable, default in zip(columns, given, (1.0, 0.0, 0.0, 1.0)):
        column.append(np.full([_channels(layer)], default, self.dtype) if variable is None
                      else self._values[places[id(variable)]])
    return tuple(np.concatenate([*column, np.zeros([0], self.dtype)]) for column in columns)

  def initial_norms(self, num_rows: int) -> functional_conv4.Norms:
    """Rows of scales and offsets, [R, 1, F] each, all as the model's."""
    scale, offset, *_ = self.norm_values()
    return functional_conv4.Norms(*(np.tile(part, [num_rows, 1, 1]) for part in (scale, offset)))

  def prepare(self, images: tf.Tensor) -> tf.Tensor:
    """Casts pixels 0..255 of any type; the model scales them."""
    return tf.cast(images, self.dtype)

  def features(self, weights: Weights, images: tf.Tensor, normalize: Callable[..., tf.Tensor]
               ) -> tf.Tensor:
    """Features [B, D]; normalize(x, epsilon) is the next norm."""
    return self._cast(
        self._made()(weights, images, lambda _, x, epsilon: normalize(x, epsilon)))

  def observe(self, weights: Weights, images: tf.Tensor, **_: int) -> tf.Tensor:
    """Returns the images: passes over them share nothing."""
    del weights
    return images

  def apply(self, weights: Weights, norms_row: functional_conv4.Norms, images: tf.Tensor,
            statistics: functional_conv4.Statistics | None = None) -> tf.Tensor:
    """Logits [B, K] of prepared images; arguments as of `functional_conv4.apply`, norms [1, F]."""
    scale, offset = self._split(norms_row)
    means, variances = self._split(statistics) if statistics is not None else ((), ())

    def normalize(number: int, x: tf.Tensor, epsilon: float) -> tf.Tensor:
      if statistics is None:
        return twice_norm.batch_norm(x, scale[number], offset[number], epsilon)
      return twice_norm.affine(x, means[number], variances[number], scale[number], offset[number],
                               epsilon)

    features = self._cast(self._made()(_body(weights), images, normalize))
    return tf.matmul(features, weights["head/kernel"]) + weights["head/bias"]

  def measure(self, weights: Weights, norms_row: functional_conv4.Norms, images: tf.Tensor
              ) -> functional_conv4.Statistics:
    """Moments [1, F] with which `apply` normalizes these images as one batch."""
    scale, offset = self._split(norms_row)
    found: dict[int, tuple[tf.Tensor, tf.Tensor]] = {}

    def normalize(number: int, x: tf.Tensor, epsilon: float) -> tf.Tensor:
      found[number] = mean, variance = twice_norm.moments(x)
      return twice_norm.affine(x, mean, variance, scale[number], offset[number], epsilon)

    self._made()(_body(weights), images, normalize)
    none = tf.zeros([0], self.dtype)
    parts = [[found[i][j] for i in sorted(found)] + [none] for j in range(2)]
    return functional_conv4.Statistics(*(tf.concat(part, 0)[None] for part in parts))

  def _split(self, parts: Any) -> tuple[list[tf.Tensor], list[tf.Tensor]]:
    """Two arrays [1, F] as lists of those of each norm."""
    sizes = self.norm_sizes()
    if not sizes:
      return [], []
    first, second = (tf.split(part[0], sizes) for part in parts)
    return first, second

  def _cast(self, features: tf.Tensor) -> tf.Tensor:
    return tf.cast(features, self.dtype)

  def _made(self) -> functional_call.FunctionalCall:
    if self._call is None:
      raise RuntimeError("FunctionalModel has no model yet: `initial` makes it.")
    return self._call


def _body(weights: Weights) -> Weights:
  return {name: value for name, value in weights.items() if name not in _HEAD}


def _channels(layer: Any) -> int:
  return int(layer.moving_mean.shape[0])
