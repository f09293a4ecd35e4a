# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.learners import weight_imprinting


def imprinted(scale=4.0):
  """A head of two features and three classes, and its model."""
  head = weight_imprinting.Imprinted(scale)
  model = head.make(2, 3, is_input=True)
  head.attach(model, 3)
  return head, model


def test_a_row_is_the_direction_of_the_sum_of_directions():
  head, model = imprinted()
  assert not head.kernel.numpy().any()
  head.imprint(tf.constant([[3.0, 4.0], [9.0, 0.0]]), tf.constant([1, 1], tf.int64))
  # Directions (.6, .8) and (1, 0) add up to (1.6, .8), of direction (2, 1) / sqrt 5.
  np.testing.assert_allclose(head.kernel, np.array([[0, 0], [2, 1], [0, 0]]) / 5**0.5, rtol=1e-6)
  np.testing.assert_allclose(
      model(tf.constant([[0.0, 7.0]])), [[0, 4 / 5**0.5, 0]], rtol=1e-6)


def test_once_closed_only_gradients_change_a_row():
  head, _ = imprinted()
  head.imprint(tf.constant([[3.0, 4.0]]), tf.constant([1], tf.int64))
  head.close()
  before = head.kernel.numpy()
  head.imprint(tf.constant([[9.0, 0.0], [1.0, 1.0]]), tf.constant([1, 2], tf.int64))
  np.testing.assert_array_equal(head.kernel, before)


def test_rows_and_scale_are_trained_by_hand():
  head, model = imprinted(2.0)
  head.kernel.assign([[1.0, 0.0], [0.0, 3.0], [0.0, 0.0]])  # Its length is free.
  assert [v.shape.rank for v in model.trainable_variables] == [2, 0]
  x = tf.constant([[3.0, 4.0]])
  with tf.GradientTape() as tape:
    logits = model(x)
    loss = tf.reduce_sum(logits * [[1.0, 10.0, 100.0]])
  np.testing.assert_allclose(logits, [[2 * 0.6, 2 * 3 * 0.8, 0]], rtol=1e-6)
  kernel, scale = tape.gradient(loss, model.trainable_variables)
  np.testing.assert_allclose(kernel, 2 * np.outer([1, 10, 100], [0.6, 0.8]), rtol=1e-6)
  np.testing.assert_allclose(scale, 0.6 + 10 * 2.4, rtol=1e-6)


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("is_open", [True, False])
def test_a_block_is_answers_and_imprints_in_turn(is_open, graph):
  rng = np.random.default_rng(0)
  codes = tf.constant(rng.normal(size=[20, 2]), tf.float32)
  labels = tf.constant(rng.integers(0, 3, 20))
  head, model = imprinted()
  head.imprint(codes[:3], labels[:3])
  if not is_open:
    head.close()
    head.scale.assign(2.5)
  in_turn = tf.function(head.logits_in_turn, autograph=False) if graph else head.logits_in_turn
  before = head.kernel.numpy()
  found = in_turn(codes, labels).numpy()
  np.testing.assert_array_equal(head.kernel, before)
  expected = []
  for i in range(20):
    expected.append(model(codes[i:i + 1])[0])
    head.imprint(codes[i:i + 1], labels[i:i + 1])
  np.testing.assert_allclose(found, expected, atol=1e-5)


def test_what_was_imprinted_is_in_a_checkpoint(tmp_path):
  head, model = imprinted()
  head.imprint(tf.constant([[3.0, 4.0]]), tf.constant([1], tf.int64))
  head.close()
  path = tf.train.Checkpoint(head=head, model=model).write(str(tmp_path / "c"))
  again, other = imprinted()
  tf.train.Checkpoint(head=again, model=other).read(path).assert_consumed()
  assert not again.is_open.numpy()
  np.testing.assert_array_equal(again.kernel, head.kernel)
  np.testing.assert_array_equal(again.centroids.sums, head.centroids.sums)
