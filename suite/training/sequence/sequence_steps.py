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

Letters: B samples of a block, C classes, M labels revealed during it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from suite.compute import flops
from suite.compute import ledger as ledger_lib
from suite.compute import user_code
from suite.contracts import deliveries
from suite.contracts import learner as learner_lib
from suite.contracts import refusals
from suite.contracts import rehearsal
from suite.data.sequences import sequences
from suite.metrics import novelty_scores
from suite.training.sequence import sequence_codes
from suite.training.statistics import statistic

FAR = 2**62  # A step that never comes.
_FEW = 32  # Steps that are taken of a block in a rehearsal.
# Mean number of steps from one drawn block to the next: a check takes as long as some 50 steps of
# class means (1,000 classes, 512 features).
_STEPS_A_CHECK = 10_000
_ROWS = 3  # Rows p of a first block.
_SINGLE = 4  # Largest number of labels that are learned one at a time.
# Of the largest logit or energy of the block. The shipped learners differ by 2e-6 of it at most in
# float32; products in TF32, as GPUs have them, differ by some 1e-4.
_ROUNDING = 1e-3
_HINT = ("Row t of a block may depend on labels 0..t-1 only; the label of t itself is revealed "
         "after the answer. Compare answer_in_turn with a loop of answer and update, or leave it "
         "out: then the protocol takes the loop.")


class Readings(NamedTuple):
  """The parts of the logits of B samples that are kept; arrays [B], or tensors inside a graph.

  Attributes:
    closed: int64, the best known class; -1 while there is none, or if a logit is NaN.
    max_logit: float32, that class's logit; -inf while there is none, NaN if any is NaN.
    energy: float32, log sum exp of known classes' logits.
    probability: float32, softmax over known classes at the true class; 0 if it is not known.
    second: float32, the second largest logit of a known class; -inf while there are fewer than two.
  """

  closed: Any
  max_logit: Any
  energy: Any
  probability: Any
  second: Any = -np.inf


class SampleCosts(NamedTuple):
  """Costs of one sample, taken alone."""

  encode: flops.Cost
  answer: flops.Cost
  update: flops.Cost


class _Traced:
  """A function of tensors, traced when it is first called.

  Calls go to the trace itself: `tf.function` would inspect all arguments first.
  """

  def __init__(self, function: Callable[..., Any], signature: list[tf.TensorSpec]):
    self._function, self._signature = function, signature
    self._trace: Any = None

  def __call__(self, *arguments: Any) -> Any:
    if self._trace is None:
      with tf.init_scope():  # Also if the first call is in another graph.
        function = user_code.compiled(self._function, input_signature=self._signature)
        self._trace = function.get_concrete_function()
    return self._trace(*arguments)


