# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Blocks of steps: what is tried leaves no trace, what is accepted has happened."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import ledger
from suite.contracts import learner as learner_lib
from suite.data.images import image_ops
from suite.data.sequences import sequences
from suite.training.sequence import sequence_codes
from suite.training.sequence import sequence_steps

FAR = sequence_steps.FAR


class Counter(learner_lib.SequenceLearner):
  """The logit of class c is how often c was revealed; a code is the grey of its image."""

  transform = image_ops.Plain(2)

  def __init__(self):
    super().__init__()
    self.counts = tf.Variable(tf.zeros([3]))

  def encode(self, images):
    return tf.cast(images[:, 0, 0, :1], tf.float32)

  def answer(self, codes):
    return self.counts + 0.0 * tf.matmul(codes, tf.zeros([1, 3]))

  def update(self, codes, labels):
    self.counts.scatter_add(tf.IndexedSlices(tf.ones_like(labels, tf.float32), labels))


class InTurn(Counter):

  def answer_in_turn(self, codes, labels):
    before = tf.cumsum(tf.one_hot(labels, 3), exclusive=True)
    return self.answer(codes) + before


def sequence_of(labels=(0, 1, 1, 2, 0), delays=0):
  images = np.arange(len(labels), dtype=np.uint8)[:, None, None, None] + np.zeros(
      [1, 2, 2, 3], np.uint8)
  return sequences.Sequence(images, labels, list("abcdefgh")[:len(labels)], 1, 3, delays=delays)


def steps_of(learner, num_answered=0, **settings):
  return sequence_steps.SequenceSteps(
      learner, sequence_of(**settings),
      np.array([True, False, False]), num_answered, 2)


def test_what_is_read_off_logits_by_hand():
  logits = tf.constant([[1.0, 5.0, 9.0], [1.0, 5.0, 9.0], [1.0, np.nan, 9.0], [1.0, 2.0, np.nan]])
  found = sequence_steps.read(
      logits, tf.constant([0, 1, FAR], tf.int64), tf.range(4, dtype=tf.int64),
      tf.constant([0, 2, 0, 0], tf.int64))
  # Class 1 is known from step 1 on, class 2 is not: its NaN does not matter.
  assert found.closed.numpy().tolist() == [0, 1, -1, 1]
  np.testing.assert_allclose(found.max_logit, [1, 5, np.nan, 2])
  np.testing.assert_allclose(
      found.energy, [1, np.log(np.exp(1) + np.exp(5)), np.nan, np.log(np.exp(1) + np.exp(2))],
      rtol=1e-6)
  np.testing.assert_allclose(found.probability, [1, 0, 0, 1 / (1 + np.e)], rtol=1e-6)


def test_while_nothing_is_known_there_is_no_answer():
  found = sequence_steps.read(tf.zeros([1, 2]), tf.fill([2], tf.constant(FAR, tf.int64)),
                             tf.zeros([1], tf.int64), tf.zeros([1], tf.int64))
  assert found.closed == -1 and found.max_logit == -np.inf and found.probability == 0


@pytest.mark.parametrize("make", [Counter, InTurn])
def test_a_block_that_is_tried_changes_nothing_and_an_accepted_part_all(make):
  learner = make()
  steps = steps_of(learner)
  block = steps.answer(5)
  assert block.labels.tolist() == [0, 1, 1, 2, 0] and block.first == 0
  assert block.unknown.tolist() == [False, True, False, True, False]
  # Counts before each step: 0, then 0 once, then 1 once too (a tie), then 1 twice.
  assert block.readings.closed.tolist() == [0, 0, 0, 1, 1]
  assert learner.counts.numpy().tolist() == [0, 0, 0] and steps.num_answered == 0
  steps.accept(3)
  assert learner.counts.numpy().tolist() == [1, 2, 0]
  assert (steps.num_answered, steps.num_revealed) == (3, 3)
  assert steps.known.tolist() == [True, True, False]
  with pytest.raises(sequences.LabelNotDueError):
    steps._sequence.reveal_next(3, 4)
  with pytest.raises(sequences.LabelNotDueError, match="after the answer"):
    steps.accept(4)  # What was tried beyond the accepted part is void.
  assert learner.counts.numpy().tolist() == [1, 2, 0] and steps.num_answered == 3
  again = steps.answer(5)
  assert again.readings.closed.tolist() == [1, 1] and again.first == 3


