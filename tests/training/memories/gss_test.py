# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""GSS against algorithm 2 written out, one example at a time."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.training.memories import gss
from suite.training.memories import memory as memory_lib
from suite.training.objectives import example_gradients

K = 4


def cosine_of(a, b):
  return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def compare(held, new):
  """The examples are their own gradients."""
  return [max(cosine_of(x, h) for h in held.codes.numpy()) for x in new.codes.numpy()]


def make(subset=100, block=1):
  memory = memory_lib.Memory(K, gss.Gss(subset, block))
  memory.build([2], tf.float32, seed=(3, 4), num_classes=2)
  return memory


def unit(degrees):
  return np.stack([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))], -1).astype(np.float32)


def test_scores_and_competition_by_hand():
  scores = np.array([1.0, 2.0, 1.0, 0.0])
  # The draws 0.3 and 0.5 of a total of 4 fall on slot 1: it goes with probability 2 / (2 + 0.5).
  for first in (0.3, 0.5):
    assert gss.rival(scores, 0.5, first, 0.79) == 1
    assert gss.rival(scores, 0.5, first, 0.81) == -1
  assert gss.rival(scores, 0.5, 0.2, 0.0) == 0 and gss.rival(scores, 0.5, 0.8, 0.0) == 2
  assert gss.rival(scores, 1.0, 0.3, 0.0) == -1  # A cosine of 0 is not below 0.
  assert gss.rival(np.zeros(2), 0.5, 0.3, 0.0) == -1


def test_the_first_fill_the_memory_and_have_the_largest_cosine_plus_one():
  memory = make()
  memory.add(unit([0, 60, 180]), [0, 1, 0], compare=compare)
  assert int(memory.size) == 3
  # 60 degrees from the first; 120 from the nearest.
  np.testing.assert_allclose(memory.rule.scores[:3], [1.1, 1.5, 0.5], rtol=1e-6)
  np.testing.assert_array_equal(memory.held().labels, [0, 1, 0])


def test_many_examples_are_those_of_the_algorithm_however_they_are_cut():
  rng = np.random.default_rng(0)
  rows = unit(rng.uniform(0, 100, 60))
  rows[30:] = -rows[30:]
  labels = np.arange(60)
  memory = make()
  for first, last in ((0, 7), (7, 8), (8, 60)):
    memory.add(rows[first:last], labels[first:last], compare=compare)
  # One at a time: all that is held is compared.
  rule = gss.Gss(100, 1)
  rule.build(K, seed=(3, 4), num_classes=2)
  held = []
  for number, row in enumerate(rows):
    def cosines(slots, entered, new, row=row):
      assert not len(entered) and new.tolist() == [0]
      return np.array([max(cosine_of(row, rows[held[s]]) for s in slots)])

    chosen, slots = rule.place_compared(1, len(held), number, cosines)
    for slot in slots.numpy()[:len(chosen)]:
      held[slot:slot + 1] = [number]
  assert memory.held().labels.numpy().tolist() == held
  assert max(held) >= 30 > min(held)  # Both directions are kept.
  np.testing.assert_allclose(memory.rule.scores, rule.scores, rtol=1e-6)


def test_the_number_of_gradients_is_as_announced():
  counted = []

  def counting(held, new):
    counted.append(len(held.labels) + len(new.labels))
    return compare(held, new)

  memory = make(subset=3, block=4)
  for num in (10, 6, 1):
    announced = memory.num_compared(num)
    counted.clear()
    memory.add(unit(np.arange(num) * 37.0), np.zeros(num), compare=counting)
    assert sum(counted) == announced
  assert memory.num_compared(6) == 6 + 2 * 3


@pytest.mark.parametrize("most", [2**26, 1])
def test_gradients_of_rows_and_their_cosines(most, monkeypatch):
  monkeypatch.setattr(example_gradients, "_MAX_BYTES", most)
  w, b = tf.Variable([[1.0], [2.0]]), tf.Variable(0.5)
  x = tf.constant([[3.0, 0.0], [0.0, 1.0], [0.0, -1.0], [0.0, 0.0]])
  rows = example_gradients.rows(
      lambda images, labels: tf.matmul(images, w)[:, 0] * tf.cast(labels, tf.float32) + 0 * b,
      [w, b], x, tf.constant([1, 1, 2, 1]))
  np.testing.assert_array_equal(rows, [[3, 0, 0], [0, 1, 0], [0, -2, 0], [0, 0, 0]])
  np.testing.assert_allclose(example_gradients.largest_cosines(rows, 2), [0, 0])
  np.testing.assert_allclose(example_gradients.largest_cosines(rows[1:], 1), [-1, 0])


def test_bad_input_says_what_is_missing():
  with pytest.raises(ValueError, match="Gss.subset is 0; it must be at least 1"):
    gss.Gss(0)
  with pytest.raises(ValueError, match="Gss compares gradients; give Memory.add a compare"):
    make().add(unit([0.0]), [0])
