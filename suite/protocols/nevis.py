# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22 (Bornschein et al., 2022): a chronological stream of tasks, each learned, then scored.

For each task of the stream, in order: `Train` delivers its training set, divided into train and
dev; `Predict` asks for a split that the learner never gets (Algorithm 1, section 4 of the paper):

  meta-training   predict_on="validation": the meta-train tasks only. A developer may repeat it to
                  choose nets, ranges of a search and the like by `mean_error_all`.
  meta-testing    predict_on="test": the whole stream, once. The score is the mean test error over
                  the *meta-test* tasks (2019-2021, the last 27 of 106) against the FLOPs of
                  learning all tasks, hyper-parameter search included, answers excluded.

A learner may store all data it was given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from suite.compute import ledger
from suite.contracts import deliveries
from suite.contracts import descriptions
from suite.contracts import learner as learner_lib
from suite.contracts import own_costs
from suite.contracts import planning
from suite.contracts import refusals
from suite.contracts import tasks
from suite.data.streams import stream_entry
from suite.data.streams import streams
from suite.metrics import matrix
from suite.metrics import schema
from suite.metrics import task_stream
from suite.protocols import few_answers
from suite.protocols import run_state
from suite.state import state_log
from suite.state import weight_store

DESCRIPTION = descriptions.ProtocolDescription(
    "nevis",
    measures=(
        descriptions.Measure("mean_error", "mean error", descriptions.LOWER),
        descriptions.Measure("forward_transfer", "forward transfer")),
    curve=descriptions.RecordCurve(
        "Task", "Error", schema.TASK_KEY, schema.ERROR, kind=deliveries.PREDICT),
    panels=(descriptions.TASKS,), identity=(), identity_of_tests=(schema.SPLIT, schema.TASK_KEY))


@refusals.checkable
@planning.plannable
@descriptions.describes(DESCRIPTION)
def run(
    learner: learner_lib.Learner,
    *,
    state: run_state.RunState | planning.PlannedRun,
    stream: streams.Stream,
    predict_on: stream_entry.HeldOut = streams.TEST,
    eval_batch_size: int = 256,
    test_answers: few_answers.Given = None,
) -> dict[str, Any]:
  """Runs the stream from `state.done` on; returns the summary (see `summarize`).

  Args:
    learner: learns separate tasks.
    state: of the run; a `PlannedRun` only counts what it will cost.
    stream: the tasks.
    predict_on: "test", or "validation" in development.
    eval_batch_size: of Predict events.
    test_answers: asks so many images of a test set that other runs have answered, and estimates its
      error, see `few_answers`; None: all images.
  """
  learner = refusals.check_learner(learner, deliveries.TASKS)
  if predict_on not in streams.HELD_OUT:
    raise ValueError(f"predict_on={predict_on!r}; allowed are 'validation', in development, and "
                     "'test', at the end.")
  stream = stream.meta_train() if predict_on == streams.VALIDATION else stream
  stream.check_transform(learner.transform)
  few = few_answers.parsed(test_answers)
  for entry in stream.entries:
    refusals.check_task(entry.task)
  if isinstance(state, planning.PlannedRun):
    return _plan(learner, state, stream, predict_on, eval_batch_size, few)
  weight_store.check_names([entry.task.key for entry in stream.entries])
  events = stream.events()
  if refusals.limits_kinds(learner):
    refusals.check_kinds(learner, [entry.task.kind for entry in stream.entries])
  state.resume(learner, begin=[_task(stream, e) for e in events[:max(state.done, 1)]],
               delivery=deliveries.TASKS)
  tests = few_answers.TestSets(few, state, schema.TASK_KEY)
  checked = state.done > 0
  for event in events[state.done:]:
    context, task = state.context(), _task(stream, event)
    state.begins(f"{event.kind} {task.key}", total=len(events))
    learner.begin(task, context)
    predictions = None
    if event.kind == deliveries.TRAIN:
      experience = stream.deliver(event)
      state.note_data(state_log.trained(task.key), experience.train)
      checked = checked or refusals.check_predict(learner, task, experience.train)
      record = {schema.TRAIN_SIZE: experience.train.size, schema.DEV_SIZE: experience.num_held_out,
                schema.SHARED_IMAGES: dict(stream.shared(event)), **_resized(stream, event),
                **own_costs.learning(learner)(experience, context)}
    else:
      images = stream.held_out(event, predict_on)
      checked = checked or refusals.check_predict(learner, task, images)
      record, predictions = tests.evaluate(
          task.key, learner, images, batch_size=eval_batch_size)
      record = {schema.SPLIT: predict_on, **_resized(stream, event), **record}
    state.commit({**_about(stream, event), **record}, predictions)
  return summarize(state.records, stream)


