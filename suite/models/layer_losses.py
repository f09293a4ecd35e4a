# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Losses that layers of a tf.keras model add: regularizers of weights, `add_loss` in a pass.

Keras's `model.losses` has both, those of the last pass alone, and of a layer that the pass did not
reach what it had when the model was made. A step may have several passes, so they are apart here.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def of_pass(model: tf.keras.Model) -> list[tf.Tensor]:
  """Losses [] that layers added in the pass just made: `activity_regularizer`, `add_loss`."""
  return [loss for layer in model._flatten_layers() for loss in layer._eager_losses]


def of_weights(model: tf.keras.Model) -> list[tf.Tensor]:
  """Losses [] of weights alone: `kernel_regularizer` and the like, `add_loss` of a function."""
  found = [loss() for layer in model._flatten_layers() for loss in layer._callable_losses]
  return [loss for loss in found if loss is not None]


def layers(model: tf.keras.Model) -> list[Any]:
  """The layers that added losses in the pass just made, or add those of their weights."""
  return [layer for layer in model._flatten_layers()
          if layer._eager_losses or layer._callable_losses]
