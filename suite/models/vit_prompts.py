# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Prompts of a frozen vision transformer, a Keras layer each: images to features.

  PromptPool    tokens that an image selects by keys, before its own (L2P; Wang et al., 2022)
  DualPrompts   prefixes of keys and values: of all phases, and of one phase each (DualPrompt; Wang
                et al., 2022)
  CodaPrompts   prefixes that are weighted sums of components (CODA-Prompt; Smith et al., 2023)

The query q(x) of an image, which keys are compared with, is its feature in the frozen net: a second
forward pass, which is charged. What is selected or weighted depends on the image alone; codes of
L2P and DualPrompt may take one choice for a batch. Their prompts and keys begin uniform between -1
and 1, as in backbone/prompt.py and vit_dualprompt.py of github.com/sun-hailong/LAMDA-PILOT at
2647455; the first authors' begin between 0 and 0.01 (flax's `uniform`, models/prompt.py of
github.com/google-research/l2p at dd8836e).

A prefix is put before the inputs of the key and value projections, as the papers write it, h the
normed tokens: attention(h, [p_key; h], [p_value; h]). The authors' codes put it behind the
projections, cut into heads. `length` is the number of prefix tokens of keys, and of values.

Rows of a pool may belong to phases. A phase trains its own rows; those of earlier phases stay as
they were, bit by bit, whatever momentum or decay would do, and those of later ones take no part. A
phase beyond the last goes on with the rows of the last.

Letters: B images, N tokens, D their width, M rows of a pool, L prefix tokens, E blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from suite.models import vit_hooks


class PromptPool(tf.keras.layers.Layer):
  """A pool of prompts: an image takes those whose keys are nearest to its query.

  The tokens of the chosen prompts come before the image's; the feature is the mean of what becomes
  of them. In training pull * sum over the chosen keys k of 1 - cos(q(x), k), the mean over images,
  is added to the loss.

  Args:
    vit: the net.
    size: M prompts. length: L tokens of each. chosen: N prompts that an image takes.
    pull: weight of the loss.
  """

  queries = True

  def __init__(self, vit: vit_hooks.FrozenVit, size: int = 10, length: int = 5, chosen: int = 5,
               pull: float = 0.1, **settings: Any):
    super().__init__(**{"dtype": "float32", "name": "prompts", **settings})
    if not 1 <= chosen <= size:
      raise ValueError(f"PromptPool.chosen is {chosen}; allowed are 1 to {size}, its size.")
    self._settings = {
        "vit": vit, "size": size, "length": length, "chosen": chosen, "pull": pull}
    self._vit, self._size, self._length = vit, size, length
    self._chosen, self._pull = chosen, pull
    self.own_macs = size * vit.width * (1 + chosen * length)

  def build(self, input_shape: Any) -> None:
    self.keys = self.add_weight("keys", [self._size, self._vit.width], initializer=_uniform())
    self.prompts = self.add_weight(
        "prompts", [self._size, self._length, self._vit.width], initializer=_uniform())
    super().build(input_shape)

  @tf.autograph.experimental.do_not_convert
  def call(self, images: tf.Tensor, training: bool | None = None) -> tf.Tensor:
    cosines = _cosines(self._vit.query(images), self.keys)
    _, places = tf.math.top_k(cosines, self._chosen)
    choice = tf.one_hot(places, self._size)  # [B, N, M]; a product has a dense gradient.
    if training:
      self.add_loss(self._pull * _distances(cosines, tf.reduce_sum(choice, axis=1)))
    rows = tf.reshape(self.prompts, [self._size, -1])
    num = self._chosen * self._length
    prompts = tf.reshape(vit_hooks.linear(choice, rows), [-1, num, self._vit.width])
    tokens = tf.concat([prompts, self._vit.tokens(images)], axis=1)
    for i in range(self._vit.depth):
      tokens = self._vit.block(i, tokens)
    return tf.reduce_mean(self._vit.normed(tokens[:, :num]), axis=1)

  def get_config(self) -> dict[str, Any]:
    return {**super().get_config(), **self._settings}


