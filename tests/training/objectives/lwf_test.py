# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import math

import numpy as np
import pytest
import tensorflow as tf

from suite.training.penalties import lwf

LOG3 = math.log(3.0)


def make(alphas=(0.0, 1.5, 2.0)):
  """Two parameters: the logits of two classes, whatever the image."""
  layer = tf.keras.layers.Dense(2, use_bias=False, kernel_initializer="zeros")
  model = tf.keras.Sequential([tf.keras.Input([1]), layer])
  penalty = lwf.Lwf(alphas)
  penalty.build(model)
  return penalty, model, layer.kernel


def test_divergence_by_hand():
  # Previous (3/4, 1/4), present (1/2, 1/2); and twice the same: a mean over the batch.
  previous = tf.constant([[LOG3, 0.0], [1.0, 2.0]])
  present = tf.constant([[5.0, 5.0], [1.0, 2.0]])
  expected = 0.75 * math.log(1.5) + 0.25 * math.log(0.5)
  np.testing.assert_allclose(lwf.divergence(previous, present), expected / 2, rtol=1e-5)
  # Temperature halves the logits: no factor of its square.
  np.testing.assert_allclose(
      lwf.divergence(2 * previous[:1], present[:1], 2.0), expected, rtol=1e-5)


def test_penalty_and_gradient_by_hand():
  penalty, model, kernel = make()
  images = tf.ones([4, 1])

  @tf.function
  def loss_and_gradient():
    with tf.GradientTape() as tape:
      loss = penalty.loss(images, model(images, training=True))
    return loss, tape.gradient(loss, kernel)

  penalty.before_bucket()
  kernel.assign([[LOG3, 0.0]])
  np.testing.assert_array_equal(loss_and_gradient()[0], 0)
  penalty.after_bucket()
  penalty.before_bucket()
  kernel.assign([[0.0, 0.0]])
  loss, gradient = loss_and_gradient()
  np.testing.assert_allclose(loss, 1.5 * (0.75 * math.log(1.5) + 0.25 * math.log(0.5)), rtol=1e-5)
  # alpha * (present - previous) probabilities.
  np.testing.assert_allclose(gradient[0], [1.5 * -0.25, 1.5 * 0.25], rtol=1e-5)
  penalty.after_bucket()
  assert loss_and_gradient()[0].numpy() == 0


def test_the_copy_is_right_with_norms_in_nested_models():
  inner = tf.keras.Sequential([
      tf.keras.Input([3]), tf.keras.layers.Dense(4), tf.keras.layers.BatchNormalization(),
      tf.keras.layers.Dense(4)])
  x = tf.keras.Input([3])
  model = tf.keras.Model(x, tf.keras.layers.Dense(2)(inner(x)))
  penalty = lwf.Lwf([0, 1])
  penalty.build(model)
  for i, v in enumerate(model.variables):
    v.assign(tf.random.stateless_uniform(v.shape, (i, 1)))
  penalty.after_bucket()
  images = tf.random.stateless_normal([5, 3], (0, 0))
  np.testing.assert_array_equal(penalty.previous(images), model(images))
  assert not penalty.previous.trainable_variables and len(model.trainable_variables) == 8


def test_the_ramp_is_the_papers():
  np.testing.assert_allclose(lwf.ramp(10), np.arange(10) * 2 / 9)
  assert lwf.ramp(1) == [0.0]


def test_it_goes_on_from_a_checkpoint(tmp_path):
  penalty, model, kernel = make()
  kernel.assign([[LOG3, 0.0]])
  penalty.after_bucket()
  path = tf.train.Checkpoint(penalty=penalty).save(str(tmp_path / "c"))
  again, _, _ = make()
  tf.train.Checkpoint(penalty=again).restore(path)
  logits = tf.zeros([1, 2])
  for p in (penalty, again):
    p.before_bucket()
  assert again.loss(tf.ones([1, 1]), logits) == penalty.loss(tf.ones([1, 1]), logits) > 0


def test_bad_input_says_what_to_do():
  with pytest.raises(ValueError, match=r"begin with \[0.5\]; the first must be 0"):
    lwf.Lwf([0.5, 1.0])
  with pytest.raises(ValueError, match="temperature is 0; it must be above 0"):
    lwf.Lwf([0.0], 0)
  with pytest.raises(ValueError, match="over 0 buckets"):
    lwf.ramp(0)
  penalty = make([0.0])[0]
  penalty.after_bucket()
  with pytest.raises(ValueError, match="Bucket 2 begins, but Lwf.alphas has 1 values"):
    penalty.before_bucket()
