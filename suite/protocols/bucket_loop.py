# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The loop over buckets, which the protocols `clear` and `incremental` share.

For each bucket in turn `Train` delivers its training images, and `Predict` asks for test images of
buckets. A protocol says in a `Series` which events there are, which facts and scores their records
have, and which classes may be answered.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence

import numpy as np

from suite.compute import seeds as seeds_lib
from suite.contracts import deliveries
from suite.contracts import examples
from suite.contracts import learner as learner_lib
from suite.contracts import own_costs
from suite.contracts import refusals
from suite.contracts import tasks as tasks_lib
from suite.data.images import feature_set
from suite.data.images import image_set
from suite.data.streams import buckets as buckets_lib
from suite.metrics import matrix
from suite.protocols import few_answers
from suite.protocols import run_state
from suite.training.scoring import evaluation
from suite.training.scoring import scoring

_IMAGES_AT_ONCE, _FEATURES_AT_ONCE = 256, 4096


class BucketEvent(NamedTuple):
  """Train on bucket `trained` (`tested` is None), or predict bucket `tested` after it."""

  trained: int
  tested: Optional[int] = None

  @property
  def kind(self) -> str:
    """One of `deliveries.TRAIN` and `deliveries.PREDICT`."""
    return deliveries.TRAIN if self.tested is None else deliveries.PREDICT

  @property
  def bucket(self) -> int:
    """The bucket that is trained on or predicted."""
    return self.trained if self.tested is None else self.tested


@dataclasses.dataclass(frozen=True)
class Series:
  """T buckets as a protocol delivers them.

  Attributes:
    buckets: T of them.
    tasks: the task as a learner knows it from `Train` on bucket i on, for each i.
    events: all of them, in order.
    about: the facts of an event that do not depend on the learner, for its record.
    scores: (event, accuracy, accuracies [T, T] of the events before, predictions) to scores for the
      record of a Predict event.
    allowed: the classes that may be answered in a Predict event, bool [C] of the task's; None: all.
    new_classes: the classes that bucket i is about, int [K]; None: all.
  """

  buckets: Sequence[buckets_lib.Bucket]
  tasks: Sequence[tasks_lib.Task]
  events: Sequence[BucketEvent]
  about: Callable[[BucketEvent], Dict[str, Any]]
  scores: Callable[[BucketEvent, float, np.ndarray, Mapping[str, Any]], Dict[str, Any]]
  allowed: Callable[[BucketEvent], Optional[np.ndarray]] = lambda event: None
  new_classes: Callable[[int], Optional[Sequence[int]]] = lambda bucket: None


def run(learner: learner_lib.Learner, series: Series, *, state: run_state.RunState,
        validation_share: float, eval_batch_size: Optional[int],
        few: Optional[few_answers.FewAnswers] = None) -> None:
  """Runs the events of the series from `state.done` on.

  Args:
    learner: checked by `refusals.check_learner`.
    validation_share: share of each bucket's training images that is delivered as its validation
      split.
    eval_batch_size: examples predicted at once; None: 256 images, or a whole test set of features
      up to 4096.
    few: how test sets are asked in part; None: they are asked in full.
  """
  buckets, events = series.buckets, series.events
  if eval_batch_size is None:  # One for all test sets, so that they share a graph.
    is_features = all(isinstance(bucket.test, feature_set.FeatureSet) for bucket in buckets)
    largest = max(bucket.test.size for bucket in buckets)
    eval_batch_size = min(_FEATURES_AT_ONCE, largest) if is_features else _IMAGES_AT_ONCE
  checked, forward = state.done > 0, None
  begun = series.tasks[events[max(state.done - 1, 0)].trained]
  state.resume(learner, begin=[begun], delivery=deliveries.BUCKETS)
  asking = None if few is None else few_answers.Asking(few, state, "bucket_name")
  for event in events[state.done:]:
    context, predictions = state.context(), None
    task, trained = series.tasks[event.trained], buckets[event.trained].name
    state.begins(f"train on {trained}" if event.tested is None else
                 f"predict {buckets[event.tested].name} after it has learned {trained}",
                 total=len(events))
    learner.begin(task, context)
    if event.tested is None:
      delivered = _deliver(series, event.trained, validation_share, state.seeds)
      checked = checked or refusals.check_predict(learner, task, delivered.train)
      unlabelled = delivered.unlabelled
      record = {"train_size": delivered.train.size, "validation_size": delivered.num_held_out,
                **({} if unlabelled is None else {"unlabelled_size": unlabelled.size}),
                **own_costs.learned(learner, delivered, context)}
      if not learner.predict_stays:
        forward = None
    else:
      checked = checked or refusals.check_predict(learner, task, buckets[0].test)
      # One for all buckets of a row at least: compiling takes longer than thousands of features.
      forward = forward or scoring.Forward(learner.predict, state.distribution)
      tested = buckets[event.tested]
      evaluate = (evaluation.evaluate if asking is None else
                  functools.partial(asking.evaluate, tested.name))
      record, predictions = evaluate(
          learner.predict, tested.test, transform=learner.transform, ledger=state.ledger,
          distribution=state.distribution, batch_size=eval_batch_size, forward=forward,
          metrics=state.metrics, allowed=series.allowed(event))
      state.keep_samples(tested.name, tested.test)
      accuracy = (1.0 - record["error"] if record.get("estimated") else
                  record["correct"] / record["seen"])
      record.update(series.scores(event, accuracy, accuracies(state.records, len(buckets)),
                                  predictions))
    state.commit({**series.about(event), **record}, predictions)