class SequenceGraphs:
  """The compiled functions of one learner: answers to a block of samples, and readings of them.

  Args:
    learner: the learner.
    num_classes: C.
    images: one sample as the learner's transform makes it, [1, H, W, 3].
    code: its code, [1, ...].
  """

  def __init__(self, learner: learner_lib.SequenceLearner, num_classes: int,
               images: tf.Tensor, code: np.ndarray):
    self._learner, self._num_classes = learner, num_classes
    self._see = learner.see or (lambda codes: codes)
    codes = tf.TensorSpec([None, *code.shape[1:]], tf.as_dtype(code.dtype))
    numbers = tf.TensorSpec([None], tf.int64)
    block = [codes, tf.TensorSpec([num_classes], tf.int64), numbers, numbers]
    seen = self._see(tf.constant(code))  # Preparing an image is not counted.
    one, image = (tf.TensorSpec(part.shape, part.dtype) for part in (seen, images))

    def counted(name: str, function: Callable[..., Any], *specs: tf.TensorSpec) -> flops.Cost:
      def count() -> flops.Cost:
        graph = user_code.compiled(function).get_concrete_function(*specs)
        if name == "answer" and (shape := graph.structured_outputs.shape) != [
            1, num_classes]:
          raise ValueError(
              f"{type(learner).__name__}.answer returns logits {list(shape)} for one code; "
              f"expected [1, {num_classes}], one for each class slot, whether its class is known "
              "or not.")
        return flops.count(graph)

      return rehearsal.traced(
          (name, num_classes), learner.variables, specs, count)

    answer = counted("answer", learner.answer, one)
    encode = counted("encode", learner.encode, image)
    update = flops.ZERO
    if learner.can_update:
      update = counted("update", learner.update, one, tf.TensorSpec([1], tf.int64))
    self.costs = SampleCosts(encode, answer, update)
    self._whole, self._halves = _Traced(self._at_once, block), _Traced(self._in_halves, block)
    self.in_turn = _Traced(self._in_turn, block)
    self.one_by_one = _Traced(self._one_by_one, [*block, codes, numbers, numbers])
    if learner.can_update:
      self.update = _Traced(learner.update, [codes, numbers])

  def at_once(self, codes: tf.Tensor, known_from: np.ndarray, steps: np.ndarray,
              truth: np.ndarray) -> Readings:
    """All answers at once, for learners that labels do not change; see `read`."""
    # A half of one sample would be empty, and oneDNN's convolutions refuse that.
    function = self._halves if len(steps) > 1 else self._whole
    return function(codes, known_from, steps, truth)

  def alone(self, codes: tf.Tensor, known_from: np.ndarray, steps: np.ndarray, truth: np.ndarray
            ) -> Readings:
    """The answer to one sample, for any learner; see `read`."""
    return self._whole(codes, known_from, steps, truth)

  def _at_once(self, codes: tf.Tensor, known_from: tf.Tensor, steps: tf.Tensor, truth: tf.Tensor
               ) -> Readings:
    return read(self._learner.answer(self._see(codes)), known_from, steps, truth)

  def _in_halves(self, codes: tf.Tensor, known_from: tf.Tensor, steps: tf.Tensor, truth: tf.Tensor
                 ) -> Readings:
    # Calls of one trace, which TensorFlow puts in place of them before it runs the graph.
    return _merged([self._whole(codes[part], known_from, steps[part], truth[part])
                    for part in statistic.parts(tf.size(steps))])

  def _in_turn(self, codes: tf.Tensor, known_from: tf.Tensor, steps: tf.Tensor, truth: tf.Tensor
               ) -> Readings:
    """Each label revealed right after its answer; changes no variable."""
    logits = self._learner.answer_in_turn(codes, truth)
    return _merged([_read(logits[part], known_from, steps[part], truth[part])
                    for part in statistic.parts(tf.size(steps))])

  def _one_by_one(self, codes: tf.Tensor, known_from: tf.Tensor, steps: tf.Tensor,
                  truth: tf.Tensor, revealed: tf.Tensor, labels: tf.Tensor, ends: tf.Tensor
                  ) -> Readings:
    """Answers and updates in turn; the learner changes.

    Args:
      codes, known_from, steps, truth: see `read`.
      revealed, labels: codes [M, ...] and labels int64 [M] in the order of their revelation.
      ends: int64 [B], how many of them have come after each answer.
    """
    num = tf.size(steps)

    def learn(i: tf.Tensor) -> list[tf.Tensor]:
      self._learner.update(revealed[i:i + 1], labels[i:i + 1])
      return [i + 1]

    def step(t: tf.Tensor, begin: tf.Tensor, logits: tf.TensorArray) -> tuple[Any, ...]:
      logits = logits.write(t, tf.cast(
          self._learner.answer(self._see(codes[t:t + 1]))[0], tf.float32))
      tf.while_loop(lambda i: i < ends[t], learn, [begin])
      return t + 1, ends[t], logits

    array = tf.TensorArray(tf.float32, num, element_shape=[self._num_classes])
    logits = tf.while_loop(lambda t, *_: t < num, step, [0, tf.constant(0, tf.int64), array])[2]
    return read(logits.stack(), known_from, steps, truth)


def _merged(parts: list[Readings]) -> Readings:
  return Readings(*(tf.concat(pieces, axis=0) for pieces in zip(*parts)))


