# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.training.sequence import sequence_heads


def test_columns_of_base_classes_stay():
  head = sequence_heads.Split()
  head.begin(2, 3)
  head.kernel.assign([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
  head.bias.assign([0.1, 0.2, 0.3])
  head.after_base(tf.constant([True, False, True]))
  # What was learned of the second class, which is none of the base, is forgotten.
  x = tf.constant([[1.0, 10.0]])
  np.testing.assert_allclose(head.logits(x), [[41.1, 0.0, 63.3]], rtol=1e-6)
  with tf.GradientTape() as tape:
    loss = tf.reduce_sum(head.logits(x))
  kernel, bias = tape.gradient(loss, head.trained)
  np.testing.assert_allclose(kernel, [[0, 1, 0], [0, 10, 0]])
  np.testing.assert_allclose(bias, [0, 1, 0])
  head.kernel.assign(tf.ones([2, 3]))
  np.testing.assert_allclose(head.logits(x), [[41.1, 11.0, 63.3]], rtol=1e-6)


def test_a_linear_head_of_zeros():
  head = sequence_heads.Linear()
  head.begin(2, 3)
  assert (head.logits(tf.ones([4, 2])).numpy() == 0).all()
  head.kernel.assign([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
  head.bias.assign([1.0, 0.0, 0.0])
  np.testing.assert_allclose(head.logits(tf.constant([[1.0, 10.0]])), [[42, 52, 63]])


def imprinted(scale=4.0):
  head = sequence_heads.Imprinted(scale)
  head.begin(2, 3)
  return head


def test_a_row_is_the_direction_of_the_sum_of_directions():
  head = imprinted()
  head.imprint(tf.constant([[3.0, 4.0], [9.0, 0.0]]), tf.constant([1, 1], tf.int64))
  # Directions (.6, .8) and (1, 0) add up to (1.6, .8), of direction (2, 1) / sqrt 5.
  np.testing.assert_allclose(head.kernel, np.array([[0, 0], [2, 1], [0, 0]]) / 5**0.5, rtol=1e-6)
  np.testing.assert_allclose(
      head.logits(tf.constant([[0.0, 7.0]])), [[0, 4 / 5**0.5, 0]], rtol=1e-6)


def test_once_closed_only_gradients_change_a_row():
  head = imprinted()
  head.imprint(tf.constant([[3.0, 4.0]]), tf.constant([1], tf.int64))
  head.close()
  before = head.kernel.numpy()
  head.imprint(tf.constant([[9.0, 0.0], [1.0, 1.0]]), tf.constant([1, 2], tf.int64))
  np.testing.assert_array_equal(head.kernel, before)


@pytest.mark.parametrize("is_open", [True, False])
def test_a_block_is_answers_and_imprints_in_turn(is_open):
  rng = np.random.default_rng(0)
  codes = tf.constant(rng.normal(size=[20, 2]), tf.float32)
  labels = tf.constant(rng.integers(0, 3, 20))
  head = imprinted()
  head.imprint(codes[:3], labels[:3])
  if not is_open:
    head.close()
  found = head.logits_in_turn(codes, labels).numpy()
  expected = []
  for i in range(20):
    expected.append(head.logits(codes[i:i + 1])[0])
    head.imprint(codes[i:i + 1], labels[i:i + 1])
  np.testing.assert_allclose(found, expected, atol=1e-5)
