# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Shapes of the published CLIP models, and of others by config.json or by their weights.

Layers that both towers of CLIP consist of.

Text tower of CLIP: token ids [B, L] -> embeddings [B, E], not normalized.

Image towers of CLIP: pixels 0..255 [B, S, S, 3] -> embeddings [B, E], not normalized.
"""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
from typing import Any

import tensorflow as tf

from suite.models import vit

HEAD_WIDTH = 64  # Of every model of the paper (tables 19 and 20).
EPSILON = 1e-5  # Of all norms.
MEAN = (0.48145466, 0.4578275, 0.40821073)  # Of the training images' channels, in 0..1.
STD = (0.26862954, 0.26130258, 0.27577711)


@dataclasses.dataclass(frozen=True)
class Body:
  """A transformer: `layers` blocks of `width` D with `heads` heads and an MLP of `mlp` units."""

  width: int
  layers: int
  heads: int
  mlp: int
  activation: str = "quick_gelu"


@dataclasses.dataclass(frozen=True)
class VisionTransformer:
  """Image tower of square images in patches."""

  image_size: int
  patch_size: int
  body: Body


@dataclasses.dataclass(frozen=True)
class AttentionResNet:
  """Image tower: a ResNet of bottlenecks, `blocks` in each of four stages, pooled by attention."""

  image_size: int
  blocks: tuple[int, ...]
  width: int


@dataclasses.dataclass(frozen=True)
class Text:
  """Text tower of `length` tokens out of a vocabulary."""

  length: int
  vocabulary: int
  body: Body


@dataclasses.dataclass(frozen=True)
class Clip:
  """Both towers and the width of their common space."""

  embedding: int
  image: VisionTransformer | AttentionResNet
  text: Text


def _body(width: int, layers: int = 12) -> Body:
  return Body(width, layers, width // HEAD_WIDTH, 4 * width)


def _text(width: int) -> Text:
  return Text(77, 49408, _body(width))


KNOWN = {
    "RN50": Clip(1024, AttentionResNet(224, (3, 4, 6, 3), 64), _text(512)),
    "RN101": Clip(512, AttentionResNet(224, (3, 4, 23, 3), 64), _text(512)),
    "ViT-B/32": Clip(512, VisionTransformer(224, 32, _body(768)), _text(512)),
    "ViT-B/16": Clip(512, VisionTransformer(224, 16, _body(768)), _text(512)),
    "ViT-L/14": Clip(768, VisionTransformer(224, 14, _body(1024, 24)), _text(768)),
}


def named(name: str) -> Clip:
  """Returns a published architecture."""
  if name not in KNOWN:
    raise ValueError(f"Unknown CLIP {name!r}; allowed are {', '.join(KNOWN)}.")
  return KNOWN[name]


def from_config(config: Mapping[str, Any]) -> Clip:
  """Reads config.json of Hugging Face; fields that are left out have the values of ViT-B/32."""
  try:
    image, text = config.get("vision_config") or {}, config.get("text_config") or {}
    return Clip(
        int(config.get("projection_dim", 512)),
        VisionTransformer(int(image.get("image_size", 224)), int(image.get("patch_size", 32)),
                          _configured(image, 768, 12)),
        Text(int(text.get("max_position_embeddings", 77)), int(text.get("vocab_size", 49408)),
             _configured(text, 512, 8)))
  except (AttributeError, TypeError, ValueError) as error:
    raise ValueError(f"The configuration is not that of a CLIP: {error}. Give the config.json "
                     "that was saved with the weights.") from error


def _configured(config: Mapping[str, Any], width: int, heads: int) -> Body:
  found = Body(int(config.get("hidden_size", width)), int(config.get("num_hidden_layers", 12)),
               int(config.get("num_attention_heads", heads)),
               int(config.get("intermediate_size", 4 * width)),
               str(config.get("hidden_act", "quick_gelu")))
  if found.activation not in ("quick_gelu", "gelu"):
    raise ValueError(f"hidden_act is {found.activation!r}, allowed are quick_gelu and gelu")
  if min(found.width, found.layers, found.heads, found.mlp) < 1 or found.width % found.heads:
    raise ValueError(f"{found.heads} heads do not divide the width {found.width}")
  return found


def from_shapes(shapes: Mapping[str, tuple[int, ...]]) -> Clip:
  """Finds the architecture that has these weights, in either layout; heads are 64 wide."""
  image: VisionTransformer | AttentionResNet
  try:
    if "text_model.embeddings.token_embedding.weight" in shapes:
      patches = shapes["vision_model.embeddings.patch_embedding.weight"]
      positions = shapes["vision_model.embeddings.position_embedding.weight"][0]
      image = VisionTransformer(
        _edge(positions) * patches[2],
        patches[2],
        _body(patches[0], _count(shapes, "vision_model.encoder.layers.", 3)),
      )
      vocabulary, width = shapes["text_model.embeddings.token_embedding.weight"]
      length = shapes["text_model.embeddings.position_embedding.weight"][0]
      body = _body(width, _count(shapes, "text_model.encoder.layers.", 3))
      return Clip(shapes["text_projection.weight"][0], image, Text(length, vocabulary, body))
    vocabulary, width = shapes["token_embedding.weight"]
    text = Text(shapes["positional_embedding"][0], vocabulary,
                _body(width, _count(shapes, "transformer.resblocks.", 2)))
    first = shapes["visual.conv1.weight"]
    if "visual.attnpool.positional_embedding" in shapes:
      blocks_by_stage = tuple(_count(shapes, f"visual.layer{stage}.", 2) for stage in range(1, 5))
      positions = shapes["visual.attnpool.positional_embedding"][0]
      image = AttentionResNet(32 * _edge(positions), blocks_by_stage, 2 * first[0])
    else:
      positions = shapes["visual.positional_embedding"][0]
      image = VisionTransformer(_edge(positions) * first[2], first[2],
                                _body(first[0], _count(shapes, "visual.transformer.resblocks.", 3)))
    return Clip(shapes["text_projection"][1], image, text)
  except (KeyError, IndexError, ZeroDivisionError) as error:
    raise ValueError(
        f"These are not weights of a CLIP: {error} is not there or of another rank; the file has "
        f"{', '.join(sorted(shapes)[:5])}, ... Give the file of both towers, with the names of "
        "OpenAI or of Hugging Face.") from error


def _edge(positions: int) -> int:
  """Edge of the square of patches, of which there are `positions` less the class token."""
  return round((positions - 1) ** 0.5)


def _count(shapes: Mapping[str, tuple[int, ...]], prefix: str, place: int) -> int:
  return len({name.split(".")[place] for name in shapes if name.startswith(prefix)})


@tf.keras.utils.register_keras_serializable("lifelong_suite")
def quick_gelu(x: tf.Tensor) -> tf.Tensor:
  """x sigmoid(1.702 x), the approximation of GELU with which CLIP was trained."""
  return x * tf.sigmoid(1.702 * x)


@tf.keras.utils.register_keras_serializable("lifelong_suite")
class Positions(tf.keras.layers.Layer):
  """Adds learned positions: [B, L, D] -> [B, L, D]."""

  def build(self, input_shape: tf.TensorShape) -> None:
    self.positions = self.add_weight("positions", shape=input_shape[1:])
    super().build(input_shape)

  def call(self, x: tf.Tensor) -> tf.Tensor:
    return x + self.positions


def norm(name: str) -> tf.keras.layers.Layer:
  return tf.keras.layers.LayerNormalization(epsilon=EPSILON, name=name)


def blocks(x: tf.Tensor, body: Body, *, causal: bool) -> tf.Tensor:
  """Applies the residual blocks, norms first: [B, L, D] -> [B, L, D].

  With `causal`, position i attends to positions 0..i only.
  """
  activation = quick_gelu if body.activation == "quick_gelu" else tf.nn.gelu
  for i in range(body.layers):
    y = norm(f"block{i}_norm1")(x)
    attention = tf.keras.layers.MultiHeadAttention(body.heads, body.width // body.heads,
                                                   name=f"block{i}_attention")
    x = x + attention(y, y, use_causal_mask=causal)
    y = norm(f"block{i}_norm2")(x)
    y = tf.keras.layers.Dense(body.mlp, activation, name=f"block{i}_mlp1")(y)
    x = x + tf.keras.layers.Dense(body.width, name=f"block{i}_mlp2")(y)
  return x


def text_tower(clip: Clip) -> tf.keras.Model:
  """Builds the text tower without weights.

  The embedding is read at the end token, the highest id of the vocabulary, so that the padding
  after it has no effect.
  """
  text = clip.text
  inputs = tf.keras.Input((text.length,), dtype=tf.int32, name="tokens")
  x = tf.keras.layers.Embedding(text.vocabulary, text.body.width, name="embedding")(inputs)
  x = Positions(name="positions")(x)
  x = blocks(x, text.body, causal=True)
  x = norm("final_norm")(x)
  x = tf.gather(x, tf.argmax(inputs, axis=1), batch_dims=1)
  x = tf.keras.layers.Dense(clip.embedding, use_bias=False, name="projection")(x)
  return tf.keras.Model(inputs, x, name="clip_text")


def image_tower(clip: Clip) -> tf.keras.Model:
  """Builds the image tower without weights.

  The ResNet has a stem of three convolutions, average pools for strides, and attention at its end.
  """
  image, edge = clip.image, clip.image.image_size
  inputs = tf.keras.Input((edge, edge, 3), dtype=tf.float32, name="image")
  x = tf.keras.layers.Normalization(mean=[255 * m for m in MEAN],
                                    variance=[(255 * s) ** 2 for s in STD], name="pixels")(inputs)
  if isinstance(image, VisionTransformer):
    body = image.body
    x = tf.keras.layers.Conv2D(body.width, image.patch_size, image.patch_size, use_bias=False,
                               name="patches")(x)
    x = tf.keras.layers.Reshape((-1, body.width), name="flatten_patches")(x)
    x = norm("pre_norm")(vit.Tokens(name="tokens")(x))
    x = blocks(x, body, causal=False)
    x = norm("post_norm")(x[:, 0])
    outputs = tf.keras.layers.Dense(clip.embedding, use_bias=False, name="projection")(x)
  else:
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
    x = Positions(name="positions")(x)
    pool = tf.keras.layers.MultiHeadAttention(
        width // HEAD_WIDTH, HEAD_WIDTH, output_shape=clip.embedding, name="pool")
    outputs = pool(x[:, :1], x)[:, 0]
  return tf.keras.Model(inputs, outputs, name="clip_image")


def _bottleneck(x: tf.Tensor, width: int, name: str, *, stride: int, first: bool) -> tf.Tensor:
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


def _unit(x: tf.Tensor, width: int, kernel: int, name: str, *, stride: int = 1,
          pad: str = "same", relu: bool = True) -> tf.Tensor:
  """Convolution, batch norm by the stored moments, and ReLU."""
  x = tf.keras.layers.Conv2D(width, kernel, stride, pad, use_bias=False, name=f"{name}_conv")(x)
  x = tf.keras.layers.BatchNormalization(epsilon=EPSILON, name=f"{name}_norm")(
      x, training=False)
  return tf.nn.relu(x) if relu else x
