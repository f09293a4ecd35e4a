# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Check that the answers of a block depend on no label that comes after them (FLUID).

A learner that computes a block at once is given all labels of the block, and one that uses the
label of the very sample it answers would be scored as if it were right. So in some blocks a few
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

from typing import Callable, NamedTuple, Sequence

import numpy as np
import tensorflow as tf

from suite.contracts import learner as learner_lib
from suite.contracts import refusals
from suite.training.sequence import sequence_graphs

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
  """

  def __init__(self, learner: learner_lib.SequenceLearner,
               graphs: sequence_graphs.SequenceGraphs):
    self._learner, self._graphs = learner, graphs
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
    if not self._learner.can_update or len(rows) < 2:
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
    tolerance = _tolerance(found)
    for row, expected in checked:
      got = sequence_graphs.Readings(*(values[row] for values in found))
      if not alike(got, expected, tolerance):
        raise refusals.RefusedError(self._message(first + row, got, expected))
    if self._learner.can_update and not alike(
        self._alone(0, block).readings, checked[0].readings, tolerance):
      raise refusals.RefusedError(
          f"{self._name}.answer_in_turn changed the learner: after the block from step {first} on "
          f"was tried, `answer` is another function. {_HINT}")

  @property
  def _name(self) -> str:
    return type(self._learner).__name__

  def _message(self, step: int, got: sequence_graphs.Readings, expected: sequence_graphs.Readings
               ) -> str:
    if not self._learner.can_update:
      what, hint = "`answer` to that sample alone", "Answer each row by itself."
    else:
      what, hint = "`answer` after `update` with the labels before that step", _HINT
    method = "answer_in_turn" if self._learner.can_update else "answer"
    return (f"{self._name}.{method} gives step {step} another answer than {what}: {_shown(got)} "
            f"instead of {_shown(expected)}. {hint}")


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


def _tolerance(found: sequence_graphs.Readings) -> float:
  """The difference of logits that is taken for rounding."""
  values = np.abs(np.concatenate([found.max_logit, found.energy]))
  return _ROUNDING * float(np.max(values[np.isfinite(values)], initial=0.0)) + 1e-6


def _shown(one: sequence_graphs.Readings) -> str:
  return (f"class {int(one.closed)}, largest logit {one.max_logit:.6g}, probability of the true "
          f"class {one.probability:.3g}")
