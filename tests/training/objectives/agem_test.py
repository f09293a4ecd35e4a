# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import functools

import numpy as np
import pytest
import tensorflow as tf

from suite.training.objectives import gem
from suite.training.objectives import objective as objective_lib

# Rows of the bucket at hand, behind which the memory's rows lie; nobody may follow the former.
CURRENT = np.full([3, 2], 1e3, np.float32)


def make(sample_size=None, chunk=64):
  """Two parameters w; an example x costs w . x, so that its gradient is x."""
  layer = tf.keras.layers.Dense(1, use_bias=False)
  model = tf.keras.Sequential([tf.keras.Input([2]), layer])
  objective = gem.Agem(sample_size, chunk)
  objective.build(model, losses_of=lambda images, labels, known: model(images)[:, 0], seed=(3, 4))
  return objective


def holding(rows=(), labels=None, classes=None):
  rows = np.reshape(np.array(rows, np.float32), [-1, 2])
  labels = np.zeros(len(rows)) if labels is None else labels
  return objective_lib.Data(
      tf.constant(np.concatenate([CURRENT, rows])),
      tf.constant(np.concatenate([np.zeros(3), labels]), tf.int64),
      tf.range(3, 3 + len(rows), dtype=tf.int64), tf.zeros([len(rows), 0]), classes)


@functools.cache
def compiled(objective):
  return tf.function(lambda g, *d: objective.gradients([g], objective_lib.Data(*d))[0],
                     autograph=False)


def gradients(objective, values, data):
  return compiled(objective)(tf.constant(values, tf.float32)[:, None], *data)[:, 0].numpy()


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


@pytest.mark.parametrize("chunk", [2, 64])
def test_the_whole_memory_is_the_reference(chunk):
  objective, data = make(chunk=chunk), holding([[3, 0], [0, 1], [0, 2]])
  np.testing.assert_array_equal(  # Nothing held yet.
      gradients(objective, [1, -3], holding()), [1, -3])
  np.testing.assert_allclose(
      objective.reference(tf.constant(1), data)[0][:, 0], [1, 1], rtol=1e-6)
  np.testing.assert_allclose(gradients(objective, [1, -3], data), [2, -2], rtol=1e-6)
  np.testing.assert_array_equal(gradients(objective, [1, 0], data), [1, 0])


def test_a_sample_changes_with_the_step_and_resumes(tmp_path):
  objective, data = make(sample_size=2, chunk=1), holding(np.eye(2)[[0, 0, 0, 1, 1, 1]])
  path = tf.train.Checkpoint(objective=objective).save(str(tmp_path / "c"))
  first = [gradients(objective, [-1, -2], data) for _ in range(8)]
  assert len({tuple(g) for g in first}) == 3  # (1, 0), (0, 1) or their mean.
  again = make(sample_size=2, chunk=1)
  tf.train.Checkpoint(objective=again).restore(path).assert_consumed()
  np.testing.assert_array_equal([gradients(again, [-1, -2], data) for _ in range(8)], first)


def test_a_sample_larger_than_what_is_held_is_all_of_it():
  objective = make(sample_size=5)
  found = objective.reference(tf.constant(1), holding([[4, 0], [0, 2]]))
  np.testing.assert_allclose(found[0][:, 0], [2, 1], rtol=1e-6)


def test_the_memory_is_compared_among_known_classes():
  asked, objective = [], gem.Agem(None)
  model = tf.keras.Sequential([tf.keras.Input([2]), tf.keras.layers.Dense(1, use_bias=False)])
  objective.build(model, losses_of=lambda images, labels, known: (
      asked.append((labels, known)), model(images)[:, 0])[1])
  known = tf.constant([True, False])
  objective.reference(tf.constant(1), holding([[4, 0], [0, 2]], [1, 0], objective_lib.Classes(
      known, ~known, ~known)))
  (labels, found), = asked
  assert labels.numpy().tolist() == [1, 0] and found is known


def test_a_variable_that_the_loss_does_not_reach_keeps_its_gradient():
  objective, model = gem.Agem(), tf.keras.Sequential(
      [tf.keras.Input([2]), tf.keras.layers.Dense(1)])
  kernel, _ = model.trainable_variables
  objective.build(model, losses_of=lambda images, labels, known: tf.matmul(images, kernel)[:, 0])
  found = objective.gradients([tf.constant([[1.0], [-3.0]]), None], holding([[1, 1]]))
  np.testing.assert_allclose(found[0][:, 0], [2, -2], rtol=1e-6)
  np.testing.assert_array_equal(found[1], [0.0])


def test_bad_input_says_what_is_allowed():
  with pytest.raises(ValueError, match="sample_size is 0; it must be at least 1"):
    gem.Agem(0)
  with pytest.raises(ValueError, match="chunk is 0"):
    gem.Agem(chunk=0)
  with pytest.raises(ValueError, match="needs the training loss; give it to build"):
    gem.Agem().build(tf.keras.Sequential())
