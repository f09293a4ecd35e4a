# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest
import steps
import tensorflow as tf

from suite.training.objectives import gem


def make(sample_size=None, chunk=64):
  objective = gem.Agem(sample_size, chunk)
  objective.build(tf.keras.Sequential(), seed=(3, 4))
  return objective


def gradients(objective, values, held):
  return steps.followed(objective, held, [values]).followed[0]


def test_projection_by_hand():
  # g . r = 1 * 1 - 3 * 1 = -2, r . r = 2: g + r.
  got, = gem.projected([tf.constant([1.0, -3.0])], [tf.constant([1.0, 1.0])])
  np.testing.assert_allclose(got, [2.0, -2.0])
  for reference in ([1.0, 0.0], [3.0, 1.0], [0.0, 0.0]):  # Products 1, 0 and nothing to go by.
    got, = gem.projected([tf.constant([1.0, -3.0])], [tf.constant(reference)])
    np.testing.assert_array_equal(got, [1.0, -3.0])


def test_products_are_over_all_parameters_together():
  g, r = [tf.constant([2.0]), tf.constant([-3.0])], [tf.constant([1.0]), tf.constant([1.0])]
  got = gem.projected(g, r)  # g . r = -1, r . r = 2
  np.testing.assert_allclose([got[0][0], got[1][0]], [2.5, -2.5])


def test_the_projected_gradient_never_goes_against_the_reference():
  rng = np.random.default_rng(0)
  for size in (2, 30):
    for _ in range(40):
      g, r = ([tf.constant(rng.normal(size=size) * 10 ** rng.uniform(-3, 3))] for _ in range(2))
      got = gem.projected(g, r)
      assert gem.dot(got, r) >= -1e-9 * np.linalg.norm(g) * np.linalg.norm(r)
      if gem.dot(g, r) >= 0:
        np.testing.assert_array_equal(got, g)


def test_the_whole_memory_is_the_reference():
  objective, held = make(), [[3, 0], [0, 1], [0, 2]]
  np.testing.assert_array_equal(gradients(objective, [1, -3], []), [1, -3])  # Nothing held yet.
  np.testing.assert_allclose(gradients(objective, [1, -3], held), [2, -2], rtol=1e-6)
  np.testing.assert_array_equal(gradients(objective, [1, 0], held), [1, 0])


def test_a_sample_changes_with_the_step_and_resumes(tmp_path):
  objective, held = make(sample_size=2, chunk=1), np.eye(2)[[0, 0, 0, 1, 1, 1]]
  path = tf.train.Checkpoint(objective=objective).save(str(tmp_path / "c"))
  first = [gradients(objective, [-1, -2], held) for _ in range(8)]
  assert len({tuple(g) for g in first}) == 3  # (1, 0), (0, 1) or their mean.
  again = make(sample_size=2, chunk=1)
  tf.train.Checkpoint(objective=again).restore(path).assert_consumed()
  np.testing.assert_array_equal([gradients(again, [-1, -2], held) for _ in range(8)], first)


def test_a_sample_larger_than_what_is_held_is_all_of_it():
  asked, = steps.followed(make(sample_size=5), [[4, 0], [0, 2]], [[1, 1]]).asked
  assert sorted(asked.tolist()) == [[0, 2], [4, 0]]


def test_a_variable_that_the_loss_does_not_reach_keeps_its_gradient():
  found = steps.followed(make(), [[1, 1]], [[1, -3], None]).followed
  np.testing.assert_allclose(found[0], [2, -2], rtol=1e-6)
  np.testing.assert_array_equal(found[1], [0.0, 0.0])


def test_bad_input_says_what_is_allowed():
  with pytest.raises(ValueError, match="sample_size is 0; it must be at least 1"):
    gem.Agem(0)
  with pytest.raises(ValueError, match="chunk is 0"):
    gem.Agem(chunk=0)