def _plan(learner: learner_lib.Learner, state: planning.PlannedRun, stream: streams.Stream,
          predict_on: str, eval_batch_size: int, few: few_answers.FewAnswers | None
          ) -> dict[str, Any]:
  """Plans the events of the stream, with sizes in place of images; data may be missing."""
  estimated: list[str] = []
  bytes_of: list[int | None] = [0]
  for entry in stream.entries:
    sizes = entry.sizes()
    planned = planning.PlannedTask(entry.task, sizes.train, sizes.dev)
    state.learn(learner, planned)
    size = sizes.of(predict_on)
    if few is not None and entry.task.kind == tasks.SINGLE_LABEL and few.knows_others:
      size = min(size, few.answers)
    state.predict(learner, planned, size, eval_batch_size)
    estimated += [] if sizes.measured else [entry.key]
    bytes_of.append(sizes.num_bytes)
  pairs = [None if a is None or b is None else a + b for a, b in zip(bytes_of, bytes_of[1:])]
  known = [pair for pair in pairs if pair is not None]  # Two tasks are in memory at a time.
  return dict(state.report(
      data_bytes=max(known) if len(known) == len(pairs) else None,
      stream=stream.name, num_tasks=len(stream.entries), estimated=estimated,
      left_out=list(stream.left_out),
      missing=[(m.dataset, m.reason, m.command) for m in stream.missing()]))


def _task(stream: streams.Stream, event: streams.StreamEvent) -> tasks.Task:
  return stream.entries[event.entry_index].task


def _resized(stream: streams.Stream, event: streams.StreamEvent) -> dict[str, Any]:
  """The resized copies that the task is read from, by split; nothing if images are as prepared."""
  found = stream.resized(event)
  return {schema.RESIZED_IMAGES: dict(found)} if found else {}


def _about(stream: streams.Stream, event: streams.StreamEvent) -> dict[str, Any]:
  """The part of a record that does not depend on the learner."""
  entry = stream.entries[event.entry_index]
  return {
      schema.PROTOCOL: DESCRIPTION.name, schema.KIND: event.kind, schema.TASK: entry.task.name,
      schema.TASK_KEY: entry.task.key, schema.OCCURRENCE: entry.task.occurrence,
      schema.YEAR: entry.year, schema.ROLE: entry.role, schema.TASK_KIND: entry.task.kind,
      schema.NUM_CLASSES: entry.task.num_classes, schema.DATASET: entry.dataset,
      schema.DATASET_VERSION: entry.version(), schema.LEFT_OUT: list(stream.left_out)}


def summarize(records: Sequence[Mapping[str, Any]], stream: streams.Stream) -> dict[str, Any]:
  """The result that a paper prints, from records alone.

  "mean_error" is the headline score. It is null while tasks of the stream are missing, if none of
  them is a meta-test task, or if they were predicted on validation; "headline" gives the reason.
  """
  tested = schema.of_tests(records)
  done = {r[schema.TASK_KEY] for r in tested}
  missing = [*(e.key for e in stream.entries if e.key not in done), *stream.left_out]
  problem = ""  # Why there is no mean over the meta-test tasks.
  if missing:
    problem = f"{len(missing)} tasks are missing: {', '.join(missing)}"
  elif stream.cut_off:
    problem = (f"the stream stops before {len(stream.cut_off)} meta-test tasks: "
               f"{', '.join(stream.cut_off)}; see mean_error_all")
  elif any(r[schema.SPLIT] != streams.TEST for r in tested):
    problem = "predicted on validation, for development: see mean_error_all"
  elif not any(r[schema.ROLE] == streams.META_TEST for r in tested):
    problem = "the stream has no meta-test task: see mean_error_all"
  errors, roles = [r[schema.ERROR] for r in tested], [r[schema.ROLE] for r in tested]
  transfer = task_stream.forward_transfer_by_task(records)
  last = records[-1] if records else {}
  estimates: dict[str, Any] = {}
  if any(schema.ESTIMATED in r for r in tested):
    chosen = [problem == "" and r[schema.ROLE] == streams.META_TEST for r in tested]
    low, high = np.array([r[schema.ERROR_INTERVAL] for r in tested]).T
    estimates = {**few_answers.summary(records), "intervals": {
        name: list(matrix.interval(np.mean, *(
            np.array([values])[:, of] for values in (np.array(errors), low, high))))
        for name, of in (("mean_error", chosen), ("mean_error_all", [True] * len(tested)))
        if any(of)}}
  return run_state.plain({
      "protocol": DESCRIPTION.name, "stream": stream.name, "num_events": len(records),
      "headline": f"no headline score, {problem}" if problem else "ok",
      "mean_error": None if problem else task_stream.mean_error(errors, roles),
      "mean_error_all": float(np.mean(errors)) if errors else None,
      "errors": {r[schema.TASK_KEY]: r[schema.ERROR] for r in tested},
      "forward_transfer": task_stream.mean_forward_transfer(transfer),
      "forward_transfer_by_task": transfer,
      "cflop": task_stream.cumulative_cost(last), **estimates,
      **ledger.costs(last), "left_out": list(stream.left_out)})
