# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A frozen vision transformer with something trained in it: prompts, adapters, low-rank changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from suite.compute import flops
from suite.compute import mac_views
from suite.models import vit_hooks
from suite.models.own import own_model
from suite.training.gradient import frozen_backbone
from suite.training.gradient import trainable_parts


class HookedVit(trainable_parts.TrainablePart):
  """A net of `vit.vit` that stays as it is, and a layer of `vit_hooks` that is trained.

  The frozen weights are no part of the learner's state: they are read, or drawn, again.

  Args:
    backbone: `vit.vit`, or a function that makes such a net of image_shape (S, S, C).
    hooks: a layer of `vit_hooks` or `vit_prompts`, called with the net.
    weights: an encoder's directory, or an .npz of the net's weights in Keras order; None: random
      ones, of the seed.
    seed: see `weights`.
  """

  augments = True
  exports = False

  def __init__(self, backbone: trainable_parts.MakeBackbone,
               hooks: Callable[[vit_hooks.FrozenVit], tf.keras.layers.Layer],
               weights: str | None = None, seed: int = 0):
    self._backbone = own_model.as_backbone(backbone, "HookedVit.backbone")
    self._hooks, self._weights, self._seed = hooks, weights, seed

  def prepare(self, shape: tuple[int, ...]) -> None:
    hooks = getattr(self._hooks, "func", self._hooks)  # A partial function is one of a layer.
    name = getattr(hooks, "__name__", type(hooks).__name__)
    trainable_parts.check_images(f"HookedVit with {name}", shape)
    self._vit = vit_hooks.FrozenVit(frozen_backbone.FrozenBackbone(
        self._backbone, shape[0], weights=self._weights, seed=self._seed,
        channels=shape[2]).model, name)
    self._spec = tf.TensorSpec(shape, tf.uint8)

  def code_spec(self) -> tf.TensorSpec:
    return self._spec

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    return images

  def query(self, images: tf.Tensor) -> tf.Tensor:
    """Features [B, D] of images in the frozen net."""
    return self._vit.query(images)

  def upper(self) -> tf.keras.Model:
    images = tf.keras.Input(self._spec.shape, dtype=self._vit.model.inputs[0].dtype, name="image")
    return tf.keras.Model(images, self._hooks(self._vit)(images))

  def first_weights(self) -> None:
    return None

  def layers(self, model: tf.keras.Model | None) -> list[mac_views.Layer]:
    """The patches, the query pass if there is one, what is trained, and the frozen blocks as one.
    """
    assert model is not None
    hooks: Any = model.layers[-1]
    spec = tf.TensorSpec([1, *self._spec.shape], tf.float32)

    def counted(function: Callable[[tf.Tensor], tf.Tensor]) -> int:
      return flops.count(tf.function(function, autograph=False).get_concrete_function(spec)
                         ).macs or 0

    patches = counted(self._vit.tokens)
    fixed = patches + (counted(self._vit.query) if getattr(hooks, "queries", False) else 0)
    total = counted(lambda images: model(images, training=False))
    return [mac_views.Layer("frozen", fixed, trained=False),
            mac_views.Layer(hooks.name, hooks.own_macs),
            mac_views.Layer("blocks", total - fixed - hooks.own_macs, trained=False)]
