# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Self-Critique and Adapt (SCA): after the support sets a learned critic improves the answers.

Target step j computes the adapted net's logits of all targets and takes one gradient step on the
critic's loss of these logits, with row j of separate rates and norms. The logits of a target thus
depend on all targets that are given together. T targets, J target steps, L weight tensors of the
adapted net, N norms of F filters.
"""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf

from suite.models.episodic import critic as critic_lib
from suite.models.episodic import functional_conv4
from suite.training.episodic import adapted_net
from suite.training.episodic import inner_loop


class CriticParameters(NamedTuple):
  """The meta-learned values of the critic and its steps.

  Attributes:
    critic: the critic's weights by name.
    rates: [J, L].
    norms: scales and offsets of the net for the targets after each step, [J, N, F].
  """

  critic: functional_conv4.Weights
  rates: tf.Tensor
  norms: functional_conv4.Norms


class SelfCritique(tf.Module):
  """A critic with the variables of its steps.

  Args:
    critic: the critic's net; None: CFSL's.
    steps: J.
    epochs: after this number of epochs the meta-loss uses only the improved logits.
  """

  def __init__(self, critic: critic_lib.Critic | None = None, *, steps: int = 1,
               epochs: int = 250):
    super().__init__()
    if steps < 1 or epochs < 1:
      raise ValueError(f"SelfCritique has steps={steps} and epochs={epochs}; both must be at least "
                       "1. For a learner without a critic set EmbeddedMaml.critique = None.")
    self._critic = critic_lib.Critic() if critic is None else critic
    self._steps, self._epochs = steps, epochs

  def make(self, seed: int, num_classes: int, adapted: adapted_net.AdaptedNet) -> None:
    """Makes the variables for steps on `adapted`, which must have been made."""
    self._adapted, inner, dtype = adapted, adapted.inner, adapted.net.dtype
    trains = adapted.training is not None
    self._weights: dict[str, tf.Variable] = {
        name: tf.Variable(value, trainable=trains, dtype=dtype, name=f"critic/{name}")
        for name, value in self._critic.initial(seed, num_classes).items()}
    rates = tf.fill([self._steps, len(adapted.weights)], tf.constant(inner.rate, dtype))
    self._rates = tf.Variable(rates, trainable=trains and inner.learn_rates, name="critic_rates")
    norms = adapted.net.initial_norms(self._steps if inner.norms_by_step else 0)
    self._scale = tf.Variable(norms.scale, trainable=trains, name="critic_norm_scale")
    self._offset = tf.Variable(norms.offset, trainable=trains, name="critic_norm_offset")

  def parameters(self) -> CriticParameters:
    """Returns the values of all variables."""
    read = tf.convert_to_tensor
    weights = {name: read(value) for name, value in sorted(self._weights.items())}
    norms = functional_conv4.Norms(read(self._scale), read(self._offset))
    return CriticParameters(weights, read(self._rates), norms)

  def logits(self, own: CriticParameters, parameters: inner_loop.Parameters,
             state: inner_loop.State, images: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns logits [T, W] of all targets [T, ...] before the last target step and after it.

    Args:
      own: values of the critic.
      parameters: values of the adapted net.
      state: after the support sets; its norm statistics, if any, do not change.
      images: prepared for the adapted net.
    """
    net, inner = self._adapted.net, self._adapted.inner
    weights, statistics = state.weights, inner.statistics(state)
    norms = inner.target_norms(parameters, state)
    for j in range(self._steps):
      with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(weights)
        before = net.apply(weights, norms, images, statistics)
        judgement = self._critic.judge(own.critic, before)
      gradients = tape.gradient(judgement, weights, unconnected_gradients="zero")
      weights = inner_loop.stepped(weights, gradients, own.rates[j])
      if inner.norms_by_step:
        norms = functional_conv4.Norms(own.norms.scale[j], own.norms.offset[j])
    return before, net.apply(weights, norms, images, statistics)

  def loss_weights(self, epoch: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the weights of the losses before and after the critic: 1/2 each, at last 0 and 1."""
    done = tf.cast(tf.minimum(epoch + 1, self._epochs), self._rates.dtype) / self._epochs
    return 0.5 - 0.5 * done, 0.5 + 0.5 * done
