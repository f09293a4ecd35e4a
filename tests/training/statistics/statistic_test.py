# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What every statistic has from its base class, and the parts of a batch."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
import tensorflow as tf

from suite.training.statistics import class_covariances
from suite.training.statistics import class_means
from suite.training.statistics import ridge_sums
from suite.training.statistics import shared_covariance
from suite.training.statistics import statistic
from suite.training.statistics import truncated_factors


@pytest.mark.parametrize("num", [1, 2, 4])
def test_parts_are_all_rows_in_order_and_as_equal_as_can_be(num):
  cut = tf.function(
      lambda x: [x[part] for part in statistic.parts(tf.size(x), num)],
      input_signature=[tf.TensorSpec([None], tf.int64)], autograph=False)
  for size in range(10):
    rows = np.arange(size)
    found = [part.numpy() for part in cut(rows)]
    np.testing.assert_array_equal(np.concatenate(found), rows)
    assert len(found) == num
    assert max(map(len, found)) - min(map(len, found)) <= 1


def test_the_sizes_of_two_parts_by_hand():
  found = [np.arange(5)[part].tolist() for part in statistic.parts(tf.constant(5))]
  assert found == [[0, 1], [2, 3, 4]]


class Largest(NamedTuple):
  largest: tf.Tensor  # [C, D]
  counts: tf.Tensor  # [C]


class LargestValues(statistic.Statistic):
  """What must be given, and no more: the products with the largest values of each class."""

  def zero(self, num_classes, num_features):
    return Largest(tf.zeros([num_classes, num_features]), tf.zeros([num_classes]))

  def add(self, state, codes, labels):
    member = tf.one_hot(labels, state.counts.shape[0], axis=0)  # [C, B]
    return self.merge(state, Largest(
        tf.reduce_max(member[:, :, None] * codes, axis=1), tf.reduce_sum(member, axis=1)))

  def merge(self, a, b):
    return Largest(tf.maximum(a.largest, b.largest), a.counts + b.counts)

  def answers(self, state, codes, solution=None):
    return tf.matmul(codes, state.largest, transpose_b=True)


def test_a_statistic_needs_no_more_than_its_four_functions():
  model = statistic.Running(LargestValues(), 3, 2)
  codes, labels = np.array([[1, 5], [2, 3], [4, 0]], np.float32), np.array([0, 0, 2])
  cost = model.add_set(codes, labels)
  np.testing.assert_array_equal(model.largest, [[2, 5], [0, 0], [4, 0]])
  assert (model.num_nonempty, model.num_classes, model.answer_macs) == (2, 3, 6)
  assert cost.flops > 0 and cost.flops % 3 == 0
  before = model.state.largest.numpy()
  model.add(tf.constant([[9.0, 1.0]]), tf.constant([1], tf.int64))
  np.testing.assert_array_equal(before[1], [0, 0])
  np.testing.assert_array_equal(model.answer(tf.constant([[1.0, 2.0]])), [[12, 11, 4]])
  model.solve()  # There is nothing to solve.
  assert not model.solution and model.solve_cost().macs == 0


def test_a_checkpoint_holds_state_and_solution(tmp_path):
  one, other = (statistic.Running(class_means.ClassMeans(), 2, 2) for _ in range(2))
  one.add(tf.constant([[1.0, 2.0]]), tf.constant([1], tf.int64))
  path = tf.train.Checkpoint(it=one).write(str(tmp_path / "state"))
  tf.train.Checkpoint(it=other).read(path).assert_consumed()
  np.testing.assert_array_equal(other.sums, [[0, 0], [1, 2]])
  np.testing.assert_array_equal(other.squares, [0, 5])


# A matrix of 4s or 1s, which has no factorization; nothing is left of ridges beside it.
SINGULAR = {
    "ridge": (statistic.Running, ridge_sums.RidgeSums(1e-300, exact=True), [[2, 2]], [0]),
    "rows": (statistic.Sets, ridge_sums.RidgeRows(ridge_sums.RidgeSums(1e-300, exact=True)),
             [[2, 0, 0], [2, 0, 0]], [0, 0]),
    "shared": (statistic.Running, shared_covariance.SharedCovariance(1e-300, "class"),
               [[2, 2], [-2, -2]], [0, 0]),
    "classes": (statistic.Running, class_covariances.ClassCovariances(
        1e-300, "correlations", (0.0, 0.0)), [[2, 2], [-2, -2], [0, 0]], [0, 0, 0])}


@pytest.mark.parametrize("name", SINGULAR)
def test_a_singular_matrix_is_solved_with_a_share_of_its_diagonal(name):
  kind, form, codes, labels = SINGULAR[name]
  model = kind(form, 2, len(codes[0]))
  model.add_set(np.array(codes, np.float32), np.array(labels))
  model.solve_compiled()
  found = model.factorization
  assert (found.added, found.attempts) == (1e-12, 2) and found.condition > 1e11
  assert found.record() == {
      "condition_number": float(f"{found.condition:.3g}"), "ridge_added": 1e-12}
  assert np.isfinite(model.answer(tf.constant(codes, tf.float32))[:, 0]).all()
  if name == "ridge":  # The least squares of the smallest norm.
    np.testing.assert_allclose(model.weights[:, 0], [0.25, 0.25], rtol=1e-6)


def test_the_condition_number_is_that_of_the_factorized_matrix():
  model = statistic.Running(ridge_sums.RidgeSums(1.0), 2, 2)
  assert model.factorization.record() == {}
  model.add(tf.constant([[1.0, 0]] * 3), tf.constant([0, 0, 0], tf.int64))
  model.solve()  # Of diag(4, 1).
  assert model.factorization == statistic.Factorization(4.0, 0.0, 1)
  model = statistic.Sets(truncated_factors.TruncatedFactors(2, 0.0), 2, 3)
  model.add_set(np.diag([5.0, 2.0, 1.0]).astype(np.float32), np.array([0, 1, 0]))
  model.solve()
  np.testing.assert_allclose(model.factorization.condition, 6.25, rtol=1e-6)


def test_what_no_share_of_the_diagonal_mends_is_an_error():
  model = statistic.Running(ridge_sums.RidgeSums(), 2, 2)
  model.gram.assign(-2.0 * np.eye(2))
  with pytest.raises(ValueError, match="RidgeSums: the sums of 0 samples cannot be factorized, not "
                                       "with 0.0001 of the mean of the diagonal"):
    model.solve()
