# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The check of blocks against single answers: what leaks is stopped, what is right passes."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import ledger
from suite.contracts import learner as learner_lib
from suite.contracts import refusals
from suite.data.images import image_ops
from suite.data.sequences import sequences
from suite.training.sequence import sequence_steps

CLASSES = 4
LABELS = np.random.default_rng(0).integers(0, CLASSES, 40)


class Counter(learner_lib.SequenceLearner):
  """The logit of class c is how often c was revealed."""

  transform = image_ops.Plain(2)

  def __init__(self):
    super().__init__()
    self.counts = tf.Variable(tf.zeros([CLASSES]))

  def encode(self, images):
    return tf.cast(images[:, 0, 0, :1], tf.float32)

  def answer(self, codes):
    return self.counts + 0.0 * tf.matmul(codes, tf.zeros([1, CLASSES]))

  def update(self, codes, labels):
    self.counts.scatter_add(tf.IndexedSlices(tf.ones_like(labels, tf.float32), labels))

  def answer_in_turn(self, codes, labels):
    return self.answer(codes) + tf.cumsum(tf.one_hot(labels, CLASSES), exclusive=True)


class OwnLabel(Counter):

  def answer_in_turn(self, codes, labels):
    return 10.0 * tf.one_hot(labels, CLASSES)


class OneLabelMore(Counter):
  """Each answer comes after its own label."""

  def answer_in_turn(self, codes, labels):
    return self.answer(codes) + tf.cumsum(tf.one_hot(labels, CLASSES))


class AddsFirst(Counter):
  """Learns the block, then answers: the learner itself has changed, and agrees with the block."""

  def answer_in_turn(self, codes, labels):
    self.update(codes, labels)
    return self.answer(codes)


class LaterRows(Counter):
  """Right in the first three rows."""

  def answer_in_turn(self, codes, labels):
    leak = 10.0 * tf.one_hot(labels, CLASSES)
    is_late = tf.range(tf.size(labels))[:, None] >= 3
    return tf.where(is_late, leak, super().answer_in_turn(codes, labels))


class NextLabel(Counter):
  """Right but for the labels that come after a row."""

  def answer_in_turn(self, codes, labels):
    return super().answer_in_turn(codes, labels) + tf.one_hot(tf.roll(labels, -1, 0), CLASSES)


class ByBatch(Counter):
  """Blocks and batches agree with each other, and not with one label at a time."""

  def update(self, codes, labels):
    new = tf.scatter_nd(labels[:, None], tf.ones_like(labels, tf.float32), [CLASSES])
    self.counts.assign(tf.maximum(self.counts, new))

  def answer_in_turn(self, codes, labels):
    return self.answer(codes) + tf.cumsum(tf.one_hot(labels, CLASSES), exclusive=True)


class Changes(Counter):
  """Right answers, but the learner is another one after them."""

  def answer_in_turn(self, codes, labels):
    found = super().answer_in_turn(codes, labels)
    with tf.control_dependencies([found]):
      self.counts.assign_add(tf.ones([CLASSES]))
    return found


class Silent(Counter):
  """Labels change it in offline phases only; without `update`."""

  update = answer_in_turn = None

  def __init__(self):
    super().__init__()
    self.counts.assign([1.0, 2.0, 3.0, 4.0])


class MeanOfBlock(Silent):
  """An answer depends on the other images of its block."""

  def answer(self, codes):
    return self.counts * (codes - tf.reduce_mean(codes))


def steps_of(learner, labels=LABELS, num_answered=0):
  images = np.arange(len(labels), dtype=np.uint8)[:, None, None, None] + np.zeros(
      [1, 2, 2, 3], np.uint8)
  sequence = sequences.Sequence(images, labels, [str(t) for t in range(len(labels))], CLASSES,
                                CLASSES)
  return sequence_steps.SequenceSteps(
      learner, sequence, np.ones(CLASSES, bool), num_answered)