class DualPrompts(tf.keras.layers.Layer):
  """Prefixes of all phases in some blocks, and in others those of one phase.

  In training the phase's own prefixes are taken, and pull * (1 - cos(q(x), k)), k the phase's key,
  the mean over images, is added to the loss. Otherwise an image takes the prefixes of the phase,
  of those so far, whose key is nearest to its query.

  Args:
    vit: the net.
    size: phases with prefixes.
    general_length, general_blocks: of the prefixes of all phases ("G-prompt").
    expert_length, expert_blocks: of those of one phase ("E-prompt").
    pull: weight of the loss.
  """

  queries = True

  def __init__(self, vit: vit_hooks.FrozenVit, size: int = 10, general_length: int = 5,
               general_blocks: Sequence[int] = (0, 1), expert_length: int = 5,
               expert_blocks: Sequence[int] = (2, 3, 4), pull: float = 0.1, **settings: Any):
    super().__init__(**{"dtype": "float32", "name": "dual_prompts", **settings})
    self._general_blocks = vit.check_blocks("DualPrompts.general_blocks", general_blocks)
    self._expert_blocks = vit.check_blocks("DualPrompts.expert_blocks", expert_blocks)
    self._settings = {
        "vit": vit, "size": size, "general_length": general_length,
        "general_blocks": general_blocks, "expert_length": expert_length,
        "expert_blocks": expert_blocks, "pull": pull}
    self._vit, self._pull = vit, pull
    self._general_length, self._expert_length = general_length, expert_length
    self._parts = Parts(size, size)
    self.own_macs = size * vit.width * (1 + 2 * expert_length * len(self._expert_blocks))

  def build(self, input_shape: Any) -> None:
    width, size = self._vit.width, self._parts.size
    self.general = self.add_weight(
        "general", [len(self._general_blocks), 2, self._general_length, width],
        initializer=_uniform())
    self._parts.build(self, {
        "keys": ([size, width], _uniform()),
        "expert": ([size, len(self._expert_blocks), 2, self._expert_length, width], _uniform())})
    super().build(input_shape)

  def begin_phase(self) -> None:
    """Begins a phase: from now on it trains its own rows."""
    self._parts.begin_phase()

  @tf.autograph.experimental.do_not_convert
  def call(self, images: tf.Tensor, training: bool | None = None) -> tf.Tensor:
    keys, expert = self._parts.read("keys"), self._parts.read("expert")
    queries = self._vit.query(images)
    cosines, size = _cosines(queries, keys), self._parts.size
    current, taught = self._parts.masks()
    if training:
      choice = tf.ones_like(cosines) * tf.cast(current, tf.float32)
      self.add_loss(self._pull * _distances(cosines, choice))
    else:
      choice = tf.one_hot(tf.argmax(tf.where(taught, cosines, -2.0), axis=1), size)
    chosen = tf.matmul(choice, tf.reshape(expert, [size, -1]))
    chosen = tf.unstack(tf.reshape(chosen, [-1, *expert.shape[1:]]), axis=1)
    general = [tf.repeat(part[None], tf.shape(queries)[0], axis=0)
               for part in tf.unstack(self.general)]
    prefixes: dict[int, list[tf.Tensor]] = {}
    for block, part in zip((*self._general_blocks, *self._expert_blocks), (*general, *chosen)):
      prefixes.setdefault(block, []).append(part)
    return _with_prefixes(self._vit, images, prefixes)

  def get_config(self) -> dict[str, Any]:
    return {**super().get_config(), **self._settings}


class CodaPrompts(tf.keras.layers.Layer):
  """Prefixes p = sum_m alpha_m P_m with alpha_m = cos(q(x) * A_m, K_m), for some blocks.

  Each phase has `size` / `phases` components more; earlier ones stay as they are. In training
  orthogonality * sum over blocks of (|K K' - I|^2 + |A A' - I|^2 + |P P' - I|^2) / M^2, of the M
  components so far, is added to the loss; the paper has the norms, its code their mean entries.

  Args:
    vit: the net.
    size: components of all phases. phases: among which they are divided.
    length: L tokens of keys, and of values; the paper's L_p is 2 L.
    blocks: those with a prefix.
    orthogonality: weight of the loss.
  """

  queries = True

  def __init__(self, vit: vit_hooks.FrozenVit, size: int = 100, phases: int = 10, length: int = 4,
               blocks: Sequence[int] = (0, 1, 2, 3, 4), orthogonality: float = 0.1,
               **settings: Any):
    super().__init__(**{"dtype": "float32", "name": "coda_prompts", **settings})
    if size < 1 or phases < 1 or size % phases:
      raise ValueError(f"CodaPrompts.size is {size} and phases {phases}; give a multiple of phases,"
                       " which have equal parts.")
    self._blocks = vit.check_blocks("CodaPrompts.blocks", blocks)
    self._settings = {"vit": vit, "size": size, "phases": phases, "length": length,
                      "blocks": blocks, "orthogonality": orthogonality}
    self._vit, self._length, self._orthogonality = vit, length, orthogonality
    self._parts = Parts(size, phases)
    # A numerator, a denominator, and the sum, for each block.
    self.own_macs = size * vit.width * (2 + 2 * length) * len(self._blocks)

  def build(self, input_shape: Any) -> None:
    width, shapes = self._vit.width, {}
    for block in self._blocks:
      for name, columns in (("keys", width), ("attention", width),
                            ("prompts", 2 * self._length * width)):
        shapes[f"{name}{block}"] = [self._parts.size, columns], "orthogonal"
    self._parts.build(self, shapes)
    super().build(input_shape)

  def begin_phase(self) -> None:
    """Begins a phase: from now on it trains its own components."""
    self._parts.begin_phase()

  @tf.autograph.experimental.do_not_convert
  def call(self, images: tf.Tensor, training: bool | None = None) -> tf.Tensor:
    queries, prefixes = self._vit.query(images), {}
    _, taught = self._parts.masks()
    present = tf.cast(taught, tf.float32)
    for block in self._blocks:
      keys, attention, prompts = (
          self._parts.read(f"{name}{block}") for name in ("keys", "attention", "prompts"))
      weights = present * attended_cosines(queries, attention, keys)
      found = tf.matmul(weights, prompts)
      prefixes[block] = [tf.reshape(found, [-1, 2, self._length, self._vit.width])]
      if training and self._orthogonality:
        self.add_loss(self._orthogonality * tf.add_n(
            [_skewness(rows, present) for rows in (keys, attention, prompts)]))
    return _with_prefixes(self._vit, images, prefixes)

  def get_config(self) -> dict[str, Any]:
    return {**super().get_config(), **self._settings}


