# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Steps of a sequence in blocks, with the answers of one step at a time (FLUID).

One step is: sample t is answered; then the labels that are due are revealed, each of them goes to
the learner's `update` (if it has one), and its class is known from then on. In a block

    labels do not change the learner           all answers at once
    labels come at once, `answer_in_turn`      all answers at once, then all updates
    otherwise                                  a compiled loop

A block is tried first: `answer` leaves everything as it was before. `accept(stop)` commits the
steps before `stop`; the rest is discarded and not charged. Answers that are computed at once are
checked, so that no answer depends on a label that comes after it.

A learner that computes a block at once is given all labels of the block. One that uses the label of
the sample that it answers would be scored as if it were right. So in some blocks a few
rows are answered a second time, before the block is tried, by a learner that has not seen their
labels:

    row 0          `answer` alone
    row q < 5      `update` with labels 0..q-1, one at a time, then `answer`
    rows p         `update` with the other labels before each at once, then `answer`

The learner's variables are then restored. The block must give these rows the same answers, up to
rounding, and must leave `answer` as it was. Where labels do not change a learner, `answer` is given
a row alone: its answer must not depend on the other rows.

The first block of a run, or of a resumed run, is checked so. The first after each offline phase,
and others that are drawn, by the number of their first step alone, are checked in rows 0 and one p.
Nothing of this is charged.
"""

from __future__ import annotations

from typing import Any, Callable, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import tensorflow as tf

from suite.compute import ledger as ledger_lib
from suite.contracts import deliveries
from suite.contracts import learner as learner_lib
from suite.contracts import refusals
from suite.contracts import rehearsal
from suite.data.sequences import sequences
from suite.metrics import novelty_scores
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
    self._check = AnswerCheck(learner, self._graphs)
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

  def stored(self, num_old: int) -> deliveries.Stored:
    """All samples whose labels have come, to train on."""
    self._check.phase_begins()
    order = self._sequence.order[:self.num_revealed]
    labels = self._sequence.reveal_next(0, self.num_revealed)
    codes = self.codes[0:self.num_answered]
    if not np.array_equal(order, np.arange(len(order))) and not rehearsal.counts_only():
      codes = codes[order]
    return deliveries.Stored(codes[:len(order)], labels, self.known.copy(), num_old)

  def answer(self, stop: int) -> TriedBlock:
    """Tries the steps up to `stop`, exclusively; they count as delivered until `accept`."""
    first, sequence = self.num_answered, self._sequence
    sequence.deliver(stop - 1)
    steps, truth = np.arange(first, stop), sequence.truth(first, stop)
    # The step from which each class is known as far as steps before `stop` tell, int64 [C].
    known_from, end = np.where(self.known, 0, sequence_graphs.FAR), sequence.num_revealed(stop)
    due = sequence.due[sequence.order[self.num_revealed:end]]
    np.minimum.at(known_from, sequence.reveal_next(self.num_revealed, end), due + 1)
    self._tried = tf.constant(self.codes[first:stop])
    arguments = [self._tried, *map(tf.constant, (known_from, steps, truth))]
    unknown = known_from[truth] > steps
    answers = self._graphs.in_turn if self._updates else self._graphs.at_once
    if rehearsal.current() is not None:
      def run(num: int) -> np.ndarray:
        some = [self._tried[:num], arguments[1], arguments[2][:num], arguments[3][:num]]
        made = self._one_by_one(some, first + num) if self._is_loop else answers(*some)
        return np.stack(_arrays(made), axis=1)

      # The answers to a few samples are repeated.
      rows = rehearsal.rows(self._learner, "steps", stop - first, _FEW, run,
                            lambda: np.zeros([1, len(sequence_graphs.Readings._fields)]))
      closed, *others = np.nan_to_num(rows, nan=0.0).T
      return TriedBlock(first, truth, unknown,
                        sequence_graphs.Readings(closed.astype(np.int64), *others))
    if self._is_loop:
      return TriedBlock(first, truth, unknown, _arrays(self._one_by_one(arguments, stop)))
    checked = self._check.before(first, arguments)
    found = _arrays(answers(*arguments))
    self._check.after(first, arguments, found, checked)
    return TriedBlock(first, truth, unknown, found)

  def within(self, ledger: ledger_lib.Ledger, stop: int) -> int:
    """The last step up to `stop` whose labels the budget lets the learner learn.

    If that is none, labels teach the learner nothing any more.
    """
    first, before = self.num_answered, self.num_revealed
    revealed = self._sequence.revealed_by(first, stop) - before
    wanted = int(revealed[-1])
    if ledger.budget is None or not self._updates or not wanted:
      return stop
    found = ledger.fits(wanted, lambda num: self._graphs.costs.update * num)
    if found == wanted:
      return stop
    if num_steps := int(np.searchsorted(revealed, found, side="right")):
      return first + num_steps
    ledger.is_cut = True
    self._updates, self._is_loop, self._macs = False, False, (self._macs[0], 0)
    self._check.updates = False
    return stop

  def neighbors(self, k: Optional[int]) -> Optional[np.ndarray]:
    """Minus the squared distance of each code of the tried block to the k-th nearest before it.

    None if k is None, and in a rehearsal.
    """
    if k is None or rehearsal.current() is not None:
      return None
    stop = self.num_answered + int(self._tried.shape[0])
    return -novelty_scores.neighbor_distances(self.codes[0:stop], self.num_answered, k)

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
    if (self._updates and self._sequence.num_revealed(stop) > self.num_revealed
        and not rehearsal.counts_only()):
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


# Mean number of steps from one drawn block to the next: a check takes as long as some 50 steps of
# class means (1,000 classes, 512 features).
_STEPS_A_CHECK = 10_000
_ROWS = 3  # Rows p of a first block.
_SINGLE = 4  # Largest number of labels that are learned one at a time.
# Of the largest logit or energy of the block. The shipped learners differ by 2e-6 of it at most in
# float32; products in TF32, as GPUs have them, differ by some 1e-4.
_ROUNDING = 1e-3

Block = Sequence[tf.Tensor]  # codes, known_from, steps, truth; see `sequence_graphs.read`.
Answer = Callable[..., sequence_graphs.Readings]


class CheckedRow(NamedTuple):
  """A row of a block and its answer by a learner that has not seen its label."""

  row: int
  readings: sequence_graphs.Readings


class AnswerCheck:
  """The check of one learner.

  Args:
    learner: the learner.
    graphs: its compiled functions.

  Attributes:
    updates: whether labels change the learner.
  """

  def __init__(self, learner: learner_lib.SequenceLearner,
               graphs: sequence_graphs.SequenceGraphs):
    self._learner, self._graphs, self.updates = learner, graphs, learner.can_update
    self._is_first = self._is_due = True

  def phase_begins(self) -> None:
    """Notes that the learner is trained; the next block is checked."""
    self._is_due = True

  def rows(self, first: int, num: int) -> list[int]:
    """Rows to check of a block of `num` steps from `first` on, ascending; [] for most blocks."""
    rng = np.random.default_rng([first, 17])
    is_drawn = rng.random() < num / _STEPS_A_CHECK
    is_first, is_due = self._is_first, self._is_due
    self._is_first = self._is_due = False
    if not is_drawn and not is_due:
      return []
    rows = {0, *rng.integers(1, max(num, 2), _ROWS if is_first else 1).tolist()}
    if is_first:
      rows.add(int(rng.integers(1, _SINGLE + 1)))
    return sorted(row for row in rows if row < num)

  def before(self, first: int, block: Block) -> list[CheckedRow]:
    """Answers rows of a block in turn, before it is tried; the learner is the same afterwards."""
    codes, _, _, truth = block
    rows = self.rows(first, int(codes.shape[0]))
    if not self.updates or len(rows) < 2:
      return [self._alone(row, block) for row in rows]
    variables = self._learner.variables
    kept = [v.read_value() for v in variables]
    found, done, singles = [], 0, rows[1] if rows[1] <= _SINGLE else 0
    for row in rows:
      while done < row:
        stop = done + 1 if done < singles else row
        self._graphs.update(codes[done:stop], truth[done:stop])
        done = stop
      found.append(self._alone(row, block))
    for variable, value in zip(variables, kept):
      variable.assign(value)
    return found

  def _alone(self, row: int, block: Block) -> CheckedRow:
    codes, known_from, steps, truth = block
    one = slice(row, row + 1)
    readings = self._graphs.alone(codes[one], known_from, steps[one], truth[one])
    return CheckedRow(row, sequence_graphs.Readings(*(r.numpy()[0] for r in readings)))

  def after(self, first: int, block: Block, found: sequence_graphs.Readings,
            checked: Sequence[CheckedRow]) -> None:
    """Raises a RefusedError if a block has other answers than its checked rows.

    Args:
      first: the number of the block's first step. block: as tried.
      found: its answers, arrays [B].
      checked: as `before` returned them.
    """
    if not checked:
      return
    # A difference of logits up to this one is taken for rounding.
    values = np.abs(np.concatenate([found.max_logit, found.energy]))
    tolerance = _ROUNDING * float(np.max(values[np.isfinite(values)], initial=0.0)) + 1e-6
    for row, expected in checked:
      got = sequence_graphs.Readings(*(values[row] for values in found))
      if not alike(got, expected, tolerance):
        method, what, hint = "answer", "`answer` to that sample alone", "Answer each row by itself."
        if self.updates:
          method, hint = "answer_in_turn", _HINT
          what = "`answer` after `update` with the labels before that step"
        raise refusals.RefusedError(
            f"{self._name}.{method} gives step {first + row} another answer than {what}: "
            f"{_shown(got)} instead of {_shown(expected)}. {hint}")
    if self.updates and not alike(
        self._alone(0, block).readings, checked[0].readings, tolerance):
      raise refusals.RefusedError(
          f"{self._name}.answer_in_turn changed the learner: after the block from step {first} on "
          f"was tried, `answer` is another function. {_HINT}")

  @property
  def _name(self) -> str:
    return type(self._learner).__name__


_HINT = ("Row t of a block may depend on labels 0..t-1 only; the label of t itself is revealed "
         "after the answer. Compare answer_in_turn with a loop of answer and update, or leave it "
         "out: then the protocol takes the loop.")


def alike(a: sequence_graphs.Readings, b: sequence_graphs.Readings, tolerance: float) -> bool:
  """Whether two answers to one sample are equal up to a difference of their logits.

  Equal logits of two classes may be in any order, so the classes themselves are not compared.
  NaN is left to `TriedBlock.check`.
  """
  if np.isnan(a.max_logit):
    return True
  if np.isneginf(a.max_logit) or np.isneginf(b.max_logit):
    return bool(a.max_logit == b.max_logit)
  # A probability changes at most by the factor exp(2 tolerance).
  return bool(abs(a.max_logit - b.max_logit) <= tolerance
              and abs(a.energy - b.energy) <= tolerance
              and abs(a.probability - b.probability) <= np.expm1(2 * tolerance))


def _shown(one: sequence_graphs.Readings) -> str:
  return (f"class {int(one.closed)}, largest logit {one.max_logit:.6g}, probability of the true "
          f"class {one.probability:.3g}")
