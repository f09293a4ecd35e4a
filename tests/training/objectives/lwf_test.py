# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import math

import numpy as np
import pytest
import steps
import tensorflow as tf

from suite.training.gradient import class_heads
from suite.training.objectives import lwf
from suite.training.objectives import objective as objective_lib

LOG3 = math.log(3.0)


def make(strength=(0.0, 1.5, 2.0), temperature=1.0, **options):
  """Two parameters: the logits of two classes, whatever the image."""
  layer = tf.keras.layers.Dense(2, use_bias=False, kernel_initializer="zeros")
  model = tf.keras.Sequential([tf.keras.Input([1]), layer])
  objective = lwf.Lwf(strength, temperature, **options)
  objective.build(model)
  return objective, model, layer.kernel


def test_divergence_by_hand():
  # Previous (3/4, 1/4), present (1/2, 1/2); and twice the same: a mean over the batch.
  previous = tf.constant([[LOG3, 0.0], [1.0, 2.0]])
  present = tf.constant([[5.0, 5.0], [1.0, 2.0]])
  expected = 0.75 * math.log(1.5) + 0.25 * math.log(0.5)
  np.testing.assert_allclose(lwf.divergence(previous, present), expected / 2, rtol=1e-5)
  # Temperature halves the logits: no factor of its square.
  np.testing.assert_allclose(
      lwf.divergence(2 * previous[:1], present[:1], 2.0), expected, rtol=1e-5)


def distance(objective, images, logits):
  """The loss without its cross-entropy."""
  labels = np.zeros(logits.shape[0], np.int64)
  given = steps.batch(logits, labels, images=images)
  return steps.loss_of(objective, given) - steps.loss_of(objective_lib.Objective(), given)


def test_objective_and_gradient_by_hand():
  objective, model, kernel = make()
  images = tf.ones([4, 1])

  @tf.function(autograph=False)
  def loss_and_gradient():
    with tf.GradientTape() as tape:
      loss = distance(objective, images, model(images, training=True))
    return loss, tape.gradient(loss, kernel)

  objective.begin_phase()
  kernel.assign([[LOG3, 0.0]])
  np.testing.assert_array_equal(loss_and_gradient()[0], 0)  # There is no earlier model.
  objective.end_phase()
  objective.begin_phase()
  kernel.assign([[0.0, 0.0]])
  loss, gradient = loss_and_gradient()
  np.testing.assert_allclose(loss, 1.5 * (0.75 * math.log(1.5) + 0.25 * math.log(0.5)), rtol=1e-5)
  # strength * (present - previous) probabilities.
  np.testing.assert_allclose(gradient[0], [1.5 * -0.25, 1.5 * 0.25], rtol=1e-5)
  objective.end_phase()
  assert loss_and_gradient()[0].numpy() == 0


def test_shares_weigh_both_terms_by_the_old_classes_and_ask_these():
  """Three classes, two of them old: (1 - s) CE + s KL, s = 2 / 3."""
  layer = tf.keras.layers.Dense(3, use_bias=False, kernel_initializer="zeros")
  model = tf.keras.Sequential([tf.keras.Input([1]), layer])
  objective = lwf.Lwf(lwf.Shares(), temperature=1.0)
  objective.build(model)

  def loss():
    return steps.loss_of(
        objective, steps.batch(model(tf.ones([1, 1])), [2], images=tf.ones([1, 1])))

  objective.begin_phase(tf.constant([True, True, False]))
  layer.kernel.assign([[LOG3, 0.0, 7.0]])
  expected = math.log(3.0 + 1.0 + math.exp(7.0)) - 7.0
  np.testing.assert_allclose(loss(), expected, atol=1e-6)  # No class is old.
  objective.end_phase()
  objective.begin_phase(tf.constant([False, False, True]))
  layer.kernel.assign([[0.0, 0.0, 0.0]])
  distance = 0.75 * math.log(1.5) + 0.25 * math.log(0.5)  # The third class is not asked about.
  np.testing.assert_allclose(loss(), math.log(3.0) / 3 + 2 * distance / 3, rtol=1e-5)
  objective.end_phase()
  objective.begin_phase(tf.constant([True, True, True]))
  np.testing.assert_allclose(loss(), math.log(3.0), rtol=1e-5)  # Classes that come again are new.


def test_the_copy_is_right_with_norms_in_nested_models():
  inner = tf.keras.Sequential([
      tf.keras.Input([3]), tf.keras.layers.Dense(4), tf.keras.layers.BatchNormalization(),
      tf.keras.layers.Dense(4)])
  x = tf.keras.Input([3])
  model = tf.keras.Model(x, tf.keras.layers.Dense(2)(inner(x)))
  objective = lwf.Lwf([0, 1])
  objective.build(model)
  for i, v in enumerate(model.variables):
    v.assign(tf.random.stateless_uniform(v.shape, (i, 1)))
  objective.end_phase()
  images = tf.random.stateless_normal([5, 3], (0, 0))
  np.testing.assert_array_equal(objective.previous(images), model(images))
  assert not objective.previous.trainable_variables and len(model.trainable_variables) == 8


def test_the_ramp_is_the_papers():
  np.testing.assert_allclose(lwf.ramp(10), np.arange(10) * 2 / 9)
  assert lwf.ramp(1) == [0.0]


