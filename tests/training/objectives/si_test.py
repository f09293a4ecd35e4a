# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest
import steps
import tensorflow as tf

from suite.training.objectives import si

# A batch whose cross-entropy is 0: what is left of the loss is the distance.
SURE = steps.batch(np.array([[200, 0]], np.float32), [0])


def make(**options):
  layer = tf.keras.layers.Dense(1, use_bias=False)
  model = tf.keras.Sequential([tf.keras.Input([2]), layer])
  layer.kernel.assign([[1.0], [1.0]])
  objective = si.Si(**options)
  objective.build(model)

  @tf.function(autograph=False)
  def step(gradient, change):
    steps.taken(objective, variables=[layer.kernel], gradients=[gradient], change=[change], **SURE)

  return objective, layer.kernel, lambda g, c: step(
      *(tf.constant(a, tf.float32)[:, None] for a in (g, c)))


def learn(objective, step, moves):
  objective.begin_phase()
  for gradient, change in moves:
    step(gradient, change)
  objective.end_phase()


# Paths: 4 * 0.5 + 2 * 0.5 = 3, and 1 * 1 + 7 * 0 = 1; both weights move by -1.
STEPS = [((4.0, 1.0), (-0.5, -1.0)), ((2.0, 7.0), (-0.5, 0.0))]


def test_path_integral_by_hand():
  objective, kernel, step = make(strength=0.5, epsilon=0.5, max_importance=None)
  learn(objective, step, STEPS)
  np.testing.assert_allclose(kernel[:, 0], [0.0, 0.0], atol=1e-7)
  # 3 / (1 + 0.5) and 1 / (1 + 0.5).
  np.testing.assert_allclose(objective.importance[0][:, 0], [2.0, 2 / 3], rtol=1e-6)
  assert steps.loss_of(objective, SURE).numpy() == 0
  kernel.assign([[1.0], [3.0]])
  # 0.5 / 2 * (2 * 1 + 2/3 * 9)
  np.testing.assert_allclose(steps.loss_of(objective, SURE), 2.0, rtol=1e-6)


def test_importance_adds_up_over_phases():
  objective, _, step = make(epsilon=0.5, max_importance=None)
  learn(objective, step, STEPS)
  # Path 1 and -1 (the loss rose), moves of -1 and 1: 2 + 1/1.5 and 2/3 - 1/1.5.
  learn(objective, step, [((1.0, 1.0), (-1.0, 1.0))])
  np.testing.assert_allclose(objective.importance[0][:, 0], [8 / 3, 0.0], atol=1e-6)


def test_the_path_follows_the_cross_entropy_alone_unless_it_is_whole():
  for path in si.PATHS:
    objective, _, step = make(strength=2.0, epsilon=0.5, path=path)
    learn(objective, step, [((1.0, 0.0), (-1.0, 0.0))])
    np.testing.assert_allclose(objective.importance[0][:, 0], [2 / 3, 0.0], rtol=1e-6)
    # The penalty's gradient is 0 before the first step, and 2 * 2 / 3 * -1 before the second.
    learn(objective, step, [((1.0, 0.0), (-1.0, 0.0)), ((-1.0, 0.0), (0.5, 0.0))])
    whole, own = 1.0 + 0.5, 1.0 + 0.5 * (1.0 - 4 / 3)
    path_of = whole if path == "whole" else own
    np.testing.assert_allclose(
        objective.importance[0][:, 0], [2 / 3 + path_of / (0.25 + 0.5), 0.0], rtol=1e-6)
  with pytest.raises(ValueError, match="Si.path is 'all'; allowed are cross_entropy, whole"):
    si.Si(path="all")


def test_importance_is_cut_in_the_loss_only():
  objective, kernel, step = make(strength=2.0, epsilon=0.5, max_importance=1e-3)
  learn(objective, step, STEPS)
  kernel.assign([[1.0], [3.0]])
  np.testing.assert_allclose(steps.loss_of(objective, SURE), 1e-3 * (1 + 9), rtol=1e-6)
  np.testing.assert_allclose(objective.importance[0][:, 0], [2.0, 2 / 3], rtol=1e-6)


def test_batch_norms_are_spared_however_deep():
  inner = tf.keras.Sequential([tf.keras.layers.Dense(2), tf.keras.layers.BatchNormalization()])
  model = tf.keras.Sequential([tf.keras.Input([2]), inner, tf.keras.layers.Dense(1)])
  for spare, expected in [(True, 4), (False, 6)]:
    objective = si.Si(epsilon=1e-7, spare_norms=spare)
    objective.build(model)
    assert len(objective.importance) == expected
    objective.begin_phase()
    ones = [tf.ones_like(v) for v in model.trainable_variables]
    steps.taken(objective, variables=model.trainable_variables, gradients=ones,
                change=[-one for one in ones], **SURE)
    objective.end_phase()
    for weight in objective.importance:
      np.testing.assert_allclose(weight, tf.ones_like(weight), rtol=1e-6)


def test_it_goes_on_from_a_checkpoint_inside_a_phase(tmp_path):
  results = []
  whole, kernel, step = make(max_importance=None)
  whole.begin_phase()
  step(*STEPS[0])
  path = tf.train.Checkpoint(objective=whole, kernel=kernel).save(str(tmp_path / "c"))
  again, weights, step_again = make(max_importance=None)
  tf.train.Checkpoint(objective=again, kernel=weights).restore(path).assert_consumed()
  for objective, go in ((whole, step), (again, step_again)):
    go(*STEPS[1])
    objective.end_phase()
    results.append(objective.importance[0].numpy())
  np.testing.assert_array_equal(*results)
