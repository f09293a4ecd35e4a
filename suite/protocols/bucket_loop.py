# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The loop over buckets, which the protocols `clear` and `incremental` share.

For each bucket in turn `Train` delivers its training images, and `Predict` asks for test images of
buckets. A protocol plans the events, and its loop says what is learned, predicted, scored and
written in each:

    run = bucket_loop.BucketRun(learner, state, buckets, tasks, ...)
    for event in run.events(plan):
      ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from suite.contracts import deliveries
from suite.contracts import examples
from suite.contracts import learner as learner_lib
from suite.contracts import refusals
from suite.contracts import tasks as tasks_lib
from suite.data.images import feature_set
from suite.data.images import image_set
from suite.data.streams import buckets as buckets_lib
from suite.metrics import matrix
from suite.metrics import schema
from suite.protocols import few_answers
from suite.protocols import run_state
from suite.state import state_log
from suite.training.scoring import evaluation
from suite.training.scoring import scoring

_IMAGES_AT_ONCE, _FEATURES_AT_ONCE = 256, 4096


class BucketEvent(NamedTuple):
  """Train on bucket `trained` (`tested` is None), or predict bucket `tested` after it."""

  trained: int
  tested: int | None = None

  @property
  def kind(self) -> str:
    """One of `deliveries.TRAIN` and `deliveries.PREDICT`."""
    return deliveries.TRAIN if self.tested is None else deliveries.PREDICT

  @property
  def bucket(self) -> int:
    """The bucket that is trained on or predicted."""
    return self.trained if self.tested is None else self.tested


class BucketRun:
  """A learner's run over T buckets: what happens in the events of a protocol's loop.

  Args:
    learner: checked by `refusals.check_learner`.
    state: of the run.
    buckets: T of them.
    tasks: the task as the learner knows it from `Train` on bucket i on, for each i.
    validation_share: share of each bucket's training images that is delivered as its validation
      split.
    eval_batch_size: examples predicted at once; None: 256 images, or a whole test set of features
      up to 4096.
    few: how test sets are asked in part; None: they are asked in full.
  """

  def __init__(self, learner: learner_lib.Learner, state: run_state.RunState,
               buckets: Sequence[buckets_lib.Bucket], tasks: Sequence[tasks_lib.Task], *,
               validation_share: float, eval_batch_size: int | None,
               few: few_answers.FewAnswers | None):
    self._learner, self._state, self._buckets, self._tasks = learner, state, buckets, tasks
    self._share, self._few = validation_share, few
    if eval_batch_size is None:  # One for all test sets, so that they share a graph.
      is_features = all(isinstance(bucket.test, feature_set.FeatureSet) for bucket in buckets)
      largest = max(bucket.test.size for bucket in buckets)
      eval_batch_size = min(_FEATURES_AT_ONCE, largest) if is_features else _IMAGES_AT_ONCE
    self._batch_size = eval_batch_size
    self._forward: scoring.Forward | None = None

  def events(self, plan: Sequence[BucketEvent]) -> Iterator[BucketEvent]:
    """Yields the events of a plan from `state.done` on; the learner has begun the task of each."""
    state, learner, is_checked = self._state, self._learner, self._state.done > 0
    state.resume(learner, begin=[self._tasks[plan[max(state.done - 1, 0)].trained]],
                 delivery=deliveries.BUCKETS)
    self._tests = few_answers.TestSets(self._few, state, schema.BUCKET_NAME)
    for event in plan[state.done:]:
      trained, task = self._buckets[event.trained], self._tasks[event.trained]
      state.begins(
          f"train on {trained.name}" if event.tested is None else
          f"predict {self._buckets[event.tested].name} after it has learned {trained.name}",
          total=len(plan))
      self.context = state.context()
      learner.begin(task, self.context)
      is_checked = is_checked or refusals.check_predict(learner, task, trained.train)
      yield event

  def delivered(self, event: BucketEvent, new_classes: Sequence[int] | None = None
                ) -> tuple[deliveries.Experience, dict[str, Any]]:
    """The training images of a bucket for the learner, and values for the record.

    They are split for validation in the same way for every learner. Every learner fits all of them:
    those of the validation split, too, when it has chosen with it.

    Args:
      event: a Train event.
      new_classes: the classes that the bucket is about, int [K]; None: all.
    """
    bucket = self._buckets[event.trained]
    self._state.note_data(state_log.trained(bucket.name), bucket.train)
    train, validation = bucket.train.split(
        self._share, seed=self._state.seeds.integer("validation", event.trained)
    ) if self._share else (bucket.train, None)
    found = deliveries.Experience(self._tasks[event.trained], train, validation,
                                  deliveries.History(), bucket.unlabelled, new_classes)
    if not self._learner.predict_stays:
      self._forward = None
    return found, {schema.TRAIN_SIZE: train.size, schema.VALIDATION_SIZE: found.num_held_out,
                   **({} if bucket.unlabelled is None else {
                       schema.UNLABELLED_SIZE: bucket.unlabelled.size})}

  def predict(self, event: BucketEvent, allowed: np.ndarray | None = None
              ) -> evaluation.Evaluation:
    """Asks the learner for the test images of a bucket; returns values for the record, predictions.

    Args:
      event: a Predict event.
      allowed: the classes that may be answered, bool [C] of the learner's task; None: all.
    """
    # One for all buckets of a row at least: compiling takes longer than thousands of features.
    self._forward = self._forward or scoring.Forward(
        self._learner.predict, self._state.distribution)
    bucket = self._buckets[event.bucket]
    found = self._tests.evaluate(bucket.name, self._learner, bucket.test, forward=self._forward,
                                 batch_size=self._batch_size, allowed=allowed)
    record = found.record
    record[schema.ACCURACY] = (1.0 - record[schema.ERROR] if record.get(schema.ESTIMATED) else
                               record[schema.CORRECT] / record[schema.SEEN])
    return found