def _uniform() -> tf.keras.initializers.Initializer:
  return tf.keras.initializers.RandomUniform(-1.0, 1.0)


class Parts:
  """Rows of pools in equal parts, one for each phase; see the module.

  Args:
    size: M rows. phases: among which they are divided.
  """

  def __init__(self, size: int, phases: int):
    self.size, self._last = size, phases - 1
    self._part = np.arange(size) * phases // size  # Of each row.

  def build(self, layer: tf.keras.layers.Layer, pools: dict[str, Any]) -> None:
    """Makes the weights of a layer: by name (shape, initializer), M rows each."""
    self._trained = {name: layer.add_weight(name, shape, initializer=initializer)
                     for name, (shape, initializer) in pools.items()}
    self._held = {name: layer.add_weight(f"{name}_held", shape, initializer="zeros",
                                         trainable=False) for name, (shape, _) in pools.items()}
    self._phase = layer.add_weight("phase", [], dtype=tf.int64, trainable=False,
                                   initializer=tf.keras.initializers.Constant(-1))

  def begin_phase(self) -> None:
    """Keeps the rows of the phase that is over; the next one's are trained."""
    for name, held in self._held.items():
      held.assign(self.read(name))
    self._phase.assign_add(1)

  def masks(self) -> tuple[tf.Tensor, tf.Tensor]:
    """Rows of the phase, and of all phases so far, bool [M]; before the first phase, of that."""
    phase = tf.clip_by_value(self._phase, 0, self._last)
    return tf.equal(self._part, phase), self._part <= phase

  def read(self, name: str) -> tf.Tensor:
    """A pool [M, ...]: trained rows of the phase, others as they were kept."""
    trained, held = self._trained[name], self._held[name]
    current = tf.reshape(self.masks()[0], [self.size] + [1] * (trained.shape.rank - 1))
    return tf.where(current, trained, held)


def _with_prefixes(vit: vit_hooks.FrozenVit, images: tf.Tensor,
                   prefixes: dict[int, list[tf.Tensor]]) -> tf.Tensor:
  """Features [B, D] with prefixes [B, 2, L, D] of keys and values, lists by block."""
  tokens = vit.tokens(images)
  for i in range(vit.depth):
    parts = prefixes.get(i)
    tokens = vit.block(
        i, tokens, prefix=tf.unstack(tf.concat(parts, axis=2), axis=1) if parts else ())
  return vit.features(tokens)


def _cosines(queries: tf.Tensor, keys: tf.Tensor) -> tf.Tensor:
  """Cosines [B, M] of the angles between queries [B, D] and keys [M, D]."""
  return tf.matmul(tf.math.l2_normalize(queries, axis=1), tf.math.l2_normalize(keys, axis=1),
                   transpose_b=True)


def attended_cosines(queries: tf.Tensor, attention: tf.Tensor, keys: tf.Tensor) -> tf.Tensor:
  """cos(q * A_m, K_m), [B, M]; queries [B, D], attention A and keys K [M, D].

  The products q * A_m, [B, M, D], are not made: q . (A_m * K_m / |K_m|) and |q * A_m|^2 =
  q^2 . A_m^2 are matrix products.
  """
  directions = tf.math.l2_normalize(keys, axis=1)
  products = tf.matmul(queries, attention * directions, transpose_b=True)
  squares = tf.matmul(tf.square(queries), tf.square(attention), transpose_b=True)
  return products * tf.math.rsqrt(tf.maximum(squares, 1e-12))


def _distances(cosines: tf.Tensor, chosen: tf.Tensor) -> tf.Tensor:
  """The mean over images of the sum of 1 - cosine over chosen keys, []; chosen is 0 or 1 [B, M]."""
  return tf.reduce_mean(tf.reduce_sum(chosen * (1.0 - cosines), axis=1))


def _skewness(rows: tf.Tensor, present: tf.Tensor) -> tf.Tensor:
  """The mean square of the entries of R R' - I, [], of the rows R of [M, D] that are present."""
  products = tf.matmul(rows, rows, transpose_b=True) - tf.eye(int(rows.shape[0]))
  pairs = present[:, None] * present
  return tf.reduce_sum(pairs * tf.square(products)) / tf.reduce_sum(pairs)
