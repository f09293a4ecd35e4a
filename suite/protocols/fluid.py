# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""FLUID (Wallingford et al., 2020): one sample at a time, from a sequence with old and new classes.

At step t of the sequence: sample x_t is delivered, the learner answers with one of the K classes
known so far or with "new", then the labels that are due are revealed (y_t, unless labels come late)
and the learner may learn from them one by one. After each label an update strategy may ask for an
offline phase on all that is stored. A class is known from pretraining (the base classes) or from
the step after which its label was first revealed. Both accuracy and compute are scored.

    answer    the known class with the largest logit, or "new" if the novelty score is below a
              threshold; correct if it is y_t, or "new" while the class of x_t is not known
    closed    the same without "new" (what the authors' code reports)

Steps run in blocks, for speed only: see `suite/training/sequence/sequence_steps.py`. The events of
a run are the base classes, then records of up to `record_every` steps, and an offline phase
wherever the strategy asks for one; a run resumes from these records.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
import time
from typing import Any

import numpy as np
import tensorflow as tf

from suite.compute import ledger
from suite.compute import mac_views
from suite.contracts import deliveries
from suite.contracts import descriptions
from suite.contracts import examples
from suite.contracts import learner as learner_lib
from suite.contracts import own_costs
from suite.contracts import refusals
from suite.contracts import rehearsal
from suite.contracts import tasks
from suite.data.images import class_lists
from suite.data.images import image_set
from suite.data.sequences import sequences
from suite.metrics import schema
from suite.metrics import sequence_accuracy
from suite.metrics import sequence_log
from suite.protocols import run_state
from suite.state import state_log
from suite.training.sequence import sequence_decisions
from suite.training.sequence import sequence_steps
from suite.training.sequence import update_strategies

_META = ("meta_classes", "meta_updates", "meta_loss")
_NEVER = update_strategies.Never()
DESCRIPTION = descriptions.ProtocolDescription(
    "fluid",
    measures=(
        descriptions.Measure("overall", "overall"),
        descriptions.Measure("mean_per_class", "mean per class"),
        descriptions.Measure("novel_head", "novel, head"),
        descriptions.Measure("pretrain_head", "pretrain, head"),
        descriptions.Measure("novel_tail", "novel, tail"),
        descriptions.Measure("pretrain_tail", "pretrain, tail"),
        descriptions.Measure("new_class_auroc", "new-class AUROC")),
    curve=descriptions.RecordCurve(
        "Samples", "Accuracy so far", schema.SEEN_SO_FAR, schema.CORRECT_SO_FAR,
        per=schema.SEEN_SO_FAR),
    panels=(descriptions.STEPS,),
    identity=(schema.TASK, schema.NUM_CLASSES, schema.TRAIN_SIZE, schema.VALIDATION_SIZE))


@dataclasses.dataclass(frozen=True)
class Blocks:
  """How many steps go together, which changes the speed.

  Attributes:
    record_every: greatest number of steps in one record.
    block_size: steps tried in one compiled call; None: by device, see `steps_on`.
    encode_batch: samples encoded at once; None: by device, see `batch_on`.
  """

  record_every: int = 500
  block_size: int | None = 500
  encode_batch: int | None = 128

  def __post_init__(self) -> None:
    if any(value is not None and value < 1
           for value in (self.record_every, self.block_size, self.encode_batch)):
      raise ValueError(
          f"record_every={self.record_every}, encode_batch={self.encode_batch} and block_size="
          f"{self.block_size}; a record and a block have at least one step each, and a batch one "
          "sample. None is allowed for the last two: by device.")

  def batch_on(self, device: str) -> int:
    """Samples encoded at once on a device, such as "/job:localhost/.../device:GPU:0"."""
    return self.encode_batch or (256 if "GPU" in device else 32)

  def steps_on(self, device: str, code_shape: tuple[int, ...]) -> int:
    """Steps tried in one call on a device, with codes of this shape.

    A block of features, (D,), is small. A block of images, or of their numbers, passes a whole net
    at once, whose activations are gigabytes for 500 images of 224 pixels.
    """
    if len(code_shape) == 1:
      return self.block_size or 500
    return self.block_size or (256 if "GPU" in device else 64)


@dataclasses.dataclass(frozen=True)
class Scores:
  """How a sequence is scored.

  Attributes:
    head_above, head_is: classes with > (or >=) `head_above` samples in the sequence are head.
    window, matched_window: steps; see `sequence_log.summary`.
    nearest: k of the novelty score "nearest" (see `sequence_log`), for learners whose codes are
      features; an analysis, which decides nothing and is not charged. None: no such score.
  """

  head_above: int = 50
  head_is: sequence_accuracy.Comparison = ">"
  window: int = 500
  matched_window: int | None = None
  nearest: int | None = None

  def __post_init__(self) -> None:
    if self.matched_window is not None and self.matched_window < 1:
      raise ValueError(f"matched_window={self.matched_window}; a window has at least 1 step. None "
                       "is n / 180 of n steps.")


_NOVELTY, _BLOCKS, _SCORES = sequence_log.Novelty(), Blocks(), Scores()


@refusals.checkable
@descriptions.describes(DESCRIPTION)
def run(
    learner: learner_lib.SequenceLearner,
    *,
    state: run_state.RunState,
    sequence: sequences.Sequence,
    base: examples.ExampleSet | None = None,
    base_is_known: bool = False,
    update: update_strategies.Strategy = _NEVER,
    validation_share: float = 0.1,
    label_delay: int | tuple[int, int] = 0,
    novelty: sequence_log.Novelty = _NOVELTY,
    blocks: Blocks = _BLOCKS,
    scores: Scores = _SCORES,
) -> dict[str, Any]:
  """Runs the sequence from `state.done` on; returns the summary (see `summarize`).

  Args:
    base: training images of the base classes, learned before the first step and charged to
      "pretrain"; without them no class is known at first, and all are novel.
    base_is_known: without `base`, whether the base classes are known all the same, from the
      learner's own first weights; a class that it has no answer for is not answered.
    update: when to train on the stored samples, for learners with offline phases.
    validation_share: share of each class of `base` that is delivered as its validation split.
    label_delay: steps between an answer and its label, or (least, most) of a random delay.
    novelty: a sample whose score is below its threshold is answered with "new". Where logits are
      minus squared distances, the threshold is -d^2, with d the least distance of a new class.
      None: the learner's own (of "max_logit"); without one, "new" only while no class is known.
    blocks, scores: see there.
  """
  state.metrics.refuse_logits(DESCRIPTION.name)
  refusals.check_one_process(
      state.distribution, DESCRIPTION.name, "each sample follows from the one before")
  learner = refusals.check_learner(
      learner, deliveries.SEQUENCE, also=() if base is None else ("learn",))
  _check(learner, base, base_is_known, novelty)
  base = _checked_base(sequence, base)
  if label_delay:
    sequence = sequence.delayed(
        sequences.delays(len(sequence), label_delay, state.seeds.pair("label delay")))
  decisions = sequence_decisions.SequenceDecisions(update, learner, sequence)
  task = tasks.Task("sequence", tasks.SINGLE_LABEL, sequence.num_classes)
  refusals.check_task(task)
  state.resume(learner, begin=[task], delivery=deliveries.SEQUENCE)
  now = _left_out(sequence)
  before = state.records[0].get(schema.LEFT_OUT_SAMPLES, {}) if state.records else now
  if before != now:
    raise ValueError(
        f"This run began with {sum(map(len, before.values()))} samples left out, whose images were "
        f"missing; now there are {sum(map(len, sequence.left_out.values()))}, or others. Put the "
        "images back as they were, or give another --workdir.")
  num_known = sequence.num_base_classes if base is not None or base_is_known else 0
  known = np.arange(sequence.num_classes) < num_known  # Before the first step.
  if (base is not None or base_is_known) and not state.done:
    _begin_with_base(learner, state, sequence, task, known, base, validation_share)
  device = state.distribution.devices[0]
  events = _SequenceRun(
      learner, state, sequence, task, decisions, known, blocks.batch_on(device))
  block_size = blocks.steps_on(device, events.steps.codes[0:1].shape[1:])
  while (is_due := events.update_is_due()) or events.steps.num_answered < len(sequence):
    if is_due:
      events.learn_stored()
    else:
      events.predict(blocks.record_every, block_size, novelty, scores)
  state.known_classes = events.steps.known
  if update.reads_answers:
    rehearsal.note("the update strategy reads answers, which are not known before: "
                   f"{len(schema.of_phases(state.records))} offline phases are "
                   f"planned, and a run has between none and one a step ({len(sequence):,})")
  return summarize(
      state.records, sequence, known, threshold=scores.head_above, head_is=scores.head_is,
      window=scores.window, matched_window=scores.matched_window, novelty_score=novelty.score)


def _check(learner: learner_lib.SequenceLearner, base: examples.ExampleSet | None,
           base_is_known: bool, novelty: sequence_log.Novelty) -> None:
  """Refuses two sources of base classes, and a threshold of another score."""
  if base is not None and base_is_known:
    raise ValueError("base_is_known is for a run without base, which makes these classes known. "
                     "Give one of the two.")
  if (learner.new_below is not None and novelty.new_below is None
      and novelty.score != sequence_log.MAX_LOGIT):
    raise ValueError(
        f"{type(learner).__name__}.new_below is a threshold of {sequence_log.MAX_LOGIT!r}, and "
        f"novelty.score is {novelty.score!r}, which has another scale. Give "
        "sequence_log.Novelty a new_below of that score, or leave the score out.")


def _checked_base(sequence: sequences.Sequence, base: examples.ExampleSet | None
                  ) -> examples.ExampleSet | None:
  """The base classes' images with the labels of the sequence; by name, where both have names."""
  if base is None:
    return None
  names, own = sequence.class_names, class_lists.of(base)
  if not sequence.num_base_classes:
    raise ValueError(f"{base.name!r} is given as base classes, but the sequence has none. Leave "
                     "base out, or take a sequence with base classes.")
  if (names is None) != (own is None):
    which = "sequence" if names else "base"
    raise ValueError(
        f"Of the sequence and its base {base.name!r} only the {which} has names of classes: "
        f"{class_lists.shown(names or own or ())}. Give the other names, too: "
        "images.with_class_names([...]).")
  if names is not None and own != names:
    new = class_lists.places(base.name, own, names)
    if new.max() >= sequence.num_base_classes:
      raise ValueError(
          f"The base {base.name!r} has the classes {class_lists.shown(own or ())}, but the base "
          "classes of the sequence are its first ones, "
          f"{class_lists.shown(names[:sequence.num_base_classes])}. Make the sequence by "
          "sequences.of(images, base=...), which puts the classes of base first.")
    base = base.with_classes(names)
  if base.num_classes != sequence.num_classes or base.labels.max() >= sequence.num_base_classes:
    raise ValueError(
        f"{base.name!r} has {base.num_classes} classes and labels up to {base.labels.max()}; the "
        f"sequence has {sequence.num_classes}, of which the first {sequence.num_base_classes} are "
        "base classes. Give images of those alone, with the sequence's own labels.")
  return base


def _begin_with_base(learner: learner_lib.SequenceLearner, state: run_state.RunState,
                     sequence: sequences.Sequence, task: tasks.Task, known: np.ndarray,
                     base: examples.ExampleSet | None, validation_share: float) -> None:
  """The first event: the base classes are learned, or, without `base`, come with the learner."""
  context = state.context(phase="pretrain")
  state.begins("base classes", done=0, total=0 if base is None else len(sequence), unit="sample")
  learner.begin(task, context)
  if base is None:
    record = {schema.TRAIN_SIZE: 0, schema.VALIDATION_SIZE: 0,
              **own_costs.learning(learner, "know_base")(known, context)}
  else:
    def answer(images: tf.Tensor) -> tf.Tensor:
      return learner.answer(learner.encode(learner.transform.evaluate(images)))

    split = image_set.stratified_split(
        base, validation_share, seed=state.seeds.integer("validation"))
    refusals.check_width(
        learner, task, answer, tf.TensorSpec.from_tensor(tf.constant(sequence.images(0, 1))))
    state.note_data(state_log.trained(task.key), base)
    delivered = deliveries.Experience(task, *split, deliveries.History())
    record = {schema.TRAIN_SIZE: delivered.train.size,
              schema.VALIDATION_SIZE: delivered.num_held_out,
              **own_costs.learning(learner)(delivered, context)}
  state.commit({**_about(task, sequence, state), schema.KIND: deliveries.TRAIN, **record})


def _about(task: tasks.Task, sequence: sequences.Sequence, state: run_state.RunState
           ) -> dict[str, Any]:
  """The part of each record that is the same; the first one names the samples left out."""
  about = {schema.PROTOCOL: DESCRIPTION.name, schema.TASK: task.name, schema.TASK_KEY: task.key,
           schema.NUM_CLASSES: task.num_classes}
  if sequence.left_out:
    about[schema.LEFT_OUT] = sum(map(len, sequence.left_out.values()))
    if not state.records:
      about[schema.LEFT_OUT_SAMPLES] = _left_out(sequence)
  return about


def _left_out(sequence: sequences.Sequence) -> dict[str, list[str]]:
  return {name: list(samples) for name, samples in sequence.left_out.items()}


class _SequenceRun:
  """A run after its base classes; each method is one event. It resumes from records."""

  def __init__(self, learner: learner_lib.SequenceLearner, state: run_state.RunState,
               sequence: sequences.Sequence, task: tasks.Task,
               decisions: sequence_decisions.SequenceDecisions, known: np.ndarray,
               encode_batch: int):
    self._learner, self._state, self._sequence, self._task = learner, state, sequence, task
    self._learner.begin(task, state.context())
    self._decisions = decisions
    log = sequence_log.from_records(state.records)
    num_answered = len(log.labels)
    self._correct = log.correct(task.num_classes)  # Of the last steps; see `predict`.
    self.steps = sequence_steps.SequenceSteps(learner, sequence, known, num_answered, encode_batch)
    self._decisions.resume(state.records[-1][schema.STRATEGY] if num_answered else None,
                           self._correct, self.steps.known)

  def update_is_due(self) -> bool:
    """Whether the last step ended with a decision to update."""
    return bool(self._state.records) and self._state.records[-1].get(schema.UPDATE, False)

  def learn_stored(self) -> None:
    """An offline phase."""
    state = self._state
    phases, before = schema.of_phases(state.records), state.ledger.totals()
    # Its draws depend on the number of the phase, not of the event, and so not on `record_every`.
    context = dataclasses.replace(
        state.context(), seeds=state.seeds.child("offline phase", len(phases) + 1))
    self._learner.begin(self._task, context)
    stored = self.steps.stored(phases[-1]["stored"] if phases else 0)
    state.begins(f"offline phase {len(phases) + 1}, on {len(stored.labels):,} samples",
                 done=self.steps.num_answered, total=len(self._sequence), unit="sample")
    record = {schema.PHASE: len(phases) + 1, schema.STEP: self.steps.num_answered,
              schema.STORED: len(stored.labels), schema.REASON: state.records[-1][schema.REASON],
              **own_costs.learning(self._learner, "learn_stored")(stored, context)}
    self._decisions.updated(self.steps.num_revealed)
    state.commit({
        **_about(self._task, self._sequence, state), schema.KIND: deliveries.TRAIN, **record,
        **{f"event_{name}": None if None in (spent, before[name]) else spent - before[name]
           for name, spent in state.ledger.totals().items() if name in ("flops", "macs")},
        **self._progress([*phases, record])})

  def predict(self, record_every: int, block_size: int, novelty: sequence_log.Novelty,
              scores: Scores) -> None:
    """Steps up to the next update, or to the end of the record; a block at once."""
    state, first = self._state, self.steps.num_answered
    self._learner.begin(self._task, state.context())
    novelty = novelty.with_own(self._learner.new_below)
    state.begins(f"samples from {first:,} on", done=first, total=len(self._sequence),
                 unit="sample")
    self._decisions.begin_event(state.ledger.totals()["macs"])
    end = min(first + record_every, len(self._sequence))
    log, probabilities = sequence_log.empty(), []
    outcomes: list[sequence_decisions.BlockOutcome] = []
    while self.steps.num_answered < end and not (outcomes and outcomes[-1].is_update):
      part, chances, outcome = self._block(
          min(end, self.steps.num_answered + block_size), novelty, scores.nearest)
      log = log.merge(part)
      probabilities.append(chances)
      outcomes.append(outcome)
    num_classes = self._task.num_classes
    if not first:
      state.keep_samples(self._task.key, self._sequence, self.steps.num_answered)
    self._correct = np.concatenate([self._correct, log.correct(num_classes)])[-scores.window:]
    state.commit({
        **_about(self._task, self._sequence, state), schema.KIND: deliveries.PREDICT,
        schema.FIRST_STEP: first,
        **log.record(num_classes, state.records),
        schema.WINDOW_ACCURACY: float(np.mean(self._correct)),
        schema.REVEALED_SO_FAR: self.steps.num_revealed,
        **self._decisions.record(outcomes, self.steps.num_revealed),
        **self._progress(schema.of_phases(state.records))},
        {"ids": self._sequence.ids[first:self.steps.num_answered],
         **log.predictions(num_classes, np.concatenate(probabilities))},
        is_short=not outcomes[-1].is_update)

  def _block(self, limit: int, novelty: sequence_log.Novelty, nearest: int | None
             ) -> tuple[sequence_log.SequenceLog, np.ndarray, sequence_decisions.BlockOutcome]:
    """Tries the steps before `limit` and commits those before an update.

    Returns:
      their log, the probabilities of their true classes [B], and the decision.
    """
    began, steps, num_classes = time.monotonic(), self.steps, self._task.num_classes
    block = steps.answer(steps.within(self._state.ledger, self._decisions.stop(steps, limit)))
    read = block.readings
    log = novelty.log(block.labels, block.unknown, read.closed, read.max_logit, read.energy,
                      num_classes=num_classes, second_logits=read.second,
                      neighbors=steps.neighbors(nearest))
    outcome, before = self._decisions.decide(steps, log.correct(num_classes)), steps.num_revealed
    block.check(outcome.num_steps, type(self._learner).__name__)
    steps.accept(steps.num_answered + outcome.num_steps)
    steps.charge(self._state.ledger, outcome.num_steps, steps.num_revealed - before,
                 time.monotonic() - began)
    return log.first(outcome.num_steps), read.probability[:outcome.num_steps], outcome

  def _progress(self, phases: Sequence[schema.Record]) -> dict[str, Any]:
    """The part of a record that describes the run so far, to resume from and to compare.

    MACs of the steps and phases so far are given in every view, if the learner has layers.
    """
    layers = self._learner.mac_layers()
    return {schema.STRATEGY: self._decisions.state(), **({} if layers is None else mac_views.views(
        *layers, num_samples=self.steps.num_answered,
        num_passes=sum(p[schema.PASSES] for p in phases),
        teacher_passes=sum(p.get(schema.TEACHER_PASSES, 0) for p in phases)))}


def summarize(records: Sequence[schema.Record], sequence: sequences.Sequence,
              known: np.ndarray, **settings: Any) -> dict[str, Any]:
  """The scores that a paper prints, from records alone; settings as of `sequence_log.summary`.

  "flops" and "macs" are totals of the whole run. Phases "predict" and "train" are the cost of the
  steps, all other phases the cost of the base classes. "macs_exact_cached" and the like leave the
  base classes out.
  """
  log = sequence_log.from_records(records)
  phases = schema.of_phases(records)
  passes: ledger.Number = 0
  for phase in phases:
    passes = ledger.add(passes, phase[schema.PASSES])
  summary = {
      "protocol": DESCRIPTION.name, "stream": f"{len(sequence)} samples",
      "num_events": len(records),
      **({"class_names": list(sequence.class_names)} if sequence.class_names else {}),
      **({"left_out": records[0][schema.LEFT_OUT], "left_out_by_class": {
          name: len(samples) for name, samples in records[0][schema.LEFT_OUT_SAMPLES].items()}}
         if schema.LEFT_OUT in records[0] else {}),
      **sequence_log.summary(log, np.flatnonzero(known), sequence.num_classes,
                           segments=sequence.segments, **settings),
      "updates": len(phases), "update_steps": [p[schema.STEP] for p in phases],
      "passes": passes,
      **{name: records[0][name] for name in _META if name in records[0]},
      **ledger.costs(records[-1])}
  return run_state.plain(summary)
