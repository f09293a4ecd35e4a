# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What of a network is trained on a sequence (FLUID): nothing but the head, its last layers, all.

Each of them splits the way from an image to features in two. `encode` makes what no training
changes, the code, once an image. `features` goes on from there:

                code                            features of a code
    HeadOnly    features [B, D]                 the code itself
    LastLayers  what the trained layers take    the trained layers
    Whole       the image                       the whole network

A code is of the image as it is in evaluation; only `Whole` can see an image in another way each
time that it is trained on (`prepare`).
"""

from __future__ import annotations

from typing import Any, Callable, List

import tensorflow as tf

from suite.compute import mac_views
from suite.models import cut_net
from suite.training.sequence import frozen_backbone

MakeBackbone = Callable[[], frozen_backbone.FrozenBackbone]


class HeadOnly(tf.Module):
  """A frozen network.

  Args:
    features: images [B, H, W, 3] to features [B, D]; it never changes.
  """

  def __init__(self, features: Callable[[tf.Tensor], tf.Tensor]):
    super().__init__()
    self._features = features

  def begin(self, transform: Any) -> None:
    """Makes what is trained; transform: of the learner."""

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Codes [B, ...] of images [B, H, W, 3]."""
    return self._features(images)

  def prepare(self, codes: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """Codes as they are trained on; seeds: uint64 [B], of random augmentation."""
    del seeds
    return codes

  def features(self, codes: tf.Tensor, training: bool) -> tf.Tensor:
    """Features [B, D] of codes [B, ...]."""
    del training
    return codes

  @property
  def trained(self) -> List[tf.Variable]:
    """The variables that gradients change."""
    return []

  def layers(self) -> List[mac_views.Layer]:
    """All layers with weights."""
    return frozen_backbone.layers(self._features)


class LastLayers(HeadOnly):
  """The last layers are trained, those below are frozen.

  Args:
    backbone: makes the network with its first weights; it is called once, for this object alone.
    num_layers: how many layers with a kernel are trained; see `cut_net.CutNet`. (The authors' code
      counts tensors, those of the head first: its 3 is a `num_layers` of 1 here.)
    norms: "fixed", or "trained"; the authors' code lets statistics of all norms drift.
  """

  def __init__(self, backbone: MakeBackbone, num_layers: int = 1, norms: str = "fixed"):
    super().__init__(_no_features)
    self._make, self._num_layers, self._norms = backbone, num_layers, norms

  def begin(self, transform: Any) -> None:
    self._backbone = self._make()
    self._cut = cut_net.CutNet(self._backbone.model, self._num_layers, self._norms)
    # For checkpoints; frozen layers are left out.
    self.moving = [v for layer in self._cut.layers for v in layer.variables]

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    return self._cut.lower(images)

  def features(self, codes: tf.Tensor, training: bool) -> tf.Tensor:
    return self._cut.upper(codes, training)

  @property
  def trained(self) -> List[tf.Variable]:
    return [v for layer in self._cut.layers for v in layer.trainable_variables]

  def layers(self) -> List[mac_views.Layer]:
    return mac_views.model_layers(self._backbone.model, self._cut.trained)


class Whole(HeadOnly):
  """All layers are trained, on images with the learner's augmentation.

  Args:
    backbone: as of `LastLayers`.
    norms: "trained" takes the statistics of the batch in training; "fixed" those it began with,
      and leaves scales and offsets alone.
  """

  def __init__(self, backbone: MakeBackbone, norms: str = "trained"):
    super().__init__(_no_features)
    if norms not in cut_net.NORMS:
      raise ValueError(f"norms is {norms!r}; allowed are {', '.join(cut_net.NORMS)}.")
    self._make, self._norms = backbone, norms

  def begin(self, transform: Any) -> None:
    self._transform, self._backbone = transform, self._make()
    self._backbone.model.trainable = True
    if self._norms == "fixed":
      for layer in cut_net.flat_layers(self._backbone.model):
        layer.trainable = hasattr(layer, "kernel")
    self.moving = list(self._backbone.model.variables)

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    return images

  def prepare(self, codes: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    return self._transform.train(codes, seeds)

  def features(self, codes: tf.Tensor, training: bool) -> tf.Tensor:
    return self._backbone.model(tf.cast(codes, tf.float32), training=training)

  @property
  def trained(self) -> List[tf.Variable]:
    return list(self._backbone.model.trainable_variables)

  def layers(self) -> List[mac_views.Layer]:
    return mac_views.model_layers(self._backbone.model)


def _no_features(images: tf.Tensor) -> tf.Tensor:
  raise NotImplementedError("This network is made in begin.")
