# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Vision transformer (Dosovitskiy et al., 2021); the default is ViT-B/8.

NEVIS'22 (appendix D) has it with the mean of the patches' tokens as feature (He et al., 2022):
pool="mean".

The blocks are keras-cv's. Its `PatchingAndEmbedding` is not used: it supports square images only,
and its positions are an `Embedding`, whose gradient is sparse (`tf.IndexedSlices`), whereas
penalties and gradient projections need a dense tensor.
"""

from __future__ import annotations

import tensorflow as tf

from suite.models import image_input
from suite.models import keras_cv_models
from suite.models import precision

POOLS = ("token", "mean")
GELUS = ("tanh", "exact")


def vit(image_shape: tuple[int, int, int] = (64, 64, 3), *, patch_size: int = 8, layers: int = 12,
        width: int = 768, heads: int = 12, mlp_size: int = 3072, dropout: float = 0.0,
        pool: str = "token", pixels: str = "symmetric", gelu: str = "tanh", name: str = "vit_b8"
        ) -> tf.keras.Model:
  """Builds the net: pixels 0..255 [B, H, W, 3] -> features [B, width].

  Features are the normed class token (pool "token"), or the normed mean of all others ("mean").
  `pixels` is as of `image_input`. `gelu` is "tanh", keras-cv's approximation, or "exact", with
  which the published transformers of PyTorch were trained.
  """
  if gelu not in GELUS:
    raise ValueError(f"gelu is {gelu!r}; allowed are {', '.join(GELUS)}.")
  if pool not in POOLS:
    raise ValueError(f"pool is {pool!r}; allowed are {', '.join(POOLS)}.")
  height, length = image_shape[:2]
  if height % patch_size or length % patch_size:
    raise ValueError(f"Images of {height}x{length} pixels cannot be cut into patches of "
                     f"{patch_size}x{patch_size}; both sides must be multiples of patch_size.")
  if width % heads:
    raise ValueError(f"width {width} cannot be split over {heads} heads; use a multiple of heads.")
  inputs, x = image_input.image_input(image_shape, pixels)
  x = tf.keras.layers.Conv2D(width, patch_size, strides=patch_size, name="patches",
                             dtype=precision.of_products())(x)
  num_patches = (height // patch_size) * (length // patch_size)
  x = tf.keras.layers.Reshape((num_patches, width), name="flatten_patches")(x)
  x = Tokens(name="tokens")(x)
  for layer in range(layers):
    x = keras_cv_models.transformer_block(
        x, heads=heads, mlp_size=mlp_size, dropout=dropout, name=f"block{layer + 1}",
        activation=exact_gelu if gelu == "exact" else tf.keras.activations.gelu)
  if pool == "mean":
    x = tf.keras.layers.GlobalAveragePooling1D(name="pool", dtype=precision.FLOAT32)(x[:, 1:])
  x = tf.keras.layers.LayerNormalization(epsilon=1e-6, name="final_norm",
                                         dtype=precision.FLOAT32)(x)
  return tf.keras.Model(inputs, x if pool == "mean" else x[:, 0], name=name)


@tf.keras.utils.register_keras_serializable("lifelong_suite")
def exact_gelu(x: tf.Tensor) -> tf.Tensor:
  """x times the normal distribution's function; keras-cv's blocks approximate Keras's own GELU."""
  return tf.nn.gelu(x)


@tf.keras.utils.register_keras_serializable("lifelong_suite")
class Tokens(tf.keras.layers.Layer):
  """Prepends a learned class token and adds learned positions: [B, N, D] -> [B, 1 + N, D]."""

  def build(self, input_shape: tf.TensorShape) -> None:
    _, num_patches, width = input_shape
    self.class_token = self.add_weight("class_token", shape=(1, 1, width), initializer="zeros")
    self.position_embedding = self.add_weight(
        "position_embedding", shape=(1, 1 + num_patches, width),
        initializer=tf.keras.initializers.TruncatedNormal(stddev=0.02))
    super().build(input_shape)

  def call(self, patches: tf.Tensor) -> tf.Tensor:
    # [B, 1, D] by repeating: broadcasting to a dynamic batch size would lose static shapes.
    class_token = tf.repeat(tf.cast(self.class_token, patches.dtype), tf.shape(patches)[0], axis=0)
    tokens = tf.concat([class_token, patches], axis=1)
    return tokens + tf.cast(self.position_embedding, patches.dtype)
