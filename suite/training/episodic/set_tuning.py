# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Gradient steps on one support set after the other, as pure functions of static shapes.

Each set takes n steps of gradient descent, from the weights after the set before it, on

  L = mean cross-entropy over the rows of the set and of the memory               fine-tuning, ER
    + ewc / 2 * sum_p F_p (w_p - w*_p)^2                                           EWC
    + lwf * mean over the set of KL(softmax(old / T) || softmax(new / T))          LwF

The memory holds the last M rows of earlier sets (Chaudhry et al., 2019). w* are the weights before
the set, and F is the sum over earlier sets of their Fisher diagonals, the mean squares of the rows'
gradients of the cross-entropy at the weights after that set (Kirkpatrick et al., 2017). "old" are
the logits before the set, of the classes shown before it (Li & Hoiem, 2016, without a factor T^2).

B rows of a set, M rows of memory, W classes, P weight tensors by name.
"""

from __future__ import annotations

import dataclasses
from typing import Callable, NamedTuple

import tensorflow as tf

from suite.training.objectives import losses as losses_lib
from suite.training.objectives import lwf as lwf_lib

Weights = dict[str, tf.Tensor]
ApplyFn = Callable[[Weights, tf.Tensor], tf.Tensor]


class TunedState(NamedTuple):
  """The state of an episode between support sets; an option that is off holds ().

  Attributes:
    weights: by name.
    memory: codes [M, ...], labels int64 [M] and float32 [M], 1 where a row is filled.
    fisher: F by name.
    shown: float32 [W], 1 for classes that were shown.
  """

  weights: Weights
  memory: tuple[tf.Tensor, ...]
  fisher: Weights | tuple[()]
  shown: tf.Tensor | tuple[()]


@dataclasses.dataclass(frozen=True)
class SetTuning:
  """The gradient steps on a support set; by default plain fine-tuning.

  Attributes:
    steps: n.
    rate: of gradient descent.
    memory: M; 0: no memory.
    ewc: strength of the quadratic penalty.
    lwf: strength of the distillation.
    temperature: T.
  """

  steps: int = 5
  rate: float = 0.1
  memory: int = 0
  ewc: float = 0.0
  lwf: float = 0.0
  temperature: float = 2.0

  def __post_init__(self):
    for name, is_right, allowed in (
        ("steps", self.steps >= 1, "at least 1"), ("rate", self.rate > 0, "above 0"),
        ("memory", self.memory >= 0, "a number of rows, 0 for none"),
        ("ewc", self.ewc >= 0, "0 (no penalty) or above"),
        ("lwf", self.lwf >= 0, "0 (no distillation) or above"),
        ("temperature", self.temperature > 0, "above 0")):
      if not is_right:
        raise ValueError(f"SetTuning.{name} is {getattr(self, name)}; it must be {allowed}.")

  def initial(self, weights: Weights, code_shape: tuple[int, ...], num_classes: int) -> TunedState:
    """Returns the state before the first support set, for codes float32 [B, *code_shape]."""
    size = self.memory
    memory = (tf.zeros([size, *code_shape]), tf.zeros([size], tf.int64), tf.zeros([size]))
    fisher = {name: tf.zeros_like(value) for name, value in weights.items()}
    return TunedState(weights, memory if size else (), fisher if self.ewc else (),
                      tf.zeros([num_classes]) if self.lwf else ())

  def learn(self, apply_fn: ApplyFn, state: TunedState, codes: tf.Tensor, labels: tf.Tensor
            ) -> TunedState:
    """Returns the state after a support set.

    Args:
      apply_fn: apply_fn(weights, codes) returns logits [B, W].
      state: before the set.
      codes: float32 [B, ...].
      labels: int [B].
    """
    labels = tf.cast(labels, tf.int64)
    rows, row_labels, row_weights = self._with_memory(state, codes, labels)
    old = tf.stop_gradient(apply_fn(state.weights, codes)) if self.lwf else None
    weights = state.weights
    for _ in range(self.steps):
      with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(weights)
        losses = losses_lib.hard_cross_entropy(row_labels, apply_fn(weights, rows))
        loss = tf.reduce_sum(row_weights * losses) / tf.reduce_sum(row_weights)
        if self.ewc:
          assert isinstance(state.fisher, dict)
          loss += 0.5 * self.ewc * _distance(weights, state.weights, state.fisher)
        if self.lwf:
          assert not isinstance(state.shown, tuple)
          shown = state.shown > 0.0
          old_shown, new_shown = (
              losses_lib.among(shown, logits) for logits in (old, apply_fn(weights, codes)))
          loss += self.lwf * lwf_lib.divergence(old_shown, new_shown, self.temperature)
      gradients = tape.gradient(loss, weights, unconnected_gradients=tf.UnconnectedGradients.ZERO)
      weights = {name: w - self.rate * gradients[name] for name, w in weights.items()}
    return self._after(apply_fn, state, weights, codes, labels)

  def _with_memory(self, state: TunedState, codes: tf.Tensor, labels: tf.Tensor
                   ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Returns codes, labels and weights of the set's rows and of the memory's."""
    size, ones = codes.shape[0], tf.ones([codes.shape[0]])
    if not self.memory:
      return codes, labels, ones
    held, held_labels, filled = state.memory
    # Empty rows repeat the set with weight 0: batch norms must not normalize by zeros.
    fill = tf.gather(codes, tf.range(self.memory) % size)
    is_filled = tf.reshape(filled > 0.0, [-1] + [1] * (len(codes.shape) - 1))
    return (tf.concat([codes, tf.where(is_filled, held, fill)], 0),
            tf.concat([labels, held_labels], 0), tf.concat([ones, filled], 0))

  def _after(self, apply_fn: ApplyFn, state: TunedState, weights: Weights, codes: tf.Tensor,
             labels: tf.Tensor) -> TunedState:
    memory, fisher, shown = state.memory, state.fisher, state.shown
    if self.memory:
      added = (codes, labels, tf.ones([codes.shape[0]]))
      memory = tuple(tf.concat(pair, 0)[-self.memory:] for pair in zip(memory, added))
    if self.ewc:
      assert isinstance(fisher, dict)
      found = _fisher(apply_fn, weights, codes, labels)
      fisher = {name: fisher[name] + found[name] for name in weights}
    if self.lwf:
      assert not isinstance(shown, tuple)
      shown = tf.maximum(shown, tf.reduce_max(tf.one_hot(labels, shown.shape[0]), axis=0))
    return TunedState(weights, memory, fisher, shown)


def _distance(weights: Weights, anchor: Weights, fisher: Weights) -> tf.Tensor:
  """Returns the sum [] of F (w - w*)^2."""
  return tf.add_n([tf.reduce_sum(fisher[name] * tf.square(weights[name] - anchor[name]))
                   for name in sorted(weights)])


def _fisher(apply_fn: ApplyFn, weights: Weights, codes: tf.Tensor, labels: tf.Tensor) -> Weights:
  """Returns the mean squares of the rows' gradients of the cross-entropy, by name."""
  size = codes.shape[0]
  with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
    tape.watch(weights)
    losses = tf.unstack(
        losses_lib.hard_cross_entropy(labels, apply_fn(weights, codes)), size)
  rows = [tape.gradient(loss, weights, unconnected_gradients=tf.UnconnectedGradients.ZERO)
          for loss in losses]
  return {name: tf.add_n([tf.square(row[name]) for row in rows]) / size for name in weights}
