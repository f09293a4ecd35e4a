# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Modulated attention on the last map of a network (OLTR; Liu et al., 2019).

For a map x of H x W cells and C channels, with A = C / 2,

    context = softmax over cells of (theta x)(phi x)^T, times g x       [HW, A], between cells
    where   = softmax over cells of a dense layer on all of x           [HW], one weight a cell
    result  = x + where * (W context)

theta, phi, g and W are 1x1 convolutions; W is zero at first, so that features begin as those of the
network without attention.
"""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

from suite.models import heads
from suite.models import precision

ImageShape = tuple[int, int, int]


def attended(image_shape: ImageShape = (224, 224, 3), *, backbone: Callable[..., tf.keras.Model]
             ) -> tf.keras.Model:
  """Builds a network with modulated attention below its last layer.

  Weights of the attention come after those of the backbone, so an encoder of the backbone fills
  its part (`trainable_parts.AllLayers.weights`).

  Args:
    image_shape: (H, W, C) of images.
    backbone: makes a Keras model of `image_shape` whose last layer makes features [B, D] of a map
      [B, H, W, C], such as `conv4.conv4` or a ResNet.
  """
  model = backbone(image_shape)
  last = model.layers[-1]
  if len(last.input_shape) != 4:
    raise ValueError(f"{model.name} ends with {last.name!r}, which takes {last.input_shape}; "
                     "modulated attention needs a map [B, H, W, C] there. Give conv4 or a ResNet.")
  x = modulated(last.input)
  pooled = type(last).from_config(last.get_config())(x)
  return tf.keras.Model(model.inputs, pooled, name=f"{model.name}_attended")


def modulated(x: tf.Tensor) -> tf.Tensor:
  """Applies the attention: a map [B, H, W, C] -> [B, H, W, C]."""
  height, width, channels = (int(n) for n in x.shape[1:])
  if channels < 2:
    raise ValueError(f"The map has {channels} channel; modulated attention halves it and needs 2.")

  def conv(y: tf.Tensor, filters: int, name: str, **settings: object) -> tf.Tensor:
    return tf.keras.layers.Conv2D(
        filters, 1, name=f"attention_{name}", dtype=precision.of_products(), **settings)(y)

  theta, phi, g = (conv(x, channels // 2, name, kernel_initializer="he_normal")
                   for name in ("theta", "phi", "g"))
  mask = conv(Context(name="attention_context")([theta, phi, g]), channels, "mask",
              use_bias=False, kernel_initializer="zeros")
  cells = height * width
  logits = tf.keras.layers.Dense(
      cells, name="attention_where", dtype=precision.FLOAT32,
      **heads.initializers("pytorch", cells * channels))(tf.keras.layers.Flatten()(x))
  return Modulated(name="attention_sum")([x, mask, logits])


@tf.keras.utils.register_keras_serializable("lifelong_suite")
class Context(tf.keras.layers.Layer):
  """Attention between cells: theta, phi, g [B, H, W, A] to [B, H, W, A]."""

  def call(self, inputs: list[tf.Tensor]) -> tf.Tensor:
    cells = inputs[0].shape[1] * inputs[0].shape[2]
    theta, phi, g = (tf.reshape(x, [-1, cells, x.shape[3]]) for x in inputs)
    shares = tf.nn.softmax(tf.matmul(theta, phi, transpose_b=True))
    return tf.reshape(tf.matmul(shares, g), [-1, *inputs[2].shape[1:]])


@tf.keras.utils.register_keras_serializable("lifelong_suite")
class Modulated(tf.keras.layers.Layer):
  """x + softmax(logits) * mask; x, mask [B, H, W, C], logits [B, H W] -> [B, H, W, C]."""

  def call(self, inputs: list[tf.Tensor]) -> tf.Tensor:
    x, mask, logits = inputs
    where = tf.reshape(tf.nn.softmax(logits), [-1, *x.shape[1:3], 1])
    return x + tf.cast(where, x.dtype) * tf.cast(mask, x.dtype)
