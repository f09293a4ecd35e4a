# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Self-Critique and Adapt (SCA): after the support sets a learned critic improves the answers.

Target step j takes the adapted net's answers to all targets, and goes one step down the gradient of
the critic's judgement, with row j of rates and norms of its own. Answers thus depend on all targets
that are asked about together. T targets, J target steps, L weight tensors of the adapted net, N
norms of F filters.
"""

from __future__ import annotations

from typing import Dict, NamedTuple, Optional, Tuple

import tensorflow as tf

from suite.models.episodic import critic as critic_lib
from suite.models.episodic import functional_conv4
from suite.training.episodic import adapted_net
from suite.training.episodic import inner_loop


class Parameters(NamedTuple):
  """What is meta-learned.

  Attributes:
    critic: the critic's weights by name.
    rates: [J, L].
    norms: with which the net sees the targets after each step, [J, N, F].
  """

  critic: functional_conv4.Weights
  rates: tf.Tensor
  norms: functional_conv4.Norms


class SelfCritique(tf.Module):
  """A critic with the variables of its steps.

  Args:
    critic: the net that judges; None: CFSL's.
    steps: J.
    epochs: after so many the meta-loss looks at the improved answers alone.
  """

  def __init__(self, critic: Optional[critic_lib.Critic] = None, *, steps: int = 1,
               epochs: int = 250):
    super().__init__()
    if steps < 1 or epochs < 1:
      raise ValueError(f"SelfCritique has steps={steps} and epochs={epochs}; both must be at least "
                       "1. For a learner without a critic set EmbeddedMaml.critique = None.")
    self._critic = critic_lib.Critic() if critic is None else critic
    self._steps, self._epochs = steps, epochs

  def make(self, seed: int, num_classes: int, adapted: adapted_net.AdaptedNet) -> None:
    """Makes the variables; `adapted` is what the steps change, made before."""
    self._adapted, inner, dtype = adapted, adapted.inner, adapted.net.dtype
    trains = adapted.training is not None
    self._weights: Dict[str, tf.Variable] = {
        name: tf.Variable(value, trainable=trains, dtype=dtype, name=f"critic/{name}")
        for name, value in self._critic.initial(seed, num_classes).items()}
    rates = tf.fill([self._steps, len(adapted.weights)], tf.constant(inner.rate, dtype))
    self._rates = tf.Variable(rates, trainable=trains and inner.learn_rates, name="critic_rates")
    norms = adapted.net.initial_norms(self._steps if inner.norms_by_step else 0)
    self._scale = tf.Variable(norms.scale, trainable=trains, name="critic_norm_scale")
    self._offset = tf.Variable(norms.offset, trainable=trains, name="critic_norm_offset")

  def parameters(self) -> Parameters:
    """All variables, read once."""
    read = tf.convert_to_tensor
    return Parameters({name: read(value) for name, value in sorted(self._weights.items())},
                      read(self._rates),
                      functional_conv4.Norms(read(self._scale), read(self._offset)))

  def logits(self, own: Parameters, parameters: inner_loop.Parameters, state: inner_loop.State,
             images: tf.Tensor) -> Tuple[tf.Tensor, tf.Tensor]:
    """Logits [T, W] before the last target step and after it, for all targets [T, ...].

    Args:
      own: of the critic. parameters: of the adapted net.
      state: after the support sets; where it holds statistics they stay as they are.
      images: as the adapted net takes them.
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

  def loss_weights(self, epoch: tf.Tensor) -> Tuple[tf.Tensor, tf.Tensor]:
    """What the losses before and after the critic weigh: 1/2 each at first, 0 and 1 at last."""
    done = tf.cast(tf.minimum(epoch + 1, self._epochs), self._rates.dtype) / self._epochs
    return 0.5 - 0.5 * done, 0.5 + 0.5 * done
