# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A net that episodes adapt, and its meta-learned variables; shared by MAML and its relatives.

Meta-learned are the initial weights, the rates of the inner loop and the scales and offsets of the
norms. "Images" are the inputs of the net: pixels, or codes of an embedding. W classes of a task.
"""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf
from typing_extensions import override

from suite.compute import seeds as seeds_lib
from suite.contracts import examples
from suite.contracts import learner
from suite.contracts import tasks
from suite.models import precision
from suite.models.episodic import functional_conv4
from suite.state import context as context_lib
from suite.training.episodic import inner_loop
from suite.training.episodic import meta_schedules


class AdaptedNet(tf.Module):
  """The variables of an `inner_loop.Net`, and how an episode adapts them.

  Args:
    net: the net that is adapted.
    inner: the inner loop that adapts it.
    training: how the variables are trained; None: they are not.
    owner: the learner's class, for messages.
    parts: into how many parts the targets of a task are split in meta-training, so that each core
      computes one. Norms still take the moments of all targets. Use it where tasks are trained one
      at a time: one core would wait while the targets are computed.

  Attributes:
    net, inner, training: as given.
    weights: the initial weights by name, once made.
  """

  def __init__(self, net: inner_loop.Net, inner: inner_loop.InnerLoop,
               training: meta_schedules.MetaTraining | None, *, owner: str = "Maml",
               parts: int = 1):
    super().__init__()
    if parts < 1:
      raise ValueError(f"{owner}.parts is {parts}; allowed is a number from 1 on.")
    self._parts = parts
    self.net, self.inner, self.training, self._owner = net, inner, training, owner
    self.weights: dict[str, tf.Variable] = {}
    self._channels = 0

  def make(self, seed: int, image_shape: Sequence[int], num_classes: int, *,
           fixed: Sequence[str] = ()) -> None:
    """Makes the variables, a pure function of the arguments.

    Args:
      seed: seed of the weights.
      image_shape: (H, W, C).
      num_classes: W.
      fixed: names of weights that meta-training does not change.
    """
    precision.check_no_loss_scale(self._owner)
    self._channels = image_shape[-1]
    inner, trains = self.inner, self.training is not None
    weights = self.net.initial(seed, image_shape, num_classes)
    self.weights = {name: tf.Variable(value, trainable=trains and name not in fixed, name=name)
                    for name, value in weights.items()}
    rates = tf.fill([inner.num_steps, len(weights)], tf.constant(inner.rate, self.net.dtype))
    self._rates = tf.Variable(rates, trainable=trains and inner.learn_rates, name="inner_rates")
    norms = self.net.initial_norms(inner.num_norm_rows)
    self._scale = tf.Variable(norms.scale, trainable=trains, name="norm_scale")
    self._offset = tf.Variable(norms.offset, trainable=trains, name="norm_offset")

  def parameters(self) -> inner_loop.Parameters:
    """Returns the values of all variables."""
    read = tf.convert_to_tensor
    return inner_loop.Parameters(
        {name: read(value) for name, value in sorted(self.weights.items())}, read(self._rates),
        functional_conv4.Norms(read(self._scale), read(self._offset)))

  def begin(self, num_classes: int) -> inner_loop.State:
    """Returns the state before the first support set."""
    made_for = self.weights["head/bias"].shape[0]
    if num_classes != made_for:
      raise ValueError(f"A task has {num_classes} classes, but the head was made for {made_for}. "
                       "Make another learner for it.")
    return self.inner.begin(self.net, self.parameters())

  def adapt(self, state: inner_loop.State, images: tf.Tensor, labels: tf.Tensor
            ) -> inner_loop.State:
    """Returns the state after a support set [B, ...] with labels [B]; first order only."""
    return self.inner.learn(self.net, self.parameters(), state, self.prepared(images), labels,
                            second_order=False)[-1]

  def logits(self, state: inner_loop.State, images: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, W] of images [B, ...]."""
    return self.inner.logits(self.net, self.parameters(), state, self.prepared(images))

  def prepared(self, images: tf.Tensor) -> tf.Tensor:
    """Returns images [..., C] as the inner loop takes them."""
    return self.net.prepare(checked_channels(images, self._channels, self._owner))

  def trained(self) -> meta_schedules.MetaTraining:
    """Returns how the variables are trained; raises an error if they are not."""
    if self.training is None:
      raise ValueError("This learner was made without meta-training: set cfsl.run.updates = 0, or "
                       f"{self._owner}.training = @MetaTraining().")
    return self.training

  def target_loss(self, parameters: inner_loop.Parameters, states: Sequence[inner_loop.State],
                  images: tf.Tensor, labels: tf.Tensor, epoch: tf.Tensor, *, multi_step: bool,
                  net: inner_loop.AdaptedForm | None = None) -> tf.Tensor:
    """Returns the cross-entropy [] of the targets after the last step on the last support set.

    The multi-step loss adds those after each step on the *last* set: after earlier sets, some of
    the targets' classes have not been shown.

    Args:
      parameters: of the learner.
      states: after each step on the last support set.
      images: [T, ...], prepared.
      labels: [T].
      epoch: int [], of the schedules.
      multi_step: whether the multi-step loss is returned.
      net: a form of the net that computes several episodes side by side, to which parameters,
        states, images and labels [T, E] belong; None: the net itself.
    """
    net = self.net if net is None else net
    # The passes of a multi-step loss run beside the steps that follow.
    parts = 1 if multi_step or net is not self.net else self._parts

    def loss(state: inner_loop.State) -> tf.Tensor:
      return inner_loop.cross_entropy(
          labels, self.inner.logits(net, parameters, state, images, parts=parts))

    if not multi_step:
      return loss(states[-1])
    assert self.training is not None
    weights = meta_schedules.step_weights(
        epoch, len(states), self.training.multi_step_epochs, self.net.dtype)
    return tf.reduce_sum(weights * tf.stack([loss(state) for state in states]))


