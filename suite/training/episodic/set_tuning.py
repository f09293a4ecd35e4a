# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Gradient learners within episodes: steps on one support set after the other, as pure functions.

`GradientLearner` hands its settings on to `TuneInEpisode`. Each set takes `epochs` steps, from the
weights after the set before it, on

  the mean cross-entropy over the rows of the set and of the memory, and the objective's term

ER has a memory of the last rows of earlier sets (Chaudhry et al., 2019); EWC and LwF have the terms
of `Ewc.in_episodes` and `Lwf.in_episodes`. Nothing is meta-trained: run it with
`cfsl.run.updates = 0`. (Init + Tune of Antoniou et al., 2020, is `Maml` without meta-training.)

B rows of a set, M rows of memory, W classes of the whole task.
"""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from typing_extensions import override

from suite.contracts import examples
from suite.contracts import learner
from suite.contracts import refusals
from suite.contracts import tasks
from suite.data.images import example_arrays
from suite.models.episodic import functional_conv4
from suite.state import context as context_lib
from suite.training.gradient import optimizers
from suite.training.gradient import schedules
from suite.training.gradient import trainable_parts
from suite.training.objectives import objective

Weights = objective.Weights
ApplyFn = Callable[[Weights, tf.Tensor], tf.Tensor]


class TunedState(NamedTuple):
  """The state of an episode between support sets.

  Attributes:
    weights: by name.
    memory: codes [M, ...], labels int64 [M] and float32 [M], 1 where a row is filled; () without a
      memory.
    term: of the objective, see `EpisodeTerm`.
  """

  weights: Weights
  memory: tuple[tf.Tensor, ...]
  term: Any


@dataclasses.dataclass(frozen=True)
class SetTuning:
  """The steps on a support set; attributes are named as the arguments of `GradientLearner`.

  Attributes:
    epochs: the number of steps; each takes all rows of the set.
    batch_size: the largest B.
    learning_rate, schedule, optimizer: of the steps.
    memory: M; 0: no memory.
    term: what the objective adds.
  """

  epochs: float = 5
  batch_size: int = 256
  learning_rate: float = 0.1
  schedule: schedules.EpochSchedule = schedules.EpochConstant()
  optimizer: optimizers.Momentum = optimizers.Momentum(0.0)
  memory: int = 0
  term: objective.EpisodeTerm = objective.EpisodeTerm()

  def __post_init__(self):
    if self.epochs != int(self.epochs) or self.epochs < 1:
      raise refusals.RefusedError(
          f"GradientLearner.epochs is {self.epochs}; each is one step on a support set, so that "
          "few-shot episodes need a whole number.")
    if self.optimizer.factor_of is not None or self.optimizer.keep and self.optimizer.momentum:
      raise refusals.RefusedError(
          "GradientLearner.optimizer keeps velocities from phase to phase, or has rates by "
          "variable; few-shot episodes have neither. Take optimizers.Momentum without keep and "
          "factor_of.")

  def initial(self, weights: Weights, code_shape: tuple[int, ...], num_classes: int) -> TunedState:
    """Returns the state before the first support set, for codes float32 [B, *code_shape]."""
    size = self.memory
    memory = (tf.zeros([size, *code_shape]), tf.zeros([size], tf.int64), tf.zeros([size]))
    return TunedState(weights, memory if size else (), self.term.zero(weights, num_classes))

  def learn(self, apply_fn: ApplyFn, state: TunedState, codes: tf.Tensor, labels: tf.Tensor
            ) -> TunedState:
    """Returns the state after a support set.

    Args:
      apply_fn: apply_fn(weights, codes) returns logits [B, W].
      state: before the set.
      codes: float32 [B, ...].
      labels: int [B].
    """
    if codes.shape[0] > self.batch_size:
      raise refusals.RefusedError(
          f"A support set has {codes.shape[0]} rows, but GradientLearner.batch_size is "
          f"{self.batch_size}; within an episode each step takes the whole set. Set batch_size to "
          f"{codes.shape[0]} or more.")
    labels = tf.cast(labels, tf.int64)
    size = codes.shape[0]
    rows, row_labels, row_weights = codes, labels, tf.ones([size])
    if self.memory:
      held, held_labels, filled = state.memory
      # Empty rows repeat the set with weight 0: batch norms must not normalize by zeros.
      fill = tf.gather(codes, tf.range(self.memory) % size)
      is_filled = tf.reshape(filled > 0.0, [-1] + [1] * (len(codes.shape) - 1))
      rows = tf.concat([codes, tf.where(is_filled, held, fill)], 0)
      row_labels = tf.concat([labels, held_labels], 0)
      row_weights = tf.concat([row_weights, filled], 0)

    def logits_of(weights: Weights) -> tf.Tensor:
      return apply_fn(weights, codes)

    def answers_of(weights: Weights, codes: tf.Tensor, labels: tf.Tensor) -> objective.Batch:
      return objective.Batch(codes, apply_fn(weights, codes), labels)

    begun, weights = self.term.begin_set(state.weights, logits_of), state.weights
    velocities: Weights = {}
    for rate in self.schedule.rates(self.learning_rate, np.arange(int(self.epochs))):
      with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(weights)
        losses = objective.row_losses(answers_of(weights, rows, row_labels), None)
        loss = tf.reduce_sum(row_weights * losses) / tf.reduce_sum(row_weights)
        loss = self.term.add(loss, state.term, begun, weights, logits_of)
      gradients = tape.gradient(loss, weights, unconnected_gradients=tf.UnconnectedGradients.ZERO)
      velocities = {name: self.optimizer.velocity(velocities.get(name), gradients[name], w)
                    for name, w in weights.items()}
      weights = {name: w - float(rate) * velocities[name] for name, w in weights.items()}
    memory = state.memory
    if self.memory:
      added = (codes, labels, tf.ones([codes.shape[0]]))
      memory = tuple(tf.concat(pair, 0)[-self.memory:] for pair in zip(memory, added))
    return TunedState(weights, memory, self.term.end_set(
        state.term, weights, answers_of, codes, labels))


class TuneInEpisode(learner.EpisodicLearner):
  """An `EpisodicLearner` without meta-training; D features.

  Args:
    tuning: the steps on a support set.
    transform: image preparation, whose `size` is H = W, or `feature_set.Features`.
    net: `HeadOnly`, for a linear head on its features that starts at zero; or a net whose weights
      are all tuned, from random ones. Its batch norms normalize each batch by its own statistics,
      so the learner is then transductive.
  """

  kinds = (tasks.SINGLE_LABEL,)

  def __init__(self, tuning: SetTuning, *, transform: examples.Transform,
               net: trainable_parts.HeadOnly | functional_conv4.Conv4):
    super().__init__()
    shape = example_arrays.shape(transform)
    if len(shape) != 3 and isinstance(net, functional_conv4.Conv4):
      raise refusals.RefusedError(
          f"The transform makes feature vectors {shape}, but the net is of images. Give the "
          "learner a transform of images, for example image_ops.Plain, or trainable_parts.HeadOnly "
          "as its net.")
    self.transform, self._tuning, self._net, self._image_shape = transform, tuning, net, shape
    self._num_classes = 0

  @override
  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Makes the initial weights, once: all tasks start from them."""
    refusals.check_kinds(self, [task.kind])
    if self._num_classes:
      return
    self._num_classes = task.num_classes
    if isinstance(self._net, functional_conv4.Conv4):
      self._code_shape = self._image_shape
      weights = self._net.initial(
          context.seeds.integer("initial weights"), self._image_shape, task.num_classes)
    else:
      self._net.prepare(self._image_shape)
      self._code_shape = tuple(self._net.code_spec().shape)
      weights = {"head/kernel": np.zeros([*self._code_shape, task.num_classes]),
                 "head/bias": np.zeros([task.num_classes])}
    with context.distribution.scope():
      self._weights = {name: tf.Variable(value, dtype=tf.float32, trainable=False, name=name)
                       for name, value in weights.items()}

  @property
  @override
  def transductive(self) -> bool:
    return isinstance(self._net, functional_conv4.Conv4)

  @override
  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Returns features [B, D] of examples; for a whole net, images [B, ...] as it takes them."""
    if images.shape[-1] != self._image_shape[-1]:
      raise refusals.RefusedError(
          f"Images have {images.shape[-1]} channels, but the learner's transform makes "
          f"{self._image_shape[-1]}. Take a transform of {images.shape[-1]}, for example "
          f"image_ops.Plain(channels={images.shape[-1]}).")
    if isinstance(self._net, functional_conv4.Conv4):
      return self._net.prepare(images)
    return self._net.encode(images)

  @override
  def initial_state(self, num_classes: int) -> TunedState:
    """Returns the initial weights, an empty memory and the term's state."""
    if num_classes != self._num_classes:
      raise ValueError(f"A task has {num_classes} classes, but the head was made for "
                       f"{self._num_classes}. Make another learner for it.")
    weights = {name: tf.convert_to_tensor(value) for name, value in self._weights.items()}
    return self._tuning.initial(weights, self._code_shape, num_classes)

  @override
  def adapt(self, state: TunedState, codes: tf.Tensor, labels: tf.Tensor) -> TunedState:
    return self._tuning.learn(self._apply, state, codes, labels)

  @override
  def logits(self, state: TunedState, codes: tf.Tensor) -> tf.Tensor:
    return self._apply(state.weights, codes)

  def _apply(self, weights: Weights, codes: tf.Tensor) -> tf.Tensor:
    if not isinstance(self._net, functional_conv4.Conv4):
      return tf.matmul(codes, weights["head/kernel"]) + weights["head/bias"]
    row = functional_conv4.Norms(*(part[0] for part in self._net.initial_norms(1)))
    return self._net.apply(weights, row, codes)
