# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What the suite's layers add to transformers, on given weights: the net around them is replaced by
one whose blocks note what they are given."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
import transformer_fixtures

from suite.learners import inf_lora as inf_lora_lib
from suite.learners import subspace_ensemble
from suite.models import vit_hooks
from suite.models import vit_prompts

Arrays = transformer_fixtures.Arrays


class _Net:
  """In the place of `vit_hooks.FrozenVit`; images are queries [B, D], or tokens [B, N, D]."""

  def __init__(self, width: int, depth: int):
    self.width, self.depth, self.num_tokens = width, depth, 0
    self.given: list[Any] = []

  def check_blocks(self, name: str, blocks: Any) -> tuple[int, ...]:
    del name
    return tuple(blocks)

  def query(self, images: tf.Tensor) -> tf.Tensor:
    return images

  def tokens(self, images: tf.Tensor) -> tf.Tensor:
    return images if images.shape.rank == 3 else images[:, None]

  def block(self, place: int, tokens: tf.Tensor, prefix: Any = (), adapter: Any = None,
            low_rank: Any = None) -> tf.Tensor:
    del place
    if low_rank is not None:
      return low_rank["value"](tokens)
    if adapter is not None:
      return adapter(tokens)
    self.given.append(prefix)
    return tokens

  def normed(self, tokens: tf.Tensor) -> tf.Tensor:
    return tokens

  def features(self, tokens: tf.Tensor) -> tf.Tensor:
    return tokens


def _layer(kind: Any, net: _Net, given: Arrays, **settings: Any) -> Any:
  """A layer with given weights, by the beginning of their names."""
  layer = kind(net, **settings)
  layer.build([None])
  for name, value in given.items():
    variable, = [v for v in layer.trainable_weights if v.name.split(":")[0] == name]
    variable.assign(value)
  return layer


def l2p(arrays: Arrays) -> Arrays:
  size, length, width = arrays["prompts"].shape
  layer = _layer(vit_prompts.PromptPool, _Net(width, 1),
                 {name: arrays[name] for name in ("keys", "prompts")}, size=size, length=length,
                 chosen=transformer_fixtures.CHOSEN, pull=0.1)
  with tf.GradientTape() as tape:
    feature = layer(tf.constant(arrays["queries"]), training=True)
    loss = tf.reduce_sum(feature * arrays["upstream"]) + tf.add_n(layer.losses)
  keys, prompts = tape.gradient(loss, [layer.keys, layer.prompts])
  return {"feature": feature.numpy(), "gradient_of_keys": keys.numpy(),
          "gradient_of_prompts": prompts.numpy()}


def coda_prompt(arrays: Arrays) -> Arrays:
  blocks, size, length, width = arrays["prompts"].shape
  net, pools = _Net(width, blocks), ("keys", "attention", "prompts")
  layer = _layer(vit_prompts.CodaPrompts, net, {
      f"{name}{block}": arrays[name][block].reshape(size, -1)
      for name in pools for block in range(blocks)}, size=size, phases=2, length=length // 2,
                 blocks=range(blocks), orthogonality=0.1)
  layer.begin_phase()
  layer.begin_phase()
  # Before a phase all components are those that are given.
  with tf.GradientTape() as tape:
    layer(tf.constant(arrays["queries"]), training=True)
    prefixes = tf.stack([tf.concat(prefix, axis=1) for prefix in net.given])
    total = tf.add_n(layer.losses)
    loss = total + tf.reduce_sum(prefixes * arrays["upstream"])
  variables = {v.name.split(":")[0]: v for v in layer.trainable_weights}
  grads = dict(zip(variables, tape.gradient(loss, list(variables.values()))))
  return {"prefixes": prefixes.numpy(), "loss": total.numpy(), **{
      f"gradient_of_{name}": np.stack([grads[f"{name}{block}"].numpy() for block in range(blocks)]
                                      ).reshape(arrays[name].shape) for name in pools}}


def dual_prompt(arrays: Arrays) -> Arrays:
  layers, _, size, length, width = arrays["prefixes"].shape
  net = _Net(width, layers)
  layer = _layer(vit_prompts.DualPrompts, net, {
      "keys": arrays["keys"], "expert": arrays["prefixes"].transpose(2, 0, 1, 3, 4)}, size=size,
                 general_blocks=(), expert_length=length, expert_blocks=range(layers), pull=1.0)
  for _ in range(size):
    layer.begin_phase()
  found, queries = {}, tf.constant(arrays["queries"])
  for name, training in (("training", True), ("testing", False)):
    net.given = []
    layer(queries, training=training)
    found[name] = np.stack([np.stack(prefix, 1) for prefix in net.given], 1)
  similarities = []
  for query in queries:
    layer(query[None], training=True)
    similarities.append(1.0 - tf.add_n(layer.losses).numpy())
  return {**found, "similarities": np.asarray(similarities, np.float32)}


def aper_adapter(arrays: Arrays) -> Arrays:
  width, size = arrays["down"].shape
  names = ("down", "down_bias", "up", "up_bias")
  layer = _layer(vit_hooks.Adapters, _Net(width, 1), {name: arrays[name][None] for name in names},
                 bottleneck=size, scale=0.1)
  return {"added": layer(tf.constant(arrays["tokens"])).numpy()}


def lora(arrays: Arrays) -> Arrays:
  width, rank = arrays["a"].shape
  layer = _layer(vit_hooks.LowRank, _Net(width, 1), {
      name: np.stack([arrays[name]] * 2)[None] for name in ("a", "b")}, rank=rank, scale=1.0)
  return {"mean": np.mean(layer(tf.constant(arrays["tokens"])).numpy(), axis=1)}


def ease(arrays: Arrays) -> Arrays:
  prototypes = arrays["prototypes"].copy()
  num, tasks = prototypes.shape[:2]
  subspace = np.arange(num) // (num // tasks)
  for s in range(1, tasks):
    old = subspace < s
    prototypes[old, s] = subspace_ensemble.completed(prototypes, subspace, old, subspace >= s, s)
  return {**aper_adapter(arrays), "prototypes": prototypes}


def inf_lora(arrays: Arrays) -> Arrays:
  first, *later = (rows.T @ rows for rows in arrays["inputs"])
  projection = inf_lora_lib.grown(np.zeros_like(first), first, 0.9)
  num, found = np.asarray(round(np.trace(projection))), []
  for moments in later:
    projection = inf_lora_lib.grown(projection, moments, 0.9)
    found.append(projection)
  return {"directions_of_the_first": num, "projections": np.stack(found)}
