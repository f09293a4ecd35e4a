# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The state of learners as arrays: what is found, what comes back, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.state import learner_state


class Learner(tf.Module):
  """Variables in all places where a checkpoint finds them."""

  def __init__(self, *extra):
    super().__init__()
    self.net = tf.keras.Sequential([
        tf.keras.layers.Dense(2, input_shape=(3,)), tf.keras.layers.BatchNormalization()])
    self.optimizer = tf.keras.optimizers.Adam(jit_compile=False)
    self.optimizer.build(self.net.trainable_variables)
    self.by_task = {"a/b": tf.Variable(1.5), "a": {"b": tf.Variable(True)}}
    self.several = [tf.Variable([1, 2], dtype=tf.uint8), (tf.Variable(tf.zeros([0, 3])),)]
    self.again, self.none = self.several[0], None
    self.generator = tf.random.Generator.from_seed(1)
    self.half = tf.Variable(tf.ones([2], tf.bfloat16))
    self.step = tf.function(lambda x: x + self.by_task["a/b"], autograph=False)
    self.extra = list(extra)


def _change(learner):
  for variable in [*learner.net.weights, *learner.optimizer.variables, learner.half,
                   learner.by_task["a/b"], learner.several[0]]:
    variable.assign(tf.cast(tf.fill(variable.shape, 7), variable.dtype))
  learner.by_task["a"]["b"].assign(False)
  learner.generator.uniform([])


def _values(learner):
  draws = learner.generator.state.numpy()
  return [v.numpy() for v in learner.variables] + [
      v.numpy() for v in learner.optimizer.variables] + [draws]


@pytest.mark.parametrize("extra, prefix", [
    ((), "variable/"), ((tf.Variable("text"),), "checkpoint/"),
    ((tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1),), "checkpoint/"),
])
def test_all_that_a_checkpoint_holds_comes_back(extra, prefix):
  learner, other = Learner(*extra), Learner(*extra)
  learner.step(1.0)
  _change(learner)
  saved = dict(learner_state.arrays(learner))
  assert all(name.startswith(prefix) for name in saved)
  learner_state.restore(other, saved)
  for one, two in zip(_values(learner), _values(other)):
    assert np.asarray(one).dtype == np.asarray(two).dtype
    np.testing.assert_array_equal(np.asarray(one), np.asarray(two))


def test_as_many_variables_are_found_as_tensorflow_saves(tmp_path):
  learner = Learner()
  path = tf.train.Checkpoint(learner=learner).write(str(tmp_path / "c"))
  names = {name for name, _ in tf.train.list_variables(path)} - {"_CHECKPOINTABLE_OBJECT_GRAPH"}
  assert len(learner_state.arrays(learner)) == len(names) > 20


def test_optimizers_of_the_legacy_kind_keep_their_slots():
  learners = []
  for _ in range(2):
    learner = Learner(tf.keras.optimizers.legacy.SGD(0.1, momentum=0.9))
    weights = learner.net.trainable_variables
    learner.extra[0].apply_gradients([(tf.ones_like(w), w) for w in weights])
    learners.append(learner)
  weights = learners[0].net.trainable_variables
  learners[0].extra[0].apply_gradients([(tf.ones_like(w), w) for w in weights])
  learner_state.restore(learners[1], dict(learner_state.arrays(learners[0])))
  slots = [[v.numpy() for v in learner.extra[0].variables()] for learner in learners]
  for one, two in zip(*slots):
    np.testing.assert_array_equal(one, two)


def test_other_variables_than_those_saved_are_named():
  saved = dict(learner_state.arrays(Learner()))
  with pytest.raises(learner_state.OtherVariablesError, match=(
      r"Learner has other variables than were saved. New: 1 \(extra/0\); missing: none. `begin`")):
    learner_state.restore(Learner(tf.Variable(1.0)), saved)


class Head(tf.Module):
  """A head of C classes, rows that were kept, and variables of other sizes for other classes."""

  def __init__(self, num_classes, first, rows=0, **others):
    super().__init__()
    self.kernel = tf.Variable(tf.fill([2, num_classes], first))
    self.known = tf.Variable(tf.fill([num_classes], first > 0.0))
    self.rows = tf.Variable(tf.zeros([rows, num_classes]), shape=[None, num_classes])
    for name, value in others.items():
      setattr(self, name, tf.Variable(value))


def test_a_larger_learner_takes_over_what_a_smaller_one_knows():
  small, large = Head(2, 3.0, rows=3, step=5), Head(3, 0.0, step=0)
  small.rows.assign([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
  learner_state.grow(large, small)
  assert large.kernel.numpy().tolist() == [[3.0, 3.0, 0.0]] * 2 and int(large.step) == 5
  assert large.known.numpy().tolist() == [True, True, False]
  assert large.rows.numpy().tolist() == [[1.0, 2.0, 0.0], [3.0, 4.0, 0.0], [5.0, 6.0, 0.0]]

  def ones(shape, dtype, values):
    assert values().shape == shape
    return tf.ones(shape, dtype)

  learner_state.grow(large, small, ones)  # What stands for the values in a rehearsal.
  assert large.rows.numpy().tolist() == [[1.0] * 3] * 3 and int(large.step) == 1


@pytest.mark.parametrize("large, message", [
    (lambda: Head(3, 0.0), "missing: 1 .step"), (lambda: Head(1, 0.0, step=0), "the shape .2, 2."),
    (lambda: Head(3, 0.0, step=[0]), "step has the shape .., and .1. for more classes")])
def test_a_learner_that_is_not_larger_cannot_take_it_over(large, message):
  with pytest.raises(learner_state.CannotGrowError, match=message):
    learner_state.grow(large(), Head(2, 3.0, step=5))


@pytest.mark.parametrize("change", ["assign_add", "scatter_update", "compiled"])
def test_values_that_were_read_do_not_change_with_their_variable(change):
  learner = tf.Module()
  learner.rows = tf.Variable(tf.ones([4, 2]))
  found = learner_state.copied(learner)
  if change == "assign_add":
    learner.rows.assign_add(tf.ones([4, 2]))
  elif change == "scatter_update":
    learner.rows.scatter_update(tf.IndexedSlices(tf.zeros([1, 2]), [0]))
  else:
    tf.function(lambda: learner.rows.assign_sub(tf.ones([4, 2])), autograph=False)()
  assert learner.rows.numpy().mean() != 1
  assert [value.mean() for value in found.values()] == [1]
