# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Two sizes tell the cost of every size."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import flops
from suite.models import conv4


def test_a_line_through_one_and_two_rows():
  asked = []

  def count(rows):
    asked.append(rows)
    return flops.Cost(100 + 7 * rows, 3 * rows)

  costs = flops.RowCosts(count)
  assert costs(0) == flops.ZERO and not asked
  assert [costs(rows) for rows in (1, 2, 9)] == [
      flops.Cost(107, 3), flops.Cost(114, 6), flops.Cost(163, 27)]
  assert asked == [1, 2]


def test_a_line_through_one_row_and_a_batch():
  costs = flops.RowCosts(lambda rows: flops.Cost(100 + 7 * rows, 3 * rows), size=64)
  assert [costs(rows) for rows in (1, 2, 63)] == [
      flops.Cost(107, 3), flops.Cost(114, 6), flops.Cost(541, 189)]
  with pytest.raises(ValueError, match="size is 1; a line goes through 1 row and a larger batch"):
    flops.RowCosts(lambda rows: flops.Cost(rows, rows), size=1)


def test_what_lies_on_no_line_is_counted():
  # From 2 to 10 in three steps: no integer each.
  costs = flops.RowCosts(lambda rows: flops.Cost(10 * rows // 4, 0), size=4)
  assert [costs(rows).flops for rows in (1, 2, 3, 4)] == [2, 5, 7, 10]


def test_what_is_unknown_of_a_row_is_unknown_of_many():
  costs = flops.RowCosts(lambda rows: flops.Cost(None, rows, ("Odd",)))
  assert costs(5) == flops.Cost(None, 5, ("Odd",))


@pytest.fixture(name="count", scope="module")
def _count():
  """The cost of a training step on a number of rows, counted on its graph."""
  model = tf.keras.Sequential([conv4.conv4((8, 8, 3), filters=4, blocks=1),
                               tf.keras.layers.Dense(5)])
  optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9, jit_compile=False)
  optimizer.build(model.trainable_variables)

  def step(images, labels):
    with tf.GradientTape() as tape:
      loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
          labels, model(images, training=True)))
    optimizer.apply_gradients(
        zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))

  @functools.cache
  def count(num):
    return flops.count(tf.function(step, autograph=False).get_concrete_function(
        tf.TensorSpec([num, 8, 8, 3]), tf.TensorSpec([num], tf.int64)))

  return count


@pytest.mark.parametrize("rows", [1, 2, 5, 16])
def test_as_counted_on_the_graph_of_a_training_step(rows, count):
  assert flops.RowCosts(count)(rows) == count(rows)
  assert flops.RowCosts(count, size=16)(rows) == count(rows)
  assert np.isfinite(count(rows).flops)
