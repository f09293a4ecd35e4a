# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A net for FLUID as a Keras model, as penalties want it, and how a class's weights begin.

  features given    a linear layer on frozen features: codes are features [B, D]
  backbone given    backbone and linear layer, all trained: codes are images [B, S, S, 3]

A class's weights begin at zero or at its prototype c, the mean feature of its samples (ProtoMAML,
Triantafillou et al., 2020): w = 2 c, b = -|c|^2, so that logits are |f|^2 - |f - c|^2.
"""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Tuple

import tensorflow as tf

from suite.compute import mac_views
from suite.models import feature_head
from suite.models import heads
from suite.training.sequence import frozen_backbone

STARTS = ("zeros", "prototypes")


class ReplayNet(tf.Module):
  """D features, C classes.

  Args:
    features: a function of images to features that nothing changes, or None. backbone: called
      with image_shape it returns a Keras model. One of them is given.
    size: of images. num_classes: C.
    weights: of the backbone, see `FrozenBackbone`; None: random ones.
    seed: of random weights.

  Attributes:
    model: codes to logits [B, C]. backbone: codes to features [B, D], or None. head: features to
      logits.
  """

  def __init__(self, *, features: Optional[Callable[[tf.Tensor], tf.Tensor]],
               backbone: Optional[Callable[..., tf.keras.Model]], size: int, num_classes: int,
               weights: Optional[str] = None, seed: int = 0):
    super().__init__()
    self._features = features
    self.backbone: Optional[tf.keras.Model] = None
    if features is not None:
      width = int(features(tf.zeros([1, size, size, 3], tf.uint8)).shape[1])
      self.model = self.head = feature_head.linear(num_classes, width)
    else:
      assert backbone is not None
      self.backbone = frozen_backbone.FrozenBackbone(
          backbone, size, weights=weights, seed=seed).model
      self.backbone.trainable = True
      width = self.backbone.output_shape[-1]
      self.head = heads.linear(num_classes, width)
      inputs = tf.keras.Input(self.backbone.input_shape[1:], dtype=self.backbone.inputs[0].dtype)
      self.model = tf.keras.Model(inputs, self.head(self.backbone(inputs)))
    self.kernel, self.bias = self.head.layers[-1].kernel, self.head.layers[-1].bias
    self.kernel.assign(tf.zeros_like(self.kernel))

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Codes of images [B, S, S, 3] as the transform makes them."""
    return images if self._features is None else self._features(images)

  def logits(self, codes: tf.Tensor) -> tf.Tensor:
    """[B, C] of codes, as in evaluation."""
    return tf.cast(self.model(codes, training=False), tf.float32)

  def features(self, codes: tf.Tensor) -> tf.Tensor:
    """[B, D] of codes, as in evaluation: what the head takes."""
    return codes if self.backbone is None else self.backbone(codes, training=False)

  def set_prototypes(self, features: tf.Tensor, labels: tf.Tensor) -> None:
    """The weights of the classes of labels int64 [N], from features [N, D]."""
    classes, places = tf.unique(labels)
    kernel, bias = prototypes(features, places, int(tf.size(classes)))
    self.kernel.assign(tf.transpose(tf.tensor_scatter_nd_update(
        tf.transpose(self.kernel), classes[:, None], tf.transpose(kernel))))
    self.bias.assign(tf.tensor_scatter_nd_update(self.bias, classes[:, None], bias))

  def mac_layers(self) -> Tuple[List[mac_views.Layer], List[mac_views.Layer]]:
    """Layers of the backbone, and the head."""
    below = (frozen_backbone.layers(self._features) if self.backbone is None
             else mac_views.model_layers(self.backbone))
    return below, [mac_views.Layer("head", self.kernel.shape.num_elements())]


def prototypes(features: tf.Tensor, labels: tf.Tensor, num_classes: int
               ) -> Tuple[tf.Tensor, tf.Tensor]:
  """A linear layer, kernel [D, W] and bias [W], from features [N, D] and labels [N] below W."""
  is_class = tf.one_hot(labels, num_classes)
  means = tf.math.divide_no_nan(tf.matmul(is_class, features, transpose_a=True),
                                tf.reduce_sum(is_class, axis=0)[:, None])
  return 2.0 * tf.transpose(means), -tf.reduce_sum(tf.square(means), axis=1)


def checked(start: str, features: Any, backbone: Any) -> None:
  """Says which arguments make no net."""
  if start not in STARTS:
    raise ValueError(f"head is {start!r}; allowed are {', '.join(STARTS)}.")
  if (features is None) == (backbone is None):
    given = "both" if features is not None else "none"
    raise ValueError(f"Of features (frozen) and backbone (trained) {given} was given; give one.")
