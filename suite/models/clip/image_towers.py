# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Image towers of CLIP: pixels 0..255 [B, S, S, 3] -> embeddings [B, E], not normalized."""

from __future__ import annotations

import tensorflow as tf

from suite.models import vit
from suite.models.clip import architecture
from suite.models.clip import clip_layers

MEAN = (0.48145466, 0.4578275, 0.40821073)  # Of the training images' channels, in 0..1.
STD = (0.26862954, 0.26130258, 0.27577711)


def image_tower(clip: architecture.Clip) -> tf.keras.Model:
  """Builds the image tower without weights."""
  edge = clip.image.image_size
  inputs = tf.keras.Input((edge, edge, 3), dtype=tf.float32, name="image")
  x = tf.keras.layers.Normalization(mean=[255 * m for m in MEAN],
                                    variance=[(255 * s) ** 2 for s in STD], name="pixels")(inputs)
  if isinstance(clip.image, architecture.VisionTransformer):
    outputs = _transformer(x, clip.image, clip.embedding)
  else:
    outputs = _resnet(x, clip.image, clip.embedding)
  return tf.keras.Model(inputs, outputs, name="clip_image")


def _transformer(x, image: architecture.VisionTransformer, embedding: int):
  body = image.body
  x = tf.keras.layers.Conv2D(body.width, image.patch_size, image.patch_size, use_bias=False,
                             name="patches")(x)
  x = tf.keras.layers.Reshape((-1, body.width), name="flatten_patches")(x)
  x = clip_layers.norm("pre_norm")(vit.Tokens(name="tokens")(x))
  x = clip_layers.blocks(x, body, causal=False)
  x = clip_layers.norm("post_norm")(x[:, 0])
  return tf.keras.layers.Dense(embedding, use_bias=False, name="projection")(x)


def _resnet(x, image: architecture.AttentionResNet, embedding: int):
  """A ResNet with a stem of three convolutions, average pools for strides, and attention."""
  x = tf.keras.layers.ZeroPadding2D(1, name="stem_pad")(x)
  for i, width in enumerate([image.width // 2, image.width // 2, image.width]):
    x = _unit(x, width, 3, f"stem{i + 1}", stride=1 if i else 2, pad="same" if i else "valid")
  x = tf.keras.layers.AveragePooling2D(2, name="stem_pool")(x)
  for stage, count in enumerate(image.blocks):
    for block in range(count):
      x = _bottleneck(x, image.width * 2 ** stage, f"stage{stage + 1}_block{block}",
                      stride=2 if stage and not block else 1, first=not block)
  width = 32 * image.width
  x = tf.keras.layers.Reshape((-1, width), name="flatten_map")(x)
  x = tf.concat([tf.reduce_mean(x, axis=1, keepdims=True), x], axis=1)
  x = clip_layers.Positions(name="positions")(x)
  pool = tf.keras.layers.MultiHeadAttention(
      width // architecture.HEAD_WIDTH, architecture.HEAD_WIDTH, output_shape=embedding,
      name="pool")
  return pool(x[:, :1], x)[:, 0]


def _bottleneck(x, width: int, name: str, *, stride: int, first: bool):
  y = _unit(x, width, 1, f"{name}_1")
  y = _unit(y, width, 3, f"{name}_2")
  if stride > 1:
    y = tf.keras.layers.AveragePooling2D(stride, name=f"{name}_pool")(y)
  y = _unit(y, 4 * width, 1, f"{name}_3", relu=False)
  if first:  # The width changes.
    if stride > 1:
      x = tf.keras.layers.AveragePooling2D(stride, name=f"{name}_shortcut_pool")(x)
    x = _unit(x, 4 * width, 1, f"{name}_shortcut", relu=False)
  return tf.nn.relu(x + y)


def _unit(x, width: int, kernel: int, name: str, *, stride: int = 1, pad: str = "same",
          relu: bool = True):
  """Convolution, batch norm by the stored moments, and ReLU."""
  x = tf.keras.layers.Conv2D(width, kernel, stride, pad, use_bias=False, name=f"{name}_conv")(x)
  x = tf.keras.layers.BatchNormalization(epsilon=clip_layers.EPSILON, name=f"{name}_norm")(
      x, training=False)
  return tf.nn.relu(x) if relu else x
