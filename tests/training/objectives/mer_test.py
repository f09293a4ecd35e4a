# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""MER against algorithm 1 written out in numpy."""

from __future__ import annotations

import types

import numpy as np
import pytest
import tensorflow as tf

from suite.training.gradient import train_step
from suite.training.memories import step_rows
from suite.training.objectives import mer

RATE = 0.5


class Single(train_step.StepNet):
  """One weight w; a row x costs (w - x)^2 / 2."""

  def __init__(self, weight):
    super().__init__(types.SimpleNamespace(variables=[weight]))

  def update_each(self, rows, order):
    weight, = self.variables

    def one(i, total):
      x = rows.images[order[i]]
      total += tf.square(weight - x) / 2
      weight.assign_sub(RATE * (weight - x))
      return i + 1, total

    return tf.while_loop(lambda i, _: i < tf.size(order), one, [0, 0.0])[1]


def taken(objective, weight, images, replayed):
  """The loss of a step on rows, the last ones of which are replayed."""
  labels = tf.zeros_like(images, tf.int64)
  rows, *drawn = step_rows.split(images, labels, [
      None if images.shape[0] is None else images.shape[0] - replayed,
      *([replayed] if replayed else [])])
  return objective.step(rows, Single(weight),
                        step_rows.StepMemory(rows, replayed, not replayed, drawn))


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

  @tf.function(input_signature=[spec], autograph=False)
  def take(images):
    return taken(objective, weight, images, 3)

  loss = take(tf.constant(rows))
  expected = by_hand(1.0, [2.0, 3.0], parts, 0.25, 0.5)
  np.testing.assert_allclose([weight.numpy(), loss], expected, rtol=1e-6)


def test_one_row_by_hand():
  # 1 -> 2 with x = 3, of which a quarter stays: 1.25, and half of that: 1.125.
  weight = tf.Variable(1.0)
  taken(mer.Mer(0.25, 0.5), weight, tf.constant([3.0]), 0)
  assert float(weight) == 1.125


def test_bad_shares_are_refused():
  with pytest.raises(ValueError, match="Mer.within is 0; it must be above 0 and at most 1"):
    mer.Mer(0)
  with pytest.raises(ValueError, match="Mer.across is 2"):
    mer.Mer(across=2)
  with pytest.raises(ValueError, match="Mer.batches is 0"):
    mer.Mer(batches=0)
