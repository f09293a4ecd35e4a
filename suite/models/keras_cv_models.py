# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The only module that uses keras-cv: its backbones and layers, built from explicit sizes.

keras-cv is imported on first use. Presets by name ("resnet18_imagenet", ...) are not offered: they
download weights. Nor is `ResNetV2Backbone`: its basic blocks stride in the last block of a stage,
which costs 2.5 times the FLOPs of `ResNetBackbone` at the same depth.

The image operations of RandAugment (Cubuk et al., 2020), as keras-cv's layers compute them.

keras-cv's own `RandAugment` draws from a generator with state, so that an image's augmentation
would depend on all images before it. Its layers also take given strengths: those are used here.
Strengths are as in the paper for geometry (at most 0.3 of the side), and as in keras-cv otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import contextlib
import functools
import io
from typing import Any

import tensorflow as tf

from suite.models import norms
from suite.models import precision

_PIXELS = (0, 255)
_GEOMETRY, _ADDITION = 0.3, 110.0  # Greatest shear and shift; greatest addition of solarize.


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
                      name: str, activation: Any = tf.keras.activations.gelu) -> tf.Tensor:
  """Applies a pre-norm transformer encoder block (attention, MLP): [B, N, D] -> same."""
  with precision.one_layer():
    block = library().layers.TransformerEncoder(
        project_dim=tokens.shape[-1], num_heads=heads, mlp_dim=mlp_size, mlp_dropout=dropout,
        attention_dropout=dropout, activation=activation, name=name)
    return block(tokens)


def activated(block: Any, x: tf.Tensor) -> tf.Tensor:
  """The activation of a block's MLP, as the block computes it: Keras's GELU by tanh."""
  if block.activation == tf.keras.activations.gelu:
    return block.activation(x, approximate=True)
  return block.activation(x)


Op = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]


@functools.cache
def _layers() -> dict[str, Callable[[tf.Tensor, Any], tf.Tensor]]:
  """keras-cv's layers as functions of images and transformations."""
  layers, settings = library().layers, {"dtype": "float32"}
  with tf.init_scope():  # Each asks for the global generator, whose variables no graph can make.
    try:
      tf.random.get_global_generator()
    except RuntimeError:  # Where ops are deterministic it must be set; nothing draws from it.
      tf.random.set_global_generator(tf.random.Generator.from_seed(0))
    made = {
        "auto_contrast": layers.AutoContrast(_PIXELS, **settings),
        "equalize": layers.Equalization(_PIXELS, **settings),
        "solarize": layers.Solarization(_PIXELS, **settings),
        "color": layers.RandomColorDegeneration(1.0, **settings),
        "contrast": layers.RandomContrast(_PIXELS, 1.0, **settings),
        "brightness": layers.RandomBrightness(1.0, _PIXELS, **settings),
        "shear": layers.RandomShear(1.0, 1.0, fill_mode="constant", **settings),
        "translate": layers.RandomTranslation(1.0, 1.0, fill_mode="constant", **settings)}
  functions = {name: layer.augment_images for name, layer in made.items()}
  # It asks whether a tensor is true, which only AutoGraph understands; a caller may do without it.
  functions["equalize"] = tf.function(functions["equalize"])
  return functions


def ops() -> dict[str, Op]:
  """Returns the operations by name.

  Each maps images float32 [B, H, W, 3] of 0..255 and strengths float32 [B] from -1 to 1 to images
  of the same range; of those that have no direction, only the size of a strength matters.
  """
  made = _layers()

  def by(name: str, transformation: Callable[[tf.Tensor], Any]) -> Op:
    return lambda images, strength: made[name](images, transformation(strength))

  def each(strength: tf.Tensor) -> tf.Tensor:
    return strength[:, None, None, None]

  def shift(down: float, right: float) -> Op:
    return by("translate", lambda s: {"height_translations": s[:, None] * _GEOMETRY * down,
                                      "width_translations": s[:, None] * _GEOMETRY * right})

  return {
      "identity": lambda images, strength: images,
      "auto_contrast": by("auto_contrast", lambda s: None),
      "equalize": by("equalize", lambda s: None),
      "solarize": by("solarize", lambda s: {"additions": each(tf.abs(s)) * _ADDITION,
                                            "thresholds": 255.0 * (1.0 - each(tf.abs(s)))}),
      "color": by("color", lambda s: each(tf.abs(s))),
      "contrast": by("contrast", lambda s: 1.0 + each(s)),
      "brightness": by("brightness", lambda s: 255.0 * each(s)),
      "shear_x": by("shear", lambda s: {"shear_x": s[:, None] * _GEOMETRY, "shear_y": None}),
      "shear_y": by("shear", lambda s: {"shear_x": None, "shear_y": s[:, None] * _GEOMETRY}),
      "translate_x": shift(0.0, 1.0),
      "translate_y": shift(1.0, 0.0)}
