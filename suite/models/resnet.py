# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Residual networks (He et al., 2016): ResNet-18, ResNet-34 and ResNet-50, each with two stems.

stem="large" is the ImageNet net (7x7 convolution of stride 2, 3x3 max pool of stride 2);
stem="small" is the net for small images (3x3 convolution of stride 1, no pool), with 16 times the
FLOPs at the same image size. NEVIS'22 uses ResNet-34 with the small stem, and ResNet-18 with the
large one in its cheap setting.
"""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from suite.models import image_input
from suite.models import keras_cv_models
from suite.models import norms
from suite.models import precision

STEMS = ("large", "small")
CHANNELS = (64, 128, 256, 512)
ImageShape = tuple[int, int, int]


def resnet18(image_shape: ImageShape = (64, 64, 3), *, stem: str = "large", width: float = 1.0,
             norm: str = "batch", pixels: str = "symmetric", name: str = "resnet18",
             blocks: Sequence[int] = (2, 2, 2, 2)) -> tf.keras.Model:
  """Builds ResNet-18: pixels 0..255 [B, H, W, 3] -> features [B, 512 * width].

  Other `blocks` than its own, fewer for debugging, make another net; see `resnet`.
  """
  return resnet(image_shape, blocks=blocks, stem=stem, width=width, norm=norm,
                pixels=pixels, name=name)


def resnet34(image_shape: ImageShape = (64, 64, 3), *, stem: str = "large", width: float = 1.0,
             norm: str = "batch", pixels: str = "symmetric", name: str = "resnet34",
             blocks: Sequence[int] = (3, 4, 6, 3)) -> tf.keras.Model:
  """Builds ResNet-34: pixels 0..255 [B, H, W, 3] -> features [B, 512 * width].

  Other `blocks` than its own, fewer for debugging, make another net; see `resnet`.
  """
  return resnet(image_shape, blocks=blocks, stem=stem, width=width, norm=norm,
                pixels=pixels, name=name)


def resnet50(image_shape: ImageShape = (224, 224, 3), *, stem: str = "large", width: float = 1.0,
             norm: str = "batch", pixels: str = "symmetric", name: str = "resnet50",
             blocks: Sequence[int] = (3, 4, 6, 3)) -> tf.keras.Model:
  """Builds ResNet-50, of bottlenecks: pixels 0..255 [B, H, W, 3] -> features [B, 2048 * width].

  Other `blocks` than its own, fewer for debugging, make another net; see `resnet`.
  """
  return resnet(image_shape, blocks=blocks, stem=stem, width=width, norm=norm, pixels=pixels,
                bottleneck=True, name=name)


def resnet(image_shape: ImageShape, *, blocks: Sequence[int], stem: str = "large",
           width: float = 1.0, norm: str = "batch", pixels: str = "symmetric",
           bottleneck: bool = False, name: str = "resnet") -> tf.keras.Model:
  """Builds a ResNet: pixels 0..255 [B, H, W, 3] -> features [B, D], D channels of the last stage.

  Args:
    image_shape: (height, width, channels).
    blocks: number of blocks of each of the (at most four) stages.
    stem: "large" or "small", see the module.
    width: factor of all numbers of channels; values below 1 give small nets for CPU runs.
    norm: one of `norms.NORMS`.
    pixels: see `image_input`.
    bottleneck: blocks of three convolutions, whose last one has four times the channels, in place
      of two.
    name: the model's name.
  """
  if stem not in STEMS:
    raise ValueError(f"stem is {stem!r}; allowed are {', '.join(STEMS)}.")
  norms.check(norm)
  inputs, x = image_input.image_input(image_shape, pixels)
  # keras-cv has one of these nets, in one precision for all layers; `body` computes the same from
  # the same seed (tests/models/resnet_test.py).
  if ((stem, width, norm, len(blocks)) == ("large", 1.0, "batch", 4)
      and precision.name() != "bfloat16"):
    x = keras_cv_models.resnet(blocks, image_shape, bottleneck=bottleneck)(x)
  else:
    x = body(x, blocks=blocks, stem=stem, width=width, norm=norm, bottleneck=bottleneck)
  x = tf.keras.layers.GlobalAveragePooling2D(name="pool", dtype=precision.FLOAT32)(x)
  return tf.keras.Model(inputs, x, name=name)


def body(x: tf.Tensor, *, blocks: Sequence[int], stem: str, width: float, norm: str,
         bottleneck: bool = False) -> tf.Tensor:
  """Applies all blocks: [B, H, W, C] -> [B, H/k, W/k, D]; k = 32 for four stages, small stem 8."""
  channels = [max(1, round(width * count)) for count in CHANNELS[:len(blocks)]]
  if len(channels) < len(blocks):
    raise ValueError(f"blocks is {tuple(blocks)}: {len(blocks)} stages; there are at most "
                     f"{len(CHANNELS)}.")
  if stem == "large":
    x = norms.conv(x, channels[0], 7, strides=2, norm=norm, name="stem")
    x = tf.keras.layers.MaxPooling2D(3, strides=2, padding="same", name="stem_pool")(x)
  else:
    x = norms.conv(x, channels[0], 3, norm=norm, name="stem")
  for stage, (count, filters) in enumerate(zip(blocks, channels)):
    for block in range(count):
      strides = 2 if stage > 0 and block == 0 else 1
      x = (bottleneck_block if bottleneck else basic_block)(
          x, filters, strides=strides, norm=norm, name=f"stage{stage + 1}_block{block + 1}")
  return x


def basic_block(x: tf.Tensor, filters: int, *, strides: int, norm: str, name: str) -> tf.Tensor:
  """Applies a basic block: [B, H, W, C] -> [B, H/strides, W/strides, filters].

  The shortcut is a 1x1 convolution where sizes differ.
  """
  shortcut = x
  if strides != 1 or x.shape[-1] != filters:
    shortcut = norms.conv(x, filters, 1, strides=strides, norm=norm, relu=False,
                          name=f"{name}_short")
  x = norms.conv(x, filters, 3, strides=strides, norm=norm, name=f"{name}_1")
  x = norms.conv(x, filters, 3, norm=norm, relu=False, name=f"{name}_2")
  x = tf.keras.layers.Add(name=f"{name}_add")([shortcut, x])
  return tf.keras.layers.ReLU(name=f"{name}_relu")(x)


def bottleneck_block(x: tf.Tensor, filters: int, *, strides: int, norm: str, name: str
                     ) -> tf.Tensor:
  """Applies a bottleneck: [B, H, W, C] -> [B, H/strides, W/strides, 4 * filters].

  The first convolution strides, as in the paper and in keras-cv.
  """
  shortcut = x
  if strides != 1 or x.shape[-1] != 4 * filters:
    shortcut = norms.conv(x, 4 * filters, 1, strides=strides, norm=norm, relu=False,
                          name=f"{name}_short")
  x = norms.conv(x, filters, 1, strides=strides, norm=norm, name=f"{name}_1")
  x = norms.conv(x, filters, 3, norm=norm, name=f"{name}_2")
  x = norms.conv(x, 4 * filters, 1, norm=norm, relu=False, name=f"{name}_3")
  x = tf.keras.layers.Add(name=f"{name}_add")([shortcut, x])
  return tf.keras.layers.ReLU(name=f"{name}_relu")(x)
