# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""MER against algorithm 1 written out in numpy."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.training.objectives import mer

RATE = 0.5


def updating(weight):
  """An update on rows x, whose loss is (w - x)^2 / 2."""
  def update(images, labels):
    del labels
    loss = tf.reduce_mean(tf.square(weight - images)) / 2
    weight.assign_sub(RATE * tf.reduce_mean(weight - images))
    return loss

  return update


def by_hand(w, incoming, parts, within, across):
  begin, losses = w, []
  for part in parts:
    before = w
    for x in [*incoming, *part]:
      losses.append((w - x) ** 2 / 2)
      w = w - RATE * (w - x)
    w = before + within * (w - before)
  return begin + across * (w - begin), np.mean(losses)


@pytest.mark.parametrize("batches, parts", [
    (1, [[4.0, 8.0, -2.0]]), (2, [[4.0, 8.0], [-2.0]])])
@pytest.mark.parametrize("open_rows", [False, True])
def test_updates_on_single_rows_and_both_reptiles(batches, parts, open_rows):
  weight = tf.Variable(1.0)
  objective, rows = mer.Mer(0.25, 0.5, batches), [2.0, 3.0, 4.0, 8.0, -2.0]
  spec = tf.TensorSpec([None if open_rows else 5])

  @tf.function(input_signature=[spec, spec], autograph=False)
  def take(images, labels):
    return objective.take(updating(weight), [weight], images, labels, 3)

  loss = take(tf.constant(rows), tf.zeros([5]))
  expected = by_hand(1.0, [2.0, 3.0], parts, 0.25, 0.5)
  np.testing.assert_allclose([weight.numpy(), loss], expected, rtol=1e-6)
  assert objective.passes(2, 3, 9) == (2 * batches + 3, 0)


def test_one_row_by_hand():
  # 1 -> 2 with x = 3, of which a quarter stays: 1.25, and half of that: 1.125.
  weight = tf.Variable(1.0)
  mer.Mer(0.25, 0.5).take(updating(weight), [weight], tf.constant([3.0]), tf.zeros([1]), 0)
  assert float(weight) == 1.125


def test_bad_shares_are_refused():
  with pytest.raises(ValueError, match="Mer.within is 0; it must be above 0 and at most 1"):
    mer.Mer(0)
  with pytest.raises(ValueError, match="Mer.across is 2"):
    mer.Mer(across=2)
  with pytest.raises(ValueError, match="Mer.batches is 0"):
    mer.Mer(batches=0)