def check_sizes(learner: learner_lib.Learner, buckets: Sequence[buckets_lib.Bucket],
                validation_share: float, argument: str) -> None:
  """Refuses buckets that are too small to be divided, which would end a run when they come.

  Args:
    learner: one that chooses needs a validation split.
    buckets: those that are trained on.
    argument: the name of `validation_share`, for messages.
  """
  if not validation_share:
    if learner.chooses:
      raise refusals.RefusedError(
          f"{type(learner).__name__} chooses on a validation split, and {argument} is 0. Give a "
          "share above 0; it fits these images, too.")
    return
  small = [bucket for bucket in buckets
           if not 0 < round(validation_share * bucket.train.size) < bucket.train.size]
  if small:
    others = f"; so is {', '.join(one.name for one in small[1:])}" if small[1:] else ""
    raise ValueError(
        f"A share of {validation_share} of the {small[0].train.size} images of "
        f"{small[0].train.name!r} is kept for validation, which leaves one side empty: bucket "
        f"{small[0].name} is too small{others}. Join it with a neighboring bucket, leave it out, or"
        f" choose another {argument}.")


def check_transforms(buckets: Sequence[buckets_lib.Bucket], transform: examples.Transform) -> None:
  """Refuses a transform of other examples than those of the buckets."""
  for part in (part for bucket in buckets for part in (bucket.train, bucket.test)):
    if isinstance(part, image_set.ImageSet):
      part.check_transform(transform)


def about(event: BucketEvent, buckets: Sequence[buckets_lib.Bucket], task: tasks_lib.Task
          ) -> dict[str, Any]:
  """The part of a record that all protocols of buckets share; buckets count from 0."""
  return {schema.KIND: event.kind, schema.TASK: task.name, schema.TASK_KEY: task.key,
          schema.NUM_CLASSES: task.num_classes, schema.TRAINED_BUCKET: event.trained,
          schema.BUCKET: event.bucket, schema.BUCKET_NAME: buckets[event.bucket].name}


def accuracies(records: Sequence[Mapping[str, Any]], num_buckets: int, value: str = schema.ACCURACY
               ) -> np.ndarray:
  """The matrix [T, T] of a value of the records so far; NaN where there is none."""
  acc = np.full([num_buckets, num_buckets], np.nan)
  for record in schema.of_tests(records):
    if record.get(value) is not None:
      acc[record[schema.TRAINED_BUCKET], record[schema.BUCKET]] = record[value]
  return acc


def estimates(records: Sequence[Mapping[str, Any]], acc: np.ndarray,
              scores: Mapping[str, Callable[[np.ndarray], float]]) -> dict[str, Any]:
  """What a summary says of test sets that were asked in part; {} of a run that asks all.

  Args:
    records: of the run.
    acc: the matrix [T, T].
    scores: functions of the matrix, by their names in the summary.
  """
  if not any(schema.ESTIMATED in record for record in records):
    return {}
  bounds = np.stack([acc, acc])
  for record in schema.of_tests(records):
    if record[schema.ESTIMATED]:
      low, high = record[schema.ERROR_INTERVAL]
      bounds[:, record[schema.TRAINED_BUCKET], record[schema.BUCKET]] = 1.0 - high, 1.0 - low
  found = {name: matrix.interval(score, acc, *bounds) for name, score in scores.items()}
  return {**few_answers.summary(records), "intervals": {
      name: list(one) for name, one in found.items() if not np.isnan(one).any()},
          "matrix_low": bounds[0].tolist(), "matrix_high": bounds[1].tolist()}
