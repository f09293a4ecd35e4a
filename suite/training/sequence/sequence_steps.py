# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Steps of a sequence in blocks, with the answers of one step at a time (FLUID).

One step is: sample t is answered; then the labels that are due are revealed, each of them goes to
the learner's `update` (if it has one), and its class is known from then on. In a block

    labels do not change the learner           all answers at once
    labels come at once, `answer_in_turn`      all answers at once, then all updates
    otherwise                                  a compiled loop

A block is tried first: `answer` leaves everything as it was before. `accept(stop)` commits the
steps before `stop`; the rest is discarded and not charged. Answers that are computed at once are
checked: see `answer_check`.
"""

from __future__ import annotations

from typing import Any, List, NamedTuple, Optional, Tuple

import numpy as np
import tensorflow as tf

from suite.compute import ledger as ledger_lib
from suite.contracts import learner as learner_lib
from suite.contracts import rehearsal
from suite.contracts import stored_samples
from suite.data.sequences import sequences
from suite.metrics import novelty_scores
from suite.training.sequence import answer_check
from suite.training.sequence import sequence_codes
from suite.training.sequence import sequence_graphs

_FEW = 32  # Steps that are taken of a block in a rehearsal.


class TriedBlock(NamedTuple):
  """The answers of steps first..first+B-1, not yet accepted.

  Attributes:
    first: the number of the first step.
    labels: int64 [B], of the samples, due or not: for scoring.
    unknown: bool [B], whether the class of the sample is not known at its step.
    readings: see `sequence_graphs.Readings`; arrays [B].
  """

  first: int
  labels: np.ndarray
  unknown: np.ndarray
  readings: sequence_graphs.Readings

  def check(self, num_steps: int, learner: str) -> None:
    """Raises a ValueError if one of the first `num_steps` answers has a NaN among its logits."""
    wrong = np.flatnonzero(np.isnan(self.readings.max_logit[:num_steps]))
    if len(wrong):
      raise ValueError(
          f"{learner}.answer returned NaN for step {self.first + int(wrong[0])}: its training has "
          "diverged, and no answer after this one would mean anything. Lower its learning rate, or "
          "look for a division by 0 in its logits; classes that take no part have the logit -inf. "
          "The records before this step are kept.")


class SequenceSteps:
  """A learner in the middle of a sequence.

  Args:
    learner: the learner, as it was after `num_answered` steps.
    sequence: of n samples and C classes.
    known: bool [C], the classes known before the first step.
    num_answered: steps made before.
    encode_batch: samples encoded at once.

  Attributes:
    num_answered, num_revealed: numbers of samples answered and of labels revealed.
    known: bool [C], as of now.
    codes: of the samples.
  """

  def __init__(self, learner: learner_lib.SequenceLearner, sequence: sequences.Sequence,
               known: np.ndarray, num_answered: int = 0, encode_batch: int = 64):
    self._learner, self._sequence = learner, sequence
    self.codes = sequence_codes.SequenceCodes(learner, sequence, encode_batch)
    self._graphs = sequence_graphs.SequenceGraphs(
        learner, sequence.num_classes, self.codes.images(0, 1), self.codes[0:1])
    self._check = answer_check.AnswerCheck(learner, self._graphs)
    costs = self._graphs.costs
    self._macs = (costs.encode + costs.answer).macs, costs.update.macs
    self._updates = learner.can_update
    self._is_loop = self._updates and not (
        learner.can_answer_in_turn and sequence.is_immediate)
    self._tried = tf.constant(self.codes[0:0])  # Codes of the block that was tried last.
    self.known, self.num_answered, self.num_revealed = known.copy(), num_answered, 0
    if num_answered:
      sequence.deliver(num_answered - 1)
      self._reveal_to(num_answered)

  def _reveal_to(self, num_answered: int) -> None:
    before, self.num_revealed = self.num_revealed, self._sequence.num_revealed(num_answered)
    self.known[self._sequence.reveal_next(before, self.num_revealed)] = True

  def stored(self, num_old: int) -> stored_samples.Stored:
    """All samples whose labels have come, to train on."""
    self._check.phase_begins()
    order = self._sequence.order[:self.num_revealed]
    labels = self._sequence.reveal_next(0, self.num_revealed)
    codes = self.codes[0:self.num_answered]
    if not np.array_equal(order, np.arange(len(order))):
      codes = codes[order]
    return stored_samples.Stored(codes[:len(order)], labels, self.known.copy(), num_old)

  def answer(self, stop: int) -> TriedBlock:
    """Tries the steps up to `stop`, exclusively; they count as delivered until `accept`."""
    first, sequence = self.num_answered, self._sequence
    sequence.deliver(stop - 1)
    steps, truth = np.arange(first, stop), sequence.truth(first, stop)
    known_from = self._known_from(stop)
    self._tried = tf.constant(self.codes[first:stop])
    arguments = [self._tried, *map(tf.constant, (known_from, steps, truth))]
    unknown = known_from[truth] > steps
    if rehearsal.current() is not None:
      return TriedBlock(first, truth, unknown, self._rehearsed(arguments, first, stop))
    if self._is_loop:
      return TriedBlock(first, truth, unknown, _arrays(self._one_by_one(arguments, stop)))
    checked = self._check.before(first, arguments)
    answers = self._graphs.in_turn if self._updates else self._graphs.at_once
    found = _arrays(answers(*arguments))
    self._check.after(first, arguments, found, checked)
    return TriedBlock(first, truth, unknown, found)

  def neighbors(self, k: Optional[int]) -> Optional[np.ndarray]:
    """Minus the squared distance of each code of the tried block to the k-th nearest before it.

    None if k is None, and in a rehearsal.
    """
    if k is None or rehearsal.current() is not None:
      return None
    stop = self.num_answered + int(self._tried.shape[0])
    return -novelty_scores.neighbor_distances(self.codes[0:stop], self.num_answered, k)

  def _rehearsed(self, arguments: List[Any], first: int, stop: int) -> sequence_graphs.Readings:
    """The answers to a few samples, over and over."""
    def run(num: int) -> np.ndarray:
      codes, known_from, steps, truth = arguments
      some = [codes[:num], known_from, steps[:num], truth[:num]]
      if self._is_loop:
        return np.stack(_arrays(self._one_by_one(some, first + num)), axis=1)
      answers = self._graphs.in_turn if self._updates else self._graphs.at_once
      return np.stack(_arrays(answers(*some)), axis=1)

    found = rehearsal.rows(self._learner, "steps", stop - first, _FEW, run)
    closed, *others = np.nan_to_num(found, nan=0.0).T
    return sequence_graphs.Readings(closed.astype(np.int64), *others)

  def _known_from(self, stop: int) -> np.ndarray:
    """The step from which each class is known as far as steps before `stop` tell, int64 [C]."""
    known_from = np.where(self.known, 0, sequence_graphs.FAR)
    end = self._sequence.num_revealed(stop)
    due = self._sequence.due[self._sequence.order[self.num_revealed:end]]
    np.minimum.at(known_from, self._sequence.reveal_next(self.num_revealed, end), due + 1)
    return known_from

  def _one_by_one(self, arguments: List[Any], stop: int) -> sequence_graphs.Readings:
    """Runs the loop and restores the learner's variables."""
    before = [v.read_value() for v in self._learner.variables]
    ends = self._sequence.revealed_by(self.num_answered, stop) - self.num_revealed
    readings = self._graphs.one_by_one(*arguments, *self._revealed(stop), ends)
    for variable, value in zip(self._learner.variables, before):
      variable.assign(value)
    return readings

  def _revealed(self, stop: int) -> Tuple[Any, np.ndarray]:
    """Codes [M, ...] and labels [M] that are revealed between now and step `stop`."""
    end = self._sequence.num_revealed(stop)
    labels = self._sequence.reveal_next(self.num_revealed, end)
    if self._sequence.is_immediate:
      return self._tried if len(labels) == len(self._tried) else self._tried[:len(labels)], labels
    return self.codes[0:stop][self._sequence.order[self.num_revealed:end]], labels

  def accept(self, stop: int) -> None:
    """Commits the steps before `stop`: the learner learns from their labels, and no later ones.

    Answers from `stop` on are discarded; call `answer` again.
    """
    self._sequence.rewind(stop)
    if self._updates and self._sequence.num_revealed(stop) > self.num_revealed:
      self._graphs.update(*self._revealed(stop))
    self.num_answered = stop
    self._reveal_to(stop)

  def macs(self, num_answers: int, num_labels: int) -> ledger_lib.Number:
    """MACs of `num_answers` answers and `num_labels` updates; None if they are unknown."""
    if self._macs[0] is None or self._macs[1] is None:
      return None
    return self._macs[0] * num_answers + self._macs[1] * num_labels

  def charge(self, ledger: ledger_lib.Ledger, num_answers: int, num_labels: int, seconds: float
             ) -> None:
    """Charges steps as if taken one at a time: answers to "predict", updates to "train"."""
    costs = self._graphs.costs
    predict, train = (costs.encode + costs.answer) * num_answers, costs.update * num_labels
    ledger.charge("predict", flops=predict.flops, macs=predict.macs, examples=num_answers,
                  seconds=seconds)
    if self._updates:
      ledger.charge("train", flops=train.flops, macs=train.macs, examples=num_labels)


def _arrays(readings: sequence_graphs.Readings) -> sequence_graphs.Readings:
  return sequence_graphs.Readings(*(r.numpy() for r in readings))
