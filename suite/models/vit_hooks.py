# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What methods train in a frozen vision transformer (`vit`), a Keras layer each: image to feature.

  LowRank        x W + s (x A) B in projections of the attention (LoRA; Hu et al., 2022)
  GivenLowRank   the same, A given and B trained (InfLoRA; Liang & Li, 2024)
  Adapters       s (relu(x A + a) B + b) beside each MLP (AdaptFormer; Chen et al., 2022)

and the layers of `vit_prompts`. The frozen net runs as in evaluation, without dropout. Its weights
belong to the backbone, not to these layers, and get no gradients.

Letters: B images, N tokens, D their width, H heads, L prefix tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import math
from typing import Any

import tensorflow as tf

from suite.models import keras_cv_models
from suite.models import precision

Addition = Callable[[tf.Tensor], tf.Tensor]  # Tokens [B, N, D] to what is added, [B, N, D].
PROJECTIONS = ("query", "key", "value")


class FrozenVit:
  """The layers of a net of `vit.vit`, run one by one. It is no `tf.Module`: its owner has them.

  Args:
    model: the net; it is not changed.
    owner: the method that hooks into it, for messages.

  Attributes:
    width: D. depth: number of blocks. num_tokens: N, with the class token.
  """

  def __init__(self, model: tf.keras.Model, owner: str):
    layers = {layer.name: layer for layer in model.layers}
    self._blocks = [layers[name] for name in layers
                    if name.startswith("block") and hasattr(layers[name], "attn")]
    if not self._blocks or not {"tokens", "final_norm"} <= set(layers):
      raise ValueError(
          f"{owner} hooks into the blocks of a vision transformer, and {model.name} has none. Take "
          "vit.vit as the backbone, or a method for any net, such as FINETUNE.")
    self.model, self._norm, self._is_mean = model, layers["final_norm"], "pool" in layers
    self._embed = tf.keras.Model(model.input, layers["tokens"].output)
    self.depth, self.owner = len(self._blocks), owner
    _, self.num_tokens, self.width = self._embed.output_shape

  def query(self, images: tf.Tensor) -> tf.Tensor:
    """Features [B, D] of the net as it is."""
    return tf.stop_gradient(tf.cast(self.model(images, training=False), tf.float32))

  def tokens(self, images: tf.Tensor) -> tf.Tensor:
    """The class token and the patches' tokens, [B, N, D]."""
    return tf.cast(self._embed(images, training=False), tf.float32)

  def attended(self, index: int, tokens: tf.Tensor) -> tf.Tensor:
    """What the projections of a block take, [B, N, D], of its tokens [B, N, D]."""
    return tf.cast(self._blocks[index].layer_norm1(tokens), tokens.dtype)

  def block(self, index: int, tokens: tf.Tensor, *, prefix: Sequence[tf.Tensor] = (),
            low_rank: Mapping[str, Addition] | None = None,
            shifts: Mapping[str, tf.Tensor] | None = None, adapter: Addition | None = None
            ) -> tf.Tensor:
    """Tokens [B, N, D] after a block.

    Args:
      prefix: () or two tensors [B, L, D], of keys and of values.
      low_rank: what is added to the results of some of `PROJECTIONS`.
      shifts: what is added to the kernels of some of them, [D, D].
      adapter: what is added to the MLP's result.
    """
    block, normed = self._blocks[index], self.attended(index, tokens)
    tokens += _attention(block.attn, normed, prefix, low_rank or {}, shifts or {})
    hidden = keras_cv_models.activated(block, block.dense1(block.layer_norm2(tokens)))
    result = tokens + tf.cast(block.dense2(hidden), tokens.dtype)
    return result if adapter is None else result + adapter(tokens)

  def features(self, tokens: tf.Tensor) -> tf.Tensor:
    """Features [B, D], as the net makes them, of the tokens [B, N, D] after the last block."""
    return self.normed(tf.reduce_mean(tokens[:, 1:], axis=1) if self._is_mean else tokens[:, 0])

  def normed(self, tokens: tf.Tensor) -> tf.Tensor:
    """The final norm of tokens [B, ..., D]."""
    rows = tf.reshape(tokens, [-1, self.width])  # The layer was built for [B, D], or [B, N, D].
    found = self._norm(rows if self._is_mean else rows[:, None])
    return tf.reshape(tf.cast(found, tf.float32), [-1, *tokens.shape[1:]])

  def check_blocks(self, name: str, blocks: Sequence[int]) -> tuple[int, ...]:
    """Refuses numbers of blocks that the net does not have; `name` is for the message."""
    wrong = [b for b in blocks if not 0 <= b < self.depth]
    if wrong:
      raise ValueError(f"{name} has block {wrong[0]}; {self.model.name} has the blocks 0 to "
                       f"{self.depth - 1}.")
    return tuple(blocks)


