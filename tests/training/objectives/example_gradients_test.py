# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Both ways to sum over examples, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.training.objectives import example_gradients

D, H, N = 3, 2, 5
FUNCTIONS = {"square": (tf.square, np.square), "abs": (tf.abs, np.abs)}


def make():
  """A layer of ReLUs, the square of whose sum is an example's value, and a weight without use."""
  rng = np.random.default_rng(0)
  kernel = tf.Variable(rng.normal(size=[D, H]).astype(np.float32))
  idle = tf.Variable(np.ones([2], np.float32))
  x = rng.normal(size=[N, D]).astype(np.float32)
  y = rng.integers(1, 4, N)

  def values_of(images, labels):
    hidden = tf.nn.relu(tf.matmul(images, kernel))
    return tf.cast(labels, tf.float32) * tf.square(tf.reduce_sum(hidden, axis=1))

  return kernel, idle, x, y, values_of


def by_numpy(function, kernel, x, y, mask):
  total = np.zeros([D, H])
  for row, label, counts in zip(x, y, mask):
    hidden = np.maximum(row @ kernel, 0.0)
    slope = label * 2 * hidden.sum() * np.outer(row, hidden > 0)
    total += counts * function(slope)
  return total


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_all_at_once_and_one_by_one_are_numpy_s(name, graph, monkeypatch):
  kernel, idle, x, y, values_of = make()
  function, in_numpy = FUNCTIONS[name]

  def summed(images, labels, counts):
    return example_gradients.summed(function, values_of, [kernel, idle], images, labels, counts)

  for limit in (0, 2**20):
    monkeypatch.setattr(example_gradients, "_MAX_BYTES", limit)
    made = tf.function(summed, autograph=False) if graph else summed
    for mask in ([1, 1, 1, 1, 1], [1, 0, 0, 1, 1], [0, 0, 0, 0, 0]):
      expected = by_numpy(in_numpy, kernel.numpy().astype(np.float64), x, y, mask)
      found = made(tf.constant(x), tf.constant(y), tf.constant(np.array(mask, bool)))
      np.testing.assert_allclose(found[0], expected, rtol=1e-5, atol=1e-6)
      np.testing.assert_array_equal(found[1], [0, 0])


def test_gradients_fill_so_much_memory_and_no_more(monkeypatch):
  kernel, _, x, y, values_of = make()
  calls = []
  monkeypatch.setattr(example_gradients, "_one_by_one", lambda *args: calls.append(1) or [])

  def summed():
    example_gradients.summed(tf.square, values_of, [kernel], tf.constant(x), tf.constant(y),
                             tf.ones([N], tf.bool))

  for limit, expected in ((N * D * H * 4, 0), (N * D * H * 4 - 1, 1)):
    monkeypatch.setattr(example_gradients, "_MAX_BYTES", limit)
    summed()
    assert len(calls) == expected


def test_an_open_number_of_rows_goes_one_by_one():
  kernel, _, x, y, values_of = make()
  summed = tf.function(
      lambda images, labels, mask: example_gradients.summed(
          tf.square, values_of, [kernel], images, labels, mask),
      input_signature=[tf.TensorSpec([None, D]), tf.TensorSpec([None], tf.int64),
                       tf.TensorSpec([None], tf.bool)], autograph=False)
  for num in (2, N):
    found, = summed(x[:num], y[:num], np.ones(num, bool))
    expected = by_numpy(np.square, kernel.numpy(), x[:num], y[:num], np.ones(num))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_gradients_are_dense():
  table = tf.Variable(np.ones([4, 2], np.float32))
  with tf.GradientTape() as tape:
    value = tf.reduce_sum(tf.gather(table, [1, 1]))
  found, = example_gradients.gradient(tape, value, [table])
  assert isinstance(found, tf.Tensor)
  np.testing.assert_array_equal(found, [[0, 0], [2, 2], [0, 0], [0, 0]])
