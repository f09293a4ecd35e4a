# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
from __future__ import annotations

import math

import numpy as np
import pytest
import tensorflow as tf

from suite.training.sequence import stored_epochs


class Diary(tf.Module):
  """Notes which codes come in which batch; its loss is the mean code."""

  def __init__(self):
    super().__init__()
    self.rows, self.seeds = [], []

  def step(self, codes, labels, known, seeds):
    tf.numpy_function(self._note, [codes, seeds], [])
    return tf.reduce_mean(codes)

  def _note(self, codes, seeds):
    self.rows.append(codes[:, 0].tolist())
    self.seeds.extend(seeds.tolist())


def make(diary, batch_size=4):
  return stored_epochs.StoredEpochs(diary.step, tf.TensorSpec([1], tf.float32), 3,
                                    batch_size=batch_size, seed=(1, 2))


def data(num):
  return np.arange(num, dtype=np.float32)[:, None], np.zeros(num, np.int64), np.ones(3, bool)


def test_each_epoch_takes_each_sample_once_in_an_order_of_its_own():
  diary = Diary()
  epochs = make(diary)
  assert epochs.run(*data(10), 2) == 4.5  # The mean over samples, not over batches.
  assert [len(r) for r in diary.rows] == [4, 4, 2] * 2 and epochs.num_steps(10, 2) == 6
  first, second = ([x for row in rows for x in row] for rows in (diary.rows[:3], diary.rows[3:]))
  assert sorted(first) == sorted(second) == list(range(10)) and first != second
  assert len(set(diary.seeds)) == 20  # A sample is augmented otherwise in another epoch.


def test_draws_are_of_the_number_of_the_epoch():
  whole, parts = Diary(), Diary()
  make(whole).run(*data(9), 3)
  epochs = make(parts)
  epochs.run(*data(9), 1)
  again = make(parts)
  again.epochs_done.assign(epochs.epochs_done)
  again.run(*data(9), 2)
  assert parts.rows == whole.rows and parts.seeds == whole.seeds


def test_a_step_is_charged_by_the_rows_it_has():
  weights = tf.Variable(tf.ones([1, 5]))
  epochs = stored_epochs.StoredEpochs(
      lambda codes, labels, known, seeds: tf.reduce_sum(tf.matmul(codes, weights)),
      tf.TensorSpec([1], tf.float32), 3, batch_size=4, seed=(1, 2))
  assert epochs.cost(10, 3).macs == 3 * 10 * 5
  assert epochs.cost(3, 1).macs == 15 and epochs.cost(8, 1).macs == 40


def test_cross_entropy_among_known_classes():
  logits = tf.constant([[0.0, 9.0, math.log(3.0)]])
  loss = stored_epochs.masked_cross_entropy(
      tf.constant([2], tf.int64), logits, tf.constant([True, False, True]))
  assert float(loss) == pytest.approx(math.log(4 / 3))


def test_nothing_stored_is_named():
  with pytest.raises(ValueError, match="nothing to train on"):
    make(Diary()).run(*data(0), 1)
