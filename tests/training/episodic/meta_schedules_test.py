# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest
import tensorflow as tf

from suite.training.episodic import meta_schedules


# 5 steps, 10 epochs: a share of .2 falls by .02 an epoch; the floor is .006.
@pytest.mark.parametrize("epoch, num_epochs, early", [
    (0, 10, 0.2), (5, 10, 0.1), (9, 10, 0.02), (10, 10, 0.0), (11, 10, 0.0), (99, 100, 0.006)])
def test_multi_step_weights_by_hand(epoch, num_epochs, early):
  got = meta_schedules.step_weights(tf.constant(epoch, tf.int64), 5, num_epochs)
  np.testing.assert_allclose(got, [early] * 4 + [1 - 4 * early], rtol=1e-5, atol=1e-7)


def test_a_single_step_weighs_one():
  np.testing.assert_array_equal(meta_schedules.step_weights(tf.constant(0), 1, 10), [1.0])


# A quarter of the way: end + (peak - end) * (1 + cos(pi / 4)) / 2.
@pytest.mark.parametrize("step, rate", [
    (0, 1e-3), (49, 1e-3), (50, 1e-4 + 9e-4 * 0.853553), (99, 1e-4 + 9e-4 * 0.853553),
    (100, 5.5e-4), (200, 1e-4), (10_000, 1e-4)])
def test_the_cosine_goes_by_epochs(step, rate):
  schedule = meta_schedules.EpochCosine(1e-3, 1e-4, 4, 50)
  assert float(schedule(tf.constant(step, tf.int64))) == pytest.approx(rate, rel=1e-5)
  again = meta_schedules.EpochCosine.from_config(schedule.get_config())
  assert float(again(tf.constant(step))) == pytest.approx(rate, rel=1e-5)


@pytest.mark.parametrize("settings, epoch, expected", [
    (dict(), 0, (True, False)),
    (dict(second_order=False), 0, (False, False)),
    (dict(first_order_epochs=2), 1, (False, False)),
    (dict(first_order_epochs=2), 2, (True, False)),
    (dict(multi_step_epochs=3, first_order_epochs=2), 0, (False, True)),
    (dict(multi_step_epochs=3, first_order_epochs=2), 2, (True, True)),
    (dict(multi_step_epochs=3, first_order_epochs=2), 3, (True, False)),
])
def test_the_epoch_chooses_order_and_loss(settings, epoch, expected):
  training = meta_schedules.MetaTraining(updates_per_epoch=10, **settings)

  @tf.function(autograph=False)
  def chosen(updates):
    value = tf.constant(3.0)
    with tf.GradientTape() as tape:
      tape.watch(value)
      loss = training.choose(
          training.epoch(updates), {"value": value},
          lambda values, order, multi_step: values["value"] * (2.0 * order + multi_step))
    return loss, tape.gradient(loss, value)

  wanted = 2.0 * expected[0] + expected[1]
  for updates in (10 * epoch, 10 * epoch + 9):
    loss, gradient = chosen(tf.constant(updates, tf.int64))
    assert (float(loss), float(gradient)) == (3.0 * wanted, wanted)


def test_gradients_are_clamped_and_all_variables_decay():
  variable = tf.Variable([1.0, 2.0], name="norm_scale")
  training = meta_schedules.MetaTraining(learning_rate=0.1, weight_decay=0.5, gradient_limit=10.0)
  optimizer = training.optimizer()
  optimizer.build([variable])
  optimizer.apply_gradients([(tf.constant([0.0, 1e6]), variable)])
  # Decay takes .1 * .5 of each; Adam's first step is the rate against the gradient's sign.
  np.testing.assert_allclose(variable, [0.95, 1.9 - 0.1], rtol=1e-5)
  # The second moment is .001 * 10^2, not .001 * (1e6)^2; 1 - .999 is .001 - 1.3e-8 in float32.
  np.testing.assert_allclose(optimizer._velocities[0], [0.0, 0.1 - 1.3e-6], rtol=1e-5)


def test_without_decay_and_end_rate_it_is_adam_at_a_constant_rate():
  optimizer = meta_schedules.MetaTraining(learning_rate=0.25).optimizer()
  assert isinstance(optimizer, tf.keras.optimizers.Adam) and not optimizer.weight_decay
  assert not isinstance(optimizer, tf.keras.optimizers.AdamW)
  assert float(optimizer.learning_rate) == 0.25


def test_coupled_decay_is_part_of_the_gradient():
  training = meta_schedules.MetaTraining(
      learning_rate=0.1, weight_decay=0.5, gradient_limit=1.0, decoupled=False)
  plain = meta_schedules.MetaTraining(learning_rate=0.1)
  w, expected = tf.Variable([2.0, -4.0]), tf.Variable([2.0, -4.0])
  one, other = training.optimizer(), plain.optimizer()
  for gradient in ([0.25, 3.0], [-5.0, 0.5]):
    # The clamp comes first, then the decay is added.
    total = tf.clip_by_value(gradient, -1.0, 1.0) + 0.5 * expected
    one.apply_gradients([(tf.constant(gradient), w)])
    other.apply_gradients([(total, expected)])
  np.testing.assert_allclose(w, expected, rtol=1e-6)