def test_a_growing_strength_is_the_ramp_for_any_number_of_phases():
  objective, _, _ = make(lwf.Growing())
  found = []
  for _ in range(12):
    objective.begin_phase()
    found.append(float(objective.strength))
    objective.end_phase()
  np.testing.assert_allclose(found[:10], lwf.ramp(10), rtol=1e-6)
  np.testing.assert_allclose(found[10:], [20 / 9, 22 / 9], rtol=1e-6)


def test_it_goes_on_from_a_checkpoint(tmp_path):
  objective, model, kernel = make()
  kernel.assign([[LOG3, 0.0]])
  objective.end_phase()
  path = tf.train.Checkpoint(objective=objective).save(str(tmp_path / "c"))
  again, _, _ = make()
  tf.train.Checkpoint(objective=again).restore(path)
  logits = tf.zeros([1, 2])
  found = []
  for one in (objective, again):
    one.begin_phase()
    found.append(float(distance(one, tf.ones([1, 1]), logits)))
  assert found[0] == found[1] > 0


def strengths_of(objective, num_phases):
  found = []
  for _ in range(num_phases):
    objective.begin_phase()
    found.append(objective.strength.numpy())
    objective.end_phase()
  return found


def test_a_number_is_the_strength_from_the_second_phase_on():
  assert strengths_of(make(0.75)[0], 4) == [0.0, 0.75, 0.75, 0.75]
  assert strengths_of(make(2)[0], 2) == [0.0, 2.0]


def test_a_list_has_a_strength_for_each_phase():
  objective = make([0, 1.5, 0.25])[0]
  assert strengths_of(objective, 3) == [0.0, 1.5, 0.25]
  with pytest.raises(ValueError, match="Phase 4 begins, but Lwf.strength has 3 values"):
    objective.begin_phase()


@pytest.mark.parametrize("teacher, expected", [("first", [LOG3, 0.0]), ("last", [0.0, 5.0])])
def test_the_teacher_is_the_model_of_the_first_phase_or_of_the_last(teacher, expected):
  objective, model, kernel = make(1.0, teacher=teacher)
  for logits in ([LOG3, 0.0], [0.0, 5.0]):
    objective.begin_phase()
    kernel.assign([logits])
    objective.end_phase()
  kernel.assign([[7.0, 7.0]])
  np.testing.assert_allclose(objective.previous(tf.ones([1, 1])), [expected])


def classes(known, seen):
  return objective_lib.Classes(*(np.array(m, bool) for m in (known, seen, [0, 0, 0])))


def test_it_stays_near_the_first_classes_that_were_seen():
  model = class_heads.linear(3, 2)
  model.set_weights([np.array([[0, 2 * LOG3, 0], [0, 0, 0]], np.float32), np.zeros(3)])
  objective = lwf.Lwf(0.2 * 4, temperature=2.0, teacher="first")
  objective.build(model)
  objective.begin_phase()
  objective.end_phase(tf.constant([True, True, False]))
  objective.begin_phase()
  model.set_weights([np.zeros([2, 3], np.float32), np.zeros(3, np.float32)])
  images = tf.constant([[1.0, 0.0]])

  def loss(seen):
    return float(steps.loss_of(objective, steps.batch(
        model(images), [0], images=images, classes=classes([1, 1, 1], seen))))

  # The teacher at T = 2: (1/4, 3/4); the net: (1/2, 1/2). KL = -log 2 + 3/4 log 3.
  expected = LOG3 + 0.2 * 4 * (0.75 * LOG3 - math.log(2.0))
  assert loss([1, 1, 1]) == pytest.approx(expected, rel=1e-5)
  # With one class left, or none, there is nothing to compare.
  for seen in ([0, 1, 1], [0, 0, 1]):
    assert loss(seen) == pytest.approx(LOG3, rel=1e-6)
  # What later phases bring is no business of a teacher of the first one.
  objective.end_phase(tf.constant([True, True, True]))
  np.testing.assert_array_equal(objective.taught, [True, True, False])


def test_bad_input_says_what_to_do():
  with pytest.raises(ValueError, match=r"begins with \[0.5\]; the first must be 0"):
    lwf.Lwf([0.5, 1.0])
  with pytest.raises(ValueError, match=r"begins with \[\]; the first must be 0"):
    lwf.Lwf([])
  with pytest.raises(ValueError, match="temperature is 0; it must be above 0"):
    lwf.Lwf([0.0], 0)
  with pytest.raises(ValueError, match="teacher is 'best'; allowed are last, first"):
    lwf.Lwf(1.0, teacher="best")
  with pytest.raises(ValueError, match="over 0 buckets"):
    lwf.ramp(0)
  objective = make([0.0])[0]
  objective.end_phase()
  with pytest.raises(ValueError, match="Phase 2 begins, but Lwf.strength has 1 values"):
    objective.begin_phase()


def test_of_heads_it_is_the_mean_over_those_that_are_asked():
  # Heads of classes 0 and 2, of 1 and 3, and of 4, which is not asked.
  rng = np.random.default_rng(0)
  previous, present = (tf.constant(rng.normal(size=[6, 5]) * 50, tf.float32) for _ in range(2))
  asked, heads = tf.constant([True] * 4 + [False]), tf.constant([1, 2, 1, 2, 3], tf.int64)
  alone = [float(lwf.divergence(*(tf.gather(z, own, axis=1) for z in (previous, present)), 2.0))
           for own in ([0, 2], [1, 3])]
  found = lwf.divergence(previous, present, 2.0, asked, heads)
  np.testing.assert_allclose(found, np.mean(alone), rtol=1e-5)
  assert float(lwf.divergence(previous, present, 2.0, asked & False, heads)) == 0.0