def read(logits: tf.Tensor, known_from: tf.Tensor, steps: tf.Tensor, truth: tf.Tensor) -> Readings:
  """The readings of logits [B, C].

  Args:
    logits: [B, C].
    known_from: int64 [C], the first step at which each class is known, or `FAR`.
    steps: int64 [B], ascending. truth: int64 [B], the labels.
  """
  # A sequence has less than 2^31 steps.
  from_step = tf.cast(tf.minimum(known_from, tf.int32.max), tf.int32)
  known = from_step <= tf.cast(steps, tf.int32)[:, None]
  masked = tf.where(known, tf.cast(logits, tf.float32), -float("inf"))
  best, answer = (part[:, 0] for part in tf.math.top_k(masked, 1))  # The first of equal ones.
  # A copy without the best: for two, top_k has no way as quick as for one.
  places = tf.stack([tf.range(tf.size(answer)), answer], axis=1)
  second = tf.reduce_max(tf.tensor_scatter_nd_update(
      masked, places, tf.fill(tf.shape(best), -float("inf"))), axis=1)
  shift = tf.where(tf.math.is_finite(best), best, 0.0)
  total = tf.reduce_sum(tf.exp(masked - shift[:, None]), axis=1)  # NaN if any logit is.
  best = tf.where(tf.math.is_nan(total), float("nan"), best)
  has_answer = tf.math.is_finite(best)
  energy = shift + tf.math.log(total)
  true_logit = tf.gather(masked, truth, axis=1, batch_dims=1)
  return Readings(
      tf.where(has_answer, tf.cast(answer, tf.int64), -1), best, energy,
      tf.where(has_answer, tf.exp(true_logit - energy), 0.0), second)


_read = tf.function(read, autograph=False)  # Traced once for all graphs of C classes.


class TriedBlock(NamedTuple):
  """The answers of steps first..first+B-1, not yet accepted.

  Attributes:
    first: the number of the first step.
    labels: int64 [B], of the samples, due or not: for scoring.
    unknown: bool [B], whether the class of the sample is not known at its step.
    readings: arrays [B].
  """

  first: int
  labels: np.ndarray
  unknown: np.ndarray
  readings: Readings

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
    self._graphs = SequenceGraphs(
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
    known_from, end = np.where(self.known, 0, FAR), sequence.num_revealed(stop)
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
                            lambda: np.zeros([1, len(Readings._fields)]))
      closed, *others = np.nan_to_num(rows, nan=0.0).T
      return TriedBlock(first, truth, unknown,
                        Readings(closed.astype(np.int64), *others))
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

  def neighbors(self, k: int | None) -> np.ndarray | None:
    """Minus the squared distance of each code of the tried block to the k-th nearest before it.

    None if k is None, and in a rehearsal.
    """
    if k is None or rehearsal.current() is not None:
      return None
    stop = self.num_answered + int(self._tried.shape[0])
    return -novelty_scores.neighbor_distances(self.codes[0:stop], self.num_answered, k)

  def _one_by_one(self, arguments: list[Any], stop: int) -> Readings:
    """Runs the loop and restores the learner's variables."""
    before = [v.read_value() for v in self._learner.variables]
    ends = self._sequence.revealed_by(self.num_answered, stop) - self.num_revealed
    readings = self._graphs.one_by_one(*arguments, *self._revealed(stop), ends)
    for variable, value in zip(self._learner.variables, before):
      variable.assign(value)
    return readings

  def _revealed(self, stop: int) -> tuple[Any, np.ndarray]:
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


def _arrays(readings: Readings) -> Readings:
  return Readings(*(r.numpy() for r in readings))


Block = Sequence[tf.Tensor]  # codes, known_from, steps, truth; see `read`.
Answer = Callable[..., Readings]


class CheckedRow(NamedTuple):
  """A row of a block and its answer by a learner that has not seen its label."""

  row: int
  readings: Readings


class AnswerCheck:
  """The check of one learner.

  Args:
    learner: the learner.
    graphs: its compiled functions.

  Attributes:
    updates: whether labels change the learner.
  """

  def __init__(self, learner: learner_lib.SequenceLearner,
               graphs: SequenceGraphs):
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
    return CheckedRow(row, Readings(*(r.numpy()[0] for r in readings)))

  def after(self, first: int, block: Block, found: Readings,
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
      got = Readings(*(values[row] for values in found))
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


def alike(a: Readings, b: Readings, tolerance: float) -> bool:
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


def _shown(one: Readings) -> str:
  return (f"class {int(one.closed)}, largest logit {one.max_logit:.6g}, probability of the true "
          f"class {one.probability:.3g}")