def _deliver(series: Series, i: int, share: float, seeds: seeds_lib.Seeds
             ) -> deliveries.Experience:
  """The training images of bucket i, split for validation in the same way for every learner.

  Every learner fits all of them: those of the validation split, too, when it has chosen with it.
  """
  whole = series.buckets[i].train
  train, validation = whole.split(share, seed=seeds.integer("validation", i)) if share else (
      whole, None)
  return deliveries.Experience(series.tasks[i], train, validation, deliveries.History(),
                               series.buckets[i].unlabelled, series.new_classes(i))


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
          ) -> Dict[str, Any]:
  """The part of a record that all protocols of buckets share; buckets count from 0."""
  return {"kind": event.kind, "task": task.name, "task_key": task.key,
          "num_classes": task.num_classes, "trained_bucket": event.trained, "bucket": event.bucket,
          "bucket_name": buckets[event.bucket].name}


def accuracies(records: Sequence[Mapping[str, Any]], num_buckets: int, value: str = "accuracy"
               ) -> np.ndarray:
  """The matrix [T, T] of a value of the records so far; NaN where there is none."""
  acc = np.full([num_buckets, num_buckets], np.nan)
  for record in records:
    if record["kind"] == deliveries.PREDICT and record.get(value) is not None:
      acc[record["trained_bucket"], record["bucket"]] = record[value]
  return acc


def estimates(records: Sequence[Mapping[str, Any]], acc: np.ndarray,
              scores: Mapping[str, Callable[[np.ndarray], float]]) -> Dict[str, Any]:
  """What a summary says of test sets that were asked in part; {} of a run that asks all.

  Args:
    records: of the run.
    acc: the matrix [T, T].
    scores: functions of the matrix, by their names in the summary.
  """
  if not any("estimated" in record for record in records):
    return {}
  bounds = np.stack([acc, acc])
  for record in records:
    if record["kind"] == deliveries.PREDICT and record["estimated"]:
      low, high = record["error_interval"]
      bounds[:, record["trained_bucket"], record["bucket"]] = 1.0 - high, 1.0 - low
  found = {name: matrix.interval(score, acc, *bounds) for name, score in scores.items()}
  return {**few_answers.summary(records), "intervals": {
      name: list(one) for name, one in found.items() if not np.isnan(one).any()},
          "matrix_low": rows(bounds[0]), "matrix_high": rows(bounds[1])}


def without_nan(scores: Mapping[str, float]) -> Dict[str, Optional[float]]:
  """Scores as a summary has them: null where the protocol does not evaluate."""
  return {name: None if np.isnan(score) else score for name, score in scores.items()}


def rows(acc: np.ndarray) -> List[List[Optional[float]]]:
  """A matrix as a summary has it."""
  return [[None if np.isnan(a) else a for a in row] for row in acc.tolist()]
