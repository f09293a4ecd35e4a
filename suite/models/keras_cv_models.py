# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The one place that touches keras-cv: its backbones and layers, always built from numbers.

keras-cv is imported when first used. Presets by name ("resnet18_imagenet", ...) are not offered:
they download. Nor is `ResNetV2Backbone`: its basic blocks stride in a stage's last block, which
costs 2.5 times the FLOPs of `ResNetBackbone` at the same depth.
"""

from __future__ import annotations

from collections.abc import Sequence
import contextlib
import functools
import io
from typing import Any

import tensorflow as tf

from suite.models import norms


@functools.cache
def library() -> Any:
  """The module keras_cv; Keras can load layers of its classes from then on."""
  with contextlib.redirect_stdout(io.StringIO()):  # it prints which backend it uses
    import keras_cv
  return keras_cv


def resnet(blocks: Sequence[int], image_shape: Sequence[int]) -> tf.keras.Model:
  """[B, H, W, C] scaled pixels -> [B, H/32, W/32, 512]: a ResNet v1 of basic blocks.

  keras-cv fixes the stem (7x7, stride 2, 64 channels, max pool) and the normalization (batch); nets
  with another stem, width or normalization are built in `suite.models.resnet`.
  """
  model = library().models.ResNetBackbone(
      stackwise_filters=[64, 128, 256, 512], stackwise_blocks=list(blocks),
      stackwise_strides=[1, 2, 2, 2], block_type="basic_block", include_rescaling=False,
      input_shape=tuple(image_shape))
  for layer in model.layers:
    if isinstance(layer, tf.keras.layers.BatchNormalization):
      # keras-cv offers no argument; the layer reads it whenever it is called.
      layer.momentum = norms.MOMENTUM
  return model


def transformer_block(tokens: tf.Tensor, *, heads: int, mlp_size: int, dropout: float,
                      name: str) -> tf.Tensor:
  """[B, N, D] -> [B, N, D]: a pre-norm transformer encoder block (attention, MLP with GELU)."""
  block = library().layers.TransformerEncoder(
      project_dim=tokens.shape[-1], num_heads=heads, mlp_dim=mlp_size, mlp_dropout=dropout,
      attention_dropout=dropout, name=name)
  return block(tokens)
