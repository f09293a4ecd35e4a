# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Steps on the targets, worked by hand on a linear net."""

import numpy as np
import pytest
import tensorflow as tf

from suite.models.episodic import functional_conv4
from suite.training.episodic import adapted_net
from suite.training.episodic import inner_loop
from suite.training.episodic import meta_schedules
from suite.training.episodic import self_critique


class Scores:
  """logits = images @ kernel * scale; there is nothing to normalise."""

  dtype = "float64"

  def initial(self, seed, image_shape, num_classes):
    return {"kernel": np.array([[2.0], [-1.0]])}

  def initial_norms(self, num_rows):
    return functional_conv4.Norms(np.ones([num_rows, 1, 1]), np.zeros([num_rows, 1, 1]))

  def apply(self, weights, norms_row, images, statistics=None):
    return tf.matmul(images, weights["kernel"]) * norms_row.scale[0]


# The sum of z^2: the first layer takes it from [z, |z|, z^2, sign z], the second one hands it on.
SQUARES = {"layer1": [[0.0], [0.0], [1.0], [0.0]], "layer2": [[1.0]]}
IMAGES = tf.constant([[1.0, 0.0], [1.0, 1.0]], tf.float64)


def _made(*, steps=1, norms_by_step=True, trained=True):
  inner = inner_loop.InnerLoop(steps=1, transductive=True, rate=0.1, norms_by_step=norms_by_step)
  adapted = adapted_net.AdaptedNet(Scores(), inner,
                                   meta_schedules.MetaTraining() if trained else None)
  adapted.make(0, (2,), 1)
  made = self_critique.SelfCritique(self_critique.Critic(sizes=(1,)), steps=steps, epochs=4)
  made.make(0, 1, adapted)
  own = made.parameters()._replace(
      critic={k: tf.constant(v, tf.float64) for k, v in SQUARES.items()})
  return made, own, adapted


def _logits(made, own, adapted):
  parameters = adapted.parameters()
  state = adapted.inner.begin(adapted.net, parameters)
  return made.logits(own, parameters, state, IMAGES)


def test_one_step_by_hand():
  made, own, adapted = _made()
  before, after = _logits(made, own, adapted)
  # Answers 2 and 1. Gradient of 2^2 + 1^2: 2 * (2 * [1, 0] + 1 * [1, 1]) = [6, 2]; rate 0.1.
  np.testing.assert_allclose(before[:, 0], [2.0, 1.0])
  np.testing.assert_allclose(after[:, 0], [1.4, 1.4 - 1.2], rtol=1e-12)


def test_every_step_has_a_row_of_its_own():
  made, own, adapted = _made(steps=2)
  own = own._replace(rates=tf.constant([[0.1], [0.5]], tf.float64),
                     norms=own.norms._replace(scale=tf.constant([[[2.0]], [[3.0]]], tf.float64)))
  before, after = _logits(made, own, adapted)
  # After step 1 the kernel is [1.4, -1.2], seen with scale 2: answers 2.8 and 0.4; gradient
  # 2 * 2 * (2.8 * [1, 0] + 0.4 * [1, 1]) = [12.8, 1.6]; kernel [-5, -2], seen with scale 3.
  np.testing.assert_allclose(before[:, 0], [2.8, 0.4], rtol=1e-12)
  np.testing.assert_allclose(after[:, 0], [-15.0, -21.0], rtol=1e-12)


def test_without_norms_by_step_there_are_no_rows():
  made, own, adapted = _made(norms_by_step=False)
  assert own.norms.scale.shape[0] == 0
  np.testing.assert_allclose(_logits(made, own, adapted)[1][:, 0], [1.4, 0.2], rtol=1e-12)


def test_the_losses_weights_go_from_the_answers_before_to_those_after():
  made = _made()[0]
  for epoch, expected in ((0, 0.375), (1, 0.25), (3, 0.0), (9, 0.0)):
    shares = made.loss_weights(tf.constant(epoch, tf.int64))
    np.testing.assert_allclose(shares, [expected, 1.0 - expected])


def test_what_is_trained():
  assert {v.name for v in _made()[0].trainable_variables} >= {
      "critic/layer1:0", "critic_rates:0", "critic_norm_scale:0", "critic_norm_offset:0"}
  assert not _made(trained=False)[0].trainable_variables


def test_no_steps_are_refused():
  with pytest.raises(ValueError, match="steps=0 .*critique = None"):
    self_critique.SelfCritique(steps=0)