@pytest.mark.parametrize("make, message", [
    (OwnLabel, "OwnLabel.answer_in_turn gives step 0 another answer than `answer` after `update` "
               "with the labels before that step: class 3, largest logit 10, .* instead of class "
               "0, largest logit 0, probability of the true class 0.25. Row t of a block may"),
    (AddsFirst, "AddsFirst.answer_in_turn gives step 0"),
    (LaterRows, "LaterRows.answer_in_turn gives step "),
    (NextLabel, "NextLabel.answer_in_turn gives step 0"),
    (ByBatch, "ByBatch.answer_in_turn gives step "),
    (Changes, r"Changes.answer_in_turn changed the learner: after the block from step 0 on"),
    (MeanOfBlock, "MeanOfBlock.answer gives step 0 another answer than `answer` to that sample "
                  "alone: .* Answer each row by itself")])
def test_what_is_not_an_answer_in_turn_is_refused(make, message):
  steps = steps_of(make())
  with pytest.raises(refusals.RefusedError, match=message):
    steps.answer(len(LABELS))


@pytest.mark.parametrize("make", [Counter, Silent])
def test_a_learner_that_is_right_passes_and_is_the_same_afterwards(make, monkeypatch):
  monkeypatch.setattr(sequence_steps, "_STEPS_A_CHECK", 1)  # Every block.
  learner, account = make(), ledger.Ledger()
  before = learner.counts.numpy().tolist()
  steps = steps_of(learner)
  for stop in (1, 2, 17, 40):
    steps.answer(stop)
    assert learner.counts.numpy().tolist() == before
    steps.accept(stop)
    before = learner.counts.numpy().tolist()
  assert not any(account.totals()[name] for name in ("flops", "macs", "examples"))


def test_the_first_block_of_a_resumed_run_is_checked():
  steps_of(Counter(), num_answered=20).answer(40)
  with pytest.raises(refusals.RefusedError, match="gives step 20 another"):
    steps_of(OneLabelMore(), num_answered=20).answer(40)


def check_of(learner):
  steps = steps_of(learner)
  return sequence_steps.AnswerCheck(
      learner,
      sequence_steps.SequenceGraphs(learner, CLASSES,
                                    steps.codes.images(0, 1), steps.codes[0:1]))


def test_rows_are_drawn_by_the_number_of_the_step():
  check = check_of(Counter())
  first = check.rows(0, 500)
  assert first[0] == 0 and 1 <= first[1] <= 4 and first[-1] < 500 and 4 <= len(first) <= 5
  assert check_of(Counter()).rows(0, 500) == first
  drawn = [check.rows(start, 500) for start in range(500, 1_000_000, 500)]
  chosen = [rows for rows in drawn if rows]
  assert 70 < len(chosen) < 130  # A twentieth of the blocks of 500.
  assert len({rows[-1] for rows in chosen}) > 60 and all(len(rows) == 2 for rows in chosen)
  check.phase_begins()
  assert len(check.rows(1500, 500)) == 2 and not check.rows(1500, 500)
  assert check_of(Counter()).rows(7, 1) == [0]


def test_the_first_block_after_a_phase_is_checked():
  class LeaksLater(Counter):
    """Leaks once it has seen three labels."""

    def answer_in_turn(self, codes, labels):
      leak = 10.0 * tf.one_hot(labels, CLASSES)
      found = super().answer_in_turn(codes, labels)
      return tf.where(tf.reduce_sum(self.counts) >= 3.0, leak, found)

  steps = steps_of(LeaksLater())
  for stop in (3, 4, 5):  # Not drawn.
    steps.answer(stop)
    steps.accept(stop)
  steps.stored(0)
  with pytest.raises(refusals.RefusedError, match="LeaksLater.answer_in_turn gives step 5 another"):
    steps.answer(30)


def test_equal_up_to_rounding():
  one = sequence_steps.Readings(2, 5.0, 6.0, 0.1)
  assert sequence_steps.alike(one, one._replace(closed=1, max_logit=5.0005), 1e-3)
  assert not sequence_steps.alike(one, one._replace(max_logit=5.002), 1e-3)
  assert not sequence_steps.alike(one, one._replace(energy=6.002), 1e-3)
  assert not sequence_steps.alike(one, one._replace(probability=0.11), 1e-3)
  nothing = sequence_steps.Readings(-1, -np.inf, -np.inf, 0.0)
  assert sequence_steps.alike(nothing, nothing, 1e-3)
  assert not sequence_steps.alike(nothing, one, 1e-3)
  # A learner that diverged is reported as such.
  assert sequence_steps.alike(one._replace(max_logit=np.nan), one, 1e-3)
