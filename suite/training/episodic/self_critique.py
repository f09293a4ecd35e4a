# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Self-Critique and Adapt (SCA): after the support sets a learned critic improves the answers.

Target step j computes the adapted net's logits of all targets and takes one gradient step on the
critic's loss of these logits, with row j of separate rates and norms. The logits of a target thus
depend on all targets that are given together. T targets, J target steps, L weight tensors of the
adapted net, N norms of F filters.

The critic of SCA: a learned loss of a net's logits, without labels.

In SCA (Antoniou and Storkey, 2019) a small net, the critic, scores the logits of unlabeled targets;
the adapted net then takes a gradient step on this score. The logits z of a target become
[z, |z|, z^2, sign z]; linear layers without biases, with LeakyReLU between them, map these to one
number, and the numbers of the targets are summed (as in CFSL's code; SCA's paper uses
convolutions).

T targets, W classes.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from suite.models.episodic import functional_conv4
from suite.models.episodic import kinks
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

  def __init__(self, critic: Critic | None = None, *, steps: int = 1,
               epochs: int = 250):
    super().__init__()
    if steps < 1 or epochs < 1:
      raise ValueError(f"SelfCritique has steps={steps} and epochs={epochs}; both must be at least "
                       "1. For a learner without a critic set EmbeddedMaml.critique = None.")
    self._critic = Critic() if critic is None else critic
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


@dataclasses.dataclass(frozen=True)
class Critic:
  """The critic's layer sizes and pure functions.

  Attributes:
    sizes: number of outputs of each layer before the last one.
  """

  sizes: Sequence[int] = (16, 16)

  def initial(self, seed: int, num_classes: int) -> dict[str, np.ndarray]:
    """Initial weights "layer1" [4 W, ...], ..., the last one [..., 1], by Glorot's uniform rule."""
    rng = np.random.default_rng(seed)
    sizes = (4 * num_classes, *self.sizes, 1)
    return {f"layer{i + 1}": functional_conv4.glorot(rng, *sizes[i:i + 2])
            for i in range(len(sizes) - 1)}

  def judge(self, weights: functional_conv4.Weights, logits: tf.Tensor) -> tf.Tensor:
    """Computes the score [] of logits [T, W]; lower is better."""
    x = tf.concat([logits, tf.abs(logits), tf.square(logits), tf.sign(logits)], axis=1)
    for i in range(1, len(weights)):
      x = kinks.rectify(tf.matmul(x, weights[f"layer{i}"]))
    return tf.reduce_sum(tf.matmul(x, weights[f"layer{len(weights)}"]))