def _attention(attention: Any, tokens: tf.Tensor, prefix: Sequence[tf.Tensor],
               low_rank: Mapping[str, Addition], shifts: Mapping[str, tf.Tensor]) -> tf.Tensor:
  """Multi-head self-attention by the weights of a Keras layer, with hooks; [B, N, D] to same."""
  # Kernels [D, H, D / H] and biases of query, key and value; kernel [H, D / H, D] and bias.
  weights = attention.weights
  heads, size = weights[0].shape[1:]
  given = dict(zip(PROJECTIONS, (tokens, *(
      tf.concat([p, tokens], axis=1) for p in prefix or (tokens[:, :0],) * 2))))

  def projected(name: str) -> tf.Tensor:
    place = 2 * PROJECTIONS.index(name)
    kernel = weights[place]
    if name in shifts:
      kernel = tf.cast(kernel, tokens.dtype) + tf.reshape(shifts[name], kernel.shape)
    found = linear(given[name], kernel, weights[place + 1])
    if name in low_rank:
      found += low_rank[name](given[name])
    return tf.transpose(tf.reshape(found, [-1, found.shape[1], heads, size]), [0, 2, 1, 3])

  query, key, value = (projected(name) for name in PROJECTIONS)
  scores = precision.matmul(query, tf.transpose(key, [0, 1, 3, 2])) / math.sqrt(size)
  mixed = precision.matmul(tf.nn.softmax(scores), value)
  mixed = tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [-1, tokens.shape[1], heads * size])
  return linear(mixed, weights[6], weights[7])


def linear(tokens: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor | None = None) -> tf.Tensor:
  """Tokens [B, N, D] times a kernel of D rows, of any rank."""
  length, width = tokens.shape[1:]
  columns = kernel.shape.num_elements() // width
  found = precision.matmul(tf.reshape(tokens, [-1, width]),
                           tf.reshape(tf.cast(kernel, tokens.dtype), [width, columns]))
  if bias is not None:
    found += tf.reshape(tf.cast(bias, tokens.dtype), [columns])
  return tf.reshape(found, [-1, length, columns])


class LowRank(tf.keras.layers.Layer):
  """Low-rank changes of attention projections: x W + scale (x A) B; B begins at zero.

  Args:
    vit: the net.
    rank: r; A is [D, r], B [r, D].
    scale: s, LoRA's alpha / r.
    projections: those that are changed, of `PROJECTIONS`.
  """

  def __init__(self, vit: FrozenVit, rank: int = 10, scale: float = 1.0,
               projections: Sequence[str] = ("query", "value"), **settings: Any):
    super().__init__(**{"dtype": "float32", "name": "low_rank", **settings})
    unknown = sorted(set(projections) - set(PROJECTIONS))
    if unknown or not projections:
      raise ValueError(f"LowRank.projections is {tuple(projections)}; allowed are "
                       f"{', '.join(PROJECTIONS)}.")
    if not 1 <= rank <= vit.width:
      raise ValueError(f"LowRank.rank is {rank}; allowed are 1 to {vit.width}, the net's width.")
    self._settings = {"vit": vit, "rank": rank, "scale": scale, "projections": projections}
    self._vit, self._rank, self._scale, self._projections = vit, rank, scale, tuple(projections)
    self.own_macs = 2 * rank * vit.width * vit.num_tokens * vit.depth * len(self._projections)

  def build(self, input_shape: Any) -> None:
    width, first = self._vit.width, (self._vit.depth, len(self._projections))
    self.a = self.add_weight("a", [*first, width, self._rank], initializer=_uniform(width))
    self.b = self.add_weight("b", [*first, self._rank, width], initializer="zeros")
    super().build(input_shape)

  @tf.autograph.experimental.do_not_convert
  def call(self, images: tf.Tensor, training: bool | None = None) -> tf.Tensor:
    del training
    tokens = self._vit.tokens(images)
    for i, pairs in enumerate(zip(tf.unstack(self.a), tf.unstack(self.b))):
      tokens = self._vit.block(i, tokens, low_rank={
          name: self._added(a, b)
          for name, a, b in zip(self._projections, *(tf.unstack(part) for part in pairs))})
    return self._vit.features(tokens)

  def _added(self, a: tf.Tensor, b: tf.Tensor) -> Addition:
    return lambda tokens: self._scale * linear(linear(tokens, a), b)

  def get_config(self) -> dict[str, Any]:
    return {**super().get_config(), **self._settings}


