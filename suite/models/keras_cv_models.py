# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The only module that uses keras-cv: its backbones and layers, built from explicit sizes.

keras-cv is imported on first use. Presets by name ("resnet18_imagenet", ...) are not offered: they
download weights. Nor is `ResNetV2Backbone`: its basic blocks stride in the last block of a stage,
which costs 2.5 times the FLOPs of `ResNetBackbone` at the same depth.
"""

from __future__ import annotations

from collections.abc import Sequence
import contextlib
import functools
import io
from typing import Any

import tensorflow as tf

from suite.models import norms
from suite.models import precision


@functools.cache
def library() -> Any:
  """Imports keras_cv and registers its layers with Keras."""
  with contextlib.redirect_stdout(io.StringIO()):  # It prints its backend.
    import keras_cv
  return keras_cv


def resnet(blocks: Sequence[int], image_shape: Sequence[int], *, bottleneck: bool = False
           ) -> tf.keras.Model:
  """Builds a ResNet v1: scaled pixels [B, H, W, C] -> [B, H/32, W/32, D].

  D is 512 with basic blocks and 2048 with bottlenecks. keras-cv fixes the stem (7x7, stride 2, 64
  channels, max pool) and the normalization (batch); nets with another stem, width or normalization
  are built in `suite.models.resnet`.
  """
  model = library().models.ResNetBackbone(
      stackwise_filters=[64, 128, 256, 512][:len(blocks)], stackwise_blocks=list(blocks),
      stackwise_strides=[1, 2, 2, 2][:len(blocks)],
      block_type="block" if bottleneck else "basic_block", include_rescaling=False,
      input_shape=tuple(image_shape))
  for layer in model.layers:
    if isinstance(layer, tf.keras.layers.BatchNormalization):
      # keras-cv has no argument for it; the layer reads the attribute in every call.
      layer.momentum = norms.MOMENTUM
  return model


def transformer_block(tokens: tf.Tensor, *, heads: int, mlp_size: int, dropout: float,
                      name: str) -> tf.Tensor:
  """Applies a pre-norm transformer encoder block (attention, MLP with GELU): [B, N, D] -> same."""
  with precision.one_layer():
    block = library().layers.TransformerEncoder(
        project_dim=tokens.shape[-1], num_heads=heads, mlp_dim=mlp_size, mlp_dropout=dropout,
        attention_dropout=dropout, name=name)
    return block(tokens)