class Frozen(learner_lib.SequenceLearner):
  """Labels change nothing. As a convolution of oneDNN it takes no empty batch."""

  transform, encode = Counter.transform, Counter.encode

  def answer(self, codes):
    with tf.control_dependencies([tf.debugging.assert_positive(tf.shape(codes)[0])]):
      return tf.concat([codes, 3.0 - codes, tf.zeros_like(codes)], axis=1)


@pytest.mark.parametrize("stops", [(1, 2, 3, 4, 5), (3, 4, 5), (5,)])
def test_blocks_of_any_size_are_answered_alike_and_never_in_empty_parts(stops):
  steps, found = steps_of(Frozen()), []
  for stop in stops:
    found += steps.answer(stop).readings.max_logit.tolist()
    steps.accept(stop)
  # Codes are 0 to 4; class 1 is known after step 1.
  assert found == [0, 1, 2, 3, 4]


def test_late_labels_are_learned_in_their_turn():
  learner = InTurn()
  steps = steps_of(learner, delays=np.array([2, 0, 0, 0, 0]))
  block = steps.answer(4)
  # Revealed: nothing, 1 after step 1, then 1 and 0 after step 2 (in the order of due, then place).
  assert block.unknown.tolist() == [False, True, False, True]
  assert block.readings.max_logit.tolist() == [0, 0, 1, 2]
  assert learner.counts.numpy().tolist() == [0, 0, 0]
  steps.accept(3)
  assert learner.counts.numpy().tolist() == [1, 2, 0]
  stored = steps.stored(1)
  assert stored.labels.tolist() == [1, 0, 1] and stored.codes[:, 0].tolist() == [1, 0, 2]
  assert stored.num_old == 1 and stored.known.tolist() == [True, True, False]


def test_a_run_that_goes_on_knows_what_was_revealed():
  steps = steps_of(Counter(), num_answered=3)
  assert steps.known.tolist() == [True, True, False] and steps.num_revealed == 3
  assert steps.stored(0).codes[:, 0].tolist() == [0, 1, 2]


def test_each_answer_and_each_label_is_paid_for_once():
  steps, account = steps_of(Counter()), ledger.Ledger()
  steps.answer(5)
  steps.charge(account, 3, 2, seconds=1.0)
  totals = account.totals()
  assert totals["macs_predict"] == 3 * 3 == steps.macs(3, 2) and totals["macs_train"] == 0
  assert totals["flops_train"] == 2 * 1
  assert (totals["examples_predict"], totals["examples_train"]) == (3, 2)


@pytest.mark.parametrize("make", [Counter, InTurn])
def test_labels_teach_within_a_budget_and_reveal_classes_beyond_it(make):
  learner, account = make(), ledger.Ledger(ledger.Budget(flops=3))  # A label costs 1 FLOP.
  steps = steps_of(learner)
  assert steps.within(account, 5) == 3 and not account.is_cut
  steps.answer(3)
  steps.accept(2)  # As where an offline phase comes before the end of the block.
  steps.charge(account, 2, 2, seconds=0.0)
  assert steps.within(account, 5) == 3
  steps.answer(3)
  steps.accept(3)
  steps.charge(account, 1, 1, seconds=0.0)
  assert steps.within(account, 5) == 5 and account.is_cut
  steps.answer(5)
  steps.accept(5)
  steps.charge(account, 2, 2, seconds=0.0)
  assert learner.counts.numpy().tolist() == [1, 2, 0] and steps.known.all()
  assert account.spent() == (3, 0) and account.totals()["examples_predict"] == 5


def test_codes_depend_on_the_place_alone():
  learner, calls = Counter(), []
  encode = learner.encode

  def counted(images):
    calls.append(images.shape[0])
    return encode(images)

  learner.encode = counted
  codes = sequence_codes.SequenceCodes(
      learner, sequence_of(), batch_size=2)
  assert codes[4:5][:, 0].tolist() == [4] and calls == [2]  # Traced once, for one shape.
  assert codes[0:5][:, 0].tolist() == [0, 1, 2, 3, 4]