class GivenLowRank(tf.keras.layers.Layer):
  """Low-rank changes of keys and values in given directions: x (W + S) + (x A) B.

  A, orthonormal columns, and the sum S of all changes before are set from outside; only B is
  trained, and begins at zero. So a change sees nothing but the given directions of the inputs x.

  Args:
    vit: the net.
    rank: r; A is [D, r] of each block, B [r, D] of each block and projection.
  """

  projections = ("key", "value")

  def __init__(self, vit: FrozenVit, rank: int = 10, **settings: Any):
    super().__init__(**{"dtype": "float32", "name": "given_low_rank", **settings})
    if not 1 <= rank <= vit.width:
      raise ValueError(f"GivenLowRank.rank is {rank}; allowed are 1 to {vit.width}, the net's "
                       "width.")
    self._settings = {"vit": vit, "rank": rank}
    self._vit, self.rank = vit, rank
    self.own_macs = 4 * rank * vit.width * vit.num_tokens * vit.depth

  def build(self, input_shape: Any) -> None:
    width, first = self._vit.width, (self._vit.depth, len(self.projections))
    self.b = self.add_weight("b", [*first, self.rank, width], initializer="zeros")
    self.a = self.add_weight("a", [first[0], width, self.rank], initializer="zeros",
                             trainable=False)
    self.sums = self.add_weight("sums", [*first, width, width], initializer="zeros",
                                trainable=False)
    super().build(input_shape)

  @tf.autograph.experimental.do_not_convert
  def call(self, images: tf.Tensor, training: bool | None = None) -> tf.Tensor:
    del training
    return self._vit.features(self._through(images)[-1])

  def moments(self, images: tf.Tensor, weights: tf.Tensor) -> tf.Tensor:
    """Sums of x x' over the inputs x of the projections of each block, [blocks, D, D].

    `weights` [B] is 1, or 0 for an image that does not count.
    """
    width, found = self._vit.width, []
    for i, tokens in enumerate(self._through(images)[:-1]):
      rows = tf.reshape(weights[:, None, None] * self._vit.attended(i, tokens), [-1, width])
      found.append(tf.matmul(rows, rows, transpose_a=True))
    return tf.stack(found)

  def merge(self) -> None:
    """Adds the change to the sum; a new one begins at zero."""
    self.sums.assign_add(tf.matmul(self.a[:, None], self.b))
    self.b.assign(tf.zeros_like(self.b))

  def _through(self, images: tf.Tensor) -> list[tf.Tensor]:
    """The tokens [B, N, D] before each block, and after the last."""
    found = [self._vit.tokens(images)]
    for i, (a, b, sums) in enumerate(zip(*(tf.unstack(v) for v in (self.a, self.b, self.sums)))):
      pairs = zip(self.projections, tf.unstack(b))
      found.append(self._vit.block(
          i, found[-1], low_rank={name: self._added(a, part) for name, part in pairs},
          shifts=dict(zip(self.projections, tf.unstack(sums)))))
    return found

  def _added(self, a: tf.Tensor, b: tf.Tensor) -> Addition:
    return lambda tokens: linear(linear(tokens, a), b)

  def get_config(self) -> dict[str, Any]:
    return {**super().get_config(), **self._settings}


class Adapters(tf.keras.layers.Layer):
  """Bottlenecks beside the MLPs: scale (relu(x A + a) B + b) is added; B, a and b begin at zero.

  Args:
    vit: the net.
    bottleneck: r; A is [D, r], B [r, D].
    scale: s.
  """

  def __init__(self, vit: FrozenVit, bottleneck: int = 64, scale: float = 0.1, **settings: Any):
    super().__init__(**{"dtype": "float32", "name": "adapters", **settings})
    if bottleneck < 1:
      raise ValueError(f"Adapters.bottleneck is {bottleneck}; it must be at least 1.")
    self._settings = {"vit": vit, "bottleneck": bottleneck, "scale": scale}
    self._vit, self._size, self._scale = vit, bottleneck, scale
    self.own_macs = 2 * bottleneck * vit.width * vit.num_tokens * vit.depth

  def build(self, input_shape: Any) -> None:
    depth, width = self._vit.depth, self._vit.width
    self.down = self.add_weight("down", [depth, width, self._size], initializer=_uniform(width))
    self.down_bias = self.add_weight("down_bias", [depth, self._size], initializer="zeros")
    self.up = self.add_weight("up", [depth, self._size, width], initializer="zeros")
    self.up_bias = self.add_weight("up_bias", [depth, width], initializer="zeros")
    super().build(input_shape)

  @tf.autograph.experimental.do_not_convert
  def call(self, images: tf.Tensor, training: bool | None = None) -> tf.Tensor:
    del training
    return self.features(images, self.weights)

  def features(self, images: tf.Tensor, weights: Sequence[tf.Tensor]) -> tf.Tensor:
    """Features [B, D] by weights in the place of the layer's own, in the same order."""
    tokens = self._vit.tokens(images)
    for i, of_block in enumerate(zip(*(tf.unstack(w) for w in weights))):
      tokens = self._vit.block(i, tokens, adapter=self._added(*of_block))
    return self._vit.features(tokens)

  def _added(self, down: tf.Tensor, down_bias: tf.Tensor, up: tf.Tensor, up_bias: tf.Tensor
             ) -> Addition:
    return lambda tokens: self._scale * linear(
        tf.nn.relu(linear(tokens, down, down_bias)), up, up_bias)

  def get_config(self) -> dict[str, Any]:
    return {**super().get_config(), **self._settings}


def _uniform(fan_in: int) -> tf.keras.initializers.Initializer:
  """As PyTorch's linear layers begin."""
  limit = 1 / math.sqrt(fan_in)
  return tf.keras.initializers.RandomUniform(-limit, limit)
