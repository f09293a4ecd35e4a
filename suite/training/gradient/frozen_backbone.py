# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Features of a network that no learner changes, outside of every checkpoint."""

from __future__ import annotations

import pathlib
from typing import Any, Callable, List, Optional

import tensorflow as tf

from suite.compute import mac_views
from suite.models import initial
from suite.state import weight_store


class FrozenBackbone:
  """Images [B, S, S, 3] to features [B, D]; the network runs as in evaluation.

  It is no `tf.Module`, so that a learner that holds one saves its own variables only.

  Args:
    backbone: called with image_shape=(S, S, 3) it returns a Keras model to features.
    size: S.
    weights: an .npz of the model's weights in Keras order, as a weight store writes it; further
      arrays, those of a head, are left alone. None: random weights.
    seed: of random weights.
  """

  def __init__(self, backbone: Callable[..., tf.keras.Model], size: int, *,
               weights: Optional[str] = None, seed: int = 0):
    self.model = backbone(image_shape=(size, size, 3))
    self.model.trainable = False
    if weights is None:
      values = initial.initial_weights(lambda: backbone(image_shape=(size, size, 3)), seed)
    else:
      arrays = weight_store.read_arrays(pathlib.Path(weights))
      values = [arrays[key] for key in sorted(arrays)][:len(self.model.weights)]
    wanted = [tuple(w.shape) for w in self.model.weights]
    if [v.shape for v in values] != wanted:
      raise ValueError(f"{weights} begins with {len(values)} arrays of shapes "
                       f"{[v.shape for v in values[:3]]}...; {self.model.name} has {len(wanted)} "
                       f"weights {wanted[:3]}... Give weights of this very backbone.")
    self.model.set_weights(values)

  def __call__(self, images: tf.Tensor) -> tf.Tensor:
    return self.model(tf.cast(images, tf.float32), training=False)


def layers(features: Any) -> List[mac_views.Layer]:
  """The layers behind a function of images, none of them trained; [] if it is no network."""
  return mac_views.model_layers(features.model, ()) if hasattr(features, "model") else []