class AdaptingLearner(learner.EpisodicLearner):
  """A learner whose episodes adapt a net by gradient steps.

  Args:
    adapted: the net, and how episodes adapt it.
    transform: image preparation; its `size` is H = W.
    channels: C of the prepared images.

  Attributes:
    optimizer: of the meta-training; its `iterations` are the progress of all schedules.
  """

  def __init__(self, adapted: AdaptedNet, transform: examples.Transform, channels: int):
    super().__init__()
    self.transform, self._channels, self._adapted = transform, channels, adapted

  @override
  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Makes all variables and the optimizer, once: all tasks share them."""
    if self._adapted.weights:
      return
    with context.distribution.scope():
      self._make(task.num_classes, context.seeds,
                 (self.transform.size, self.transform.size, self._channels))
      if self._adapted.training is not None:
        self.optimizer = self._adapted.training.optimizer()
        self.optimizer.build(self.trainable_variables)

  def _make(self, num_classes: int, seeds: seeds_lib.Seeds, shape: tuple[int, ...]) -> None:
    """Makes the variables for images of a shape (H, W, C)."""
    self._adapted.make(seeds.integer("initial weights"), shape, num_classes)

  @property
  @override
  def transductive(self) -> bool:
    """Whether targets are normalized by their own statistics."""
    return self._adapted.inner.transductive

  @override
  def initial_state(self, num_classes: int) -> inner_loop.State:
    """Returns the meta-learned weights, before the first support set."""
    return self._adapted.begin(num_classes)

  @override
  def adapt(self, state: inner_loop.State, codes: tf.Tensor, labels: tf.Tensor
            ) -> inner_loop.State:
    """Returns the state after a support set, codes [B, ...] and labels [B]; first order."""
    return self._adapted.adapt(state, codes, labels)

  @override
  def logits(self, state: inner_loop.State, codes: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, W] of codes [B, ...]."""
    return self._adapted.logits(state, codes)


def checked_channels(images: tf.Tensor, channels: int, owner: str) -> tf.Tensor:
  """Returns images [..., C]; raises an error if C is not the one that the learner was made for."""
  if images.shape[-1] != channels:
    raise ValueError(f"Images have {images.shape[-1]} channels, the net was made for {channels}. "
                     f"Set {owner}.channels = {images.shape[-1]}.")
  return images
