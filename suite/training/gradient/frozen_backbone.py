# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Features that no learner changes: a frozen network, pixels, or feature vectors as they are."""

from __future__ import annotations

from collections.abc import Callable
import functools
import hashlib
import pathlib
from typing import Any

import numpy as np
import tensorflow as tf

from suite.compute import flops
from suite.compute import mac_views
from suite.compute import user_code
from suite.contracts import examples
from suite.contracts import rehearsal
from suite.data.images import example_arrays
from suite.models import initial
from suite.models.own import own_model
from suite.state import encoder_file
from suite.training.scoring import frozen_codes

FeatureFn = Callable[[tf.Tensor], tf.Tensor]


def weights_in(weights: str | None) -> list[np.ndarray] | None:
  """Reads weights, from a directory or .npz; None in a rehearsal if they are not there yet.

  Without a place they are None, too.
  """
  if weights is None:
    return None
  rehearsed = rehearsal.current()
  if rehearsed is not None and not pathlib.Path(weights).exists():
    rehearsed.missing[f"weights {weights}"] = "there is no such encoder", "suite weights convert"
    return None
  return encoder_file.weights_in(weights)


class FrozenBackbone(user_code.Known):
  """Maps images [B, S, S, C] to features [B, D] by a network in evaluation mode.

  It is no `tf.Module`, so a learner that holds one saves only its own variables; copies of the
  learner hold the same one, which never changes.

  Args:
    backbone: a Keras model of features, or a function that makes one of image_shape (S, S, C).
    size: S.
    weights: an encoder's directory, or an .npz with the model's weights in Keras order, as a weight
      store writes it; arrays after them, such as those of a head, are ignored. None: random ones,
      or a model's own.
    seed: seed of the random weights.
    channels: C.

  Attributes:
    model: the network.
    encoder: computes features of whole sets, each image once.
  """

  def __init__(self, backbone: own_model.Given, size: int, *,
               weights: str | None = None, seed: int = 0, channels: int = 3):
    image_shape = (size, size, channels)
    make = own_model.as_backbone(backbone, "FrozenBackbone.backbone")
    given = weights_in(weights)
    if given is None:
      self.model, values = initial.made(lambda: make(image_shape=image_shape), seed)
    else:
      self.model = make(image_shape=image_shape)
      values = given[:len(self.model.weights)]
    wanted = [tuple(w.shape) for w in self.model.weights]
    if [v.shape for v in values] != wanted:
      raise ValueError(f"{weights} begins with {len(values)} arrays of shapes "
                       f"{[v.shape for v in values[:3]]}...; {self.model.name} has {len(wanted)} "
                       f"weights {wanted[:3]}... Give weights of this very backbone.")
    self.model.set_weights(values)
    self.model.trainable = False  # Which changes the order of weights of layers within layers.
    self.reaches_user_code = user_code.is_reached(self.model)
    self.encoder = frozen_codes.FrozenEncoder(self._features)

  def __deepcopy__(self, memo: dict[int, Any]) -> FrozenBackbone:
    del memo
    return self

  @functools.cached_property
  def digest(self) -> str:
    """SHA-256 of the architecture, its precision and its weights."""
    about = f"{self.model.to_json()}\n{encoder_file.digest(self.model.get_weights())}"
    return hashlib.sha256(about.encode()).hexdigest()

  def __call__(self, images: tf.Tensor) -> tf.Tensor:
    if images.shape.rank != 4:
      raise ValueError(f"FrozenBackbone takes images [B, S, S, C] and was given {images.shape}. "
                       "Feature vectors need no backbone: set the learner's features to None.")
    if isinstance(images, tf.__internal__.EagerTensor) and len(images):
      return tf.constant(self.encoder.encode([images.numpy()]))
    codes = frozen_codes.in_place_of(self.encoder, images)
    return self._features(images) if codes is None else codes

  def _features(self, images: tf.Tensor) -> tf.Tensor:
    features = self.model(tf.cast(images, tf.float32), training=False)
    return tf.cast(features, tf.float32)  # A model of the user's may compute in less.


def pixels(images: tf.Tensor) -> tf.Tensor:
  """Returns images [B, H, W, C] of 0..255 as rows [B, H * W * C] of 0..1."""
  height, width, channels = images.shape[1:]
  return tf.reshape(tf.cast(images, tf.float32), [-1, height * width * channels]) / 255.0


def or_plain(features: FeatureFn | None, transform: examples.Transform) -> FeatureFn:
  """Returns `features`, or if None: `pixels` of images, and feature vectors unchanged."""
  if features is not None:
    return features
  return tf.identity if len(example_arrays.shape(transform)) == 1 else pixels


def num_features(features: FeatureFn, transform: examples.Transform) -> int:
  """Returns D, the width of the features of an example as `transform` prepares it."""
  shape = example_arrays.shape(transform)
  found = features(tf.zeros([1, *shape], example_arrays.dtype(transform))).shape
  if found.rank != 2:
    raise ValueError(f"Features of examples {shape} have shape {found}; a function to [B, D] is "
                     "expected. Flatten or pool them.")
  return int(found[1])


def of_learner(features: FeatureFn | None) -> FrozenBackbone | None:
  """Returns the features if they are a `FrozenBackbone`, whose codes learners may share."""
  return features if isinstance(features, FrozenBackbone) else None


def weights_of(features: FeatureFn | None) -> list[tf.Variable]:
  """Returns the weights of a `FrozenBackbone`; [] for other functions."""
  return list(features.model.weights) if isinstance(features, FrozenBackbone) else []


def layers(features: FeatureFn) -> list[mac_views.Layer]:
  """Returns the layers of a `FrozenBackbone`, none of them trained; [] for other functions.

  A net with layers that have no rule, such as attention, is one layer with the MACs of its graph.
  """
  if not isinstance(features, FrozenBackbone):
    return []
  try:
    return mac_views.model_layers(features.model, ())
  except ValueError:
    graph = tf.function(features, autograph=False).get_concrete_function(
        tf.TensorSpec([1, *features.model.input_shape[1:]]))
    return [mac_views.Layer("backbone", flops.count(graph).macs or 0, trained=False)]
