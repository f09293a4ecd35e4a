# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Asks an update strategy after the revealed labels of a block, and stops at the first update.

Where the strategy may update at any step, the number of steps that are tried ahead is a guess.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import copy
from typing import Any, NamedTuple

import numpy as np

from suite.contracts import learner as learner_lib
from suite.data.sequences import sequences
from suite.metrics import schema
from suite.training.sequence import sequence_steps
from suite.training.sequence import update_strategies

_GUESS = 16  # Steps tried ahead at first where an update may come any time; doubled when right.


class BlockOutcome(NamedTuple):
  """How many steps of a block to accept, and the decision at their end.

  Attributes:
    num_steps: the number of steps to accept.
    decision: the last one, None if no label came; it is an update only at the end of the last
      accepted step.
    refused: updates that a budget forbade.
  """

  num_steps: int
  decision: update_strategies.Decision | None
  refused: int

  @property
  def is_update(self) -> bool:
    return bool(self.decision and self.decision.update)


class SequenceDecisions:
  """A strategy in the middle of a sequence.

  Args:
    strategy: it is copied.
    learner: one without offline phases is never updated.
    sequence: of n samples and C classes.

  Attributes:
    can_update: whether the learner has offline phases.
  """

  def __init__(self, strategy: update_strategies.Strategy,
               learner: learner_lib.SequenceLearner, sequence: sequences.Sequence):
    self._learner, self._sequence = learner, sequence
    self.can_update = learner.can_learn_stored
    self.strategy = copy.deepcopy(strategy) if self.can_update else update_strategies.Never()
    quiet = self.strategy.steps_until_possible_update(0)
    if len(sequence) <= quiet < update_strategies.FOREVER // 2:
      raise ValueError(
          f"{type(strategy).__name__} cannot update before sample {quiet + 1}, and the sequence "
          f"has {len(sequence)}. Give it a smaller interval or count, or take Never.")
    self._correct = np.zeros(len(sequence), bool)
    self._seen = np.zeros(sequence.num_classes, bool)
    self._spent: int | None = 0
    self._guess = _GUESS

  def resume(self, state: Mapping[str, Any] | None, correct: np.ndarray, known: np.ndarray
             ) -> None:
    """Restores the decisions of a run that is resumed.

    Args:
      state: a value that `state` returned; None before the first step.
      correct: bool [t], whether the answers so far were right.
      known: bool [C], the classes known by now.
    """
    if state is not None:
      self.strategy.restore(state)
    self._correct[:len(correct)], self._seen = correct, known.copy()

  def begin_event(self, spent_macs: int | None) -> None:
    """Starts an event; spent_macs: MACs of the run so far, None if they are unknown."""
    # The guess starts again with each event, so that a resumed run cuts the same blocks.
    self._spent, self._guess = spent_macs, _GUESS

  def stop(self, steps: sequence_steps.SequenceSteps, limit: int) -> int:
    """The step before which a block should end, at most `limit`."""
    quiet = self.strategy.steps_until_possible_update(steps.num_revealed)
    if quiet >= update_strategies.FOREVER // 2:
      return limit
    sure = self._sequence.step_of(min(steps.num_revealed + quiet + 1, len(self._sequence))) + 1
    return min(limit, max(sure, steps.num_answered + self._guess))

  def decide(self, steps: sequence_steps.SequenceSteps, correct: np.ndarray) -> BlockOutcome:
    """Whether and where there is an update in a block that was tried.

    All labels of a step are looked at before its update, which comes after the last of them.

    Args:
      steps: before the block.
      correct: bool [B], its answers.
    """
    first, num = steps.num_answered, len(correct)
    if not self.can_update:
      return BlockOutcome(num, None, 0)
    self._correct[first:first + num] = correct
    before = steps.num_revealed
    ends = self._sequence.revealed_by(first, first + num)
    labels = self._sequence.reveal_next(before, int(ends[-1]))
    # By label: the number of the step, in the block, after which it comes.
    step_of = np.searchsorted(ends, np.arange(before, ends[-1]), side="right").tolist()
    decision, refused, made, looked = None, 0, None, 0
    for place in self._asked(before, int(ends[-1])):
      if made is not None and step_of[place] > made[1]:
        break
      if looked < place:
        self._seen[labels[looked:place]] = True
      looked = place + 1
      decision = self.strategy.decide(
          self._observed(steps, first + step_of[place], before + place, int(labels[place])))
      refused += decision.is_refused
      if decision.update and made is None:
        made = decision, step_of[place]
    if made is None:
      self._guess *= 2
      return self._outcome(steps, num, decision, refused, int(ends[-1]))
    decision, step = made
    self._seen[labels[looked:ends[step] - before]] = True
    self._guess = _GUESS
    return self._outcome(steps, step + 1, decision, refused, int(ends[step]))

  def _asked(self, revealed: int, end: int) -> Iterable[int]:
    """Which of the labels after `revealed`, up to `end`, the strategy is asked about, ascending.

    A strategy that is planned needs to see no others than those that may lead to an update, and the
    last one, whose reason is recorded.
    """
    if not self.strategy.is_planned:
      return range(end - revealed)
    found, place = [], revealed
    while (place := place + self.strategy.steps_until_possible_update(place)) < end - 1:
      found.append(place - revealed)
      place += 1
    return [*found, end - 1 - revealed] if end > revealed else []

  def _outcome(self, steps: sequence_steps.SequenceSteps, num: int,
               decision: update_strategies.Decision | None, refused: int, revealed: int
               ) -> BlockOutcome:
    if self._spent is not None:
      macs = steps.macs(num, revealed - steps.num_revealed)
      self._spent = None if macs is None else self._spent + macs
    return BlockOutcome(num, decision, refused)

  def _observed(self, steps: sequence_steps.SequenceSteps, t: int, place: int, label: int
                ) -> update_strategies.Observed:
    """The strategy's argument when the place-th label has come, after the answer at step t."""
    is_new = not self._seen[label]
    self._seen[label] = True
    macs, spent = None, None
    if self.strategy.reads_macs:
      macs = self._learner.stored_macs(place + 1)
    if macs is not None and self._spent is not None:
      more = steps.macs(t + 1 - steps.num_answered, place + 1 - steps.num_revealed)
      spent = None if more is None else self._spent + more
    return update_strategies.Observed(
        place + 1, bool(self._correct[self._sequence.order[place]]), bool(is_new), macs, spent)

  def updated(self, num_revealed: int) -> None:
    """Tells the strategy of an update that was made."""
    self.strategy.updated(num_revealed)

  def record(self, outcomes: Sequence[BlockOutcome], num_revealed: int) -> dict[str, Any]:
    """How the decisions of some blocks ended, for a record: whether an update follows, and why."""
    made = [o.decision for o in outcomes if o.decision is not None]
    last = made[-1] if made else None
    return {schema.UPDATE: bool(last and last.update),
            schema.REASON: last.reason if last else "none",
            schema.UPDATES_REFUSED: sum(o.refused for o in outcomes),
            schema.UPDATE_MACS: self._learner.stored_macs(num_revealed)}

  def state(self) -> dict[str, Any]:
    return self.strategy.state()
