# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""CLEAR (Lin et al., 2021): one task whose images drift in time, delivered bucket by bucket.

For each bucket i, in order: `Train` delivers its training images, then `Predict` asks for bucket
j's test images, for every j (iid mode) or for later ones only (streaming mode: today's model meets
tomorrow's data). The score is the matrix R[i, j], the accuracy on bucket j after training on bucket
i, and the means over its parts that `suite.metrics.matrix` defines.

In streaming mode nothing that was trained on is tested, so `train` and `test` of a bucket may both
be all of it, as in the paper. What a learner wants to keep of past buckets it has to keep itself:
none is delivered twice.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence

from absl import logging
import numpy as np

from suite.compute import ledger as ledger_lib
from suite.compute import seeds as seeds_lib
from suite.contracts import experience
from suite.contracts import learner as learner_lib
from suite.data.images import feature_set
from suite.data.streams import buckets as buckets_lib
from suite.data.streams import streams
from suite.metrics import matrix
from suite.protocols import run_state
from suite.state import context as context_lib
from suite.training.scoring import evaluation
from suite.training.scoring import scoring

MODES = ("iid", "streaming")
_IMAGES_AT_ONCE, _FEATURES_AT_ONCE = 256, 4096


class Event(NamedTuple):
  """Train on bucket `trained`; or, having done so, predict bucket `tested`."""

  trained: int
  tested: Optional[int] = None


def run(
    learner: learner_lib.Learner,
    *,
    state: run_state.RunState,
    buckets: buckets_lib.Buckets,
    mode: str = "iid",
    validation_share: float = 0.1,
    eval_batch_size: Optional[int] = None,
) -> Dict[str, Any]:
  """Runs the buckets from where `state` is; returns the summary (see `summarise`).

  Args:
    mode: "iid" or "streaming".
    validation_share: the part of each bucket's training images that is delivered as its validation
      split.
    eval_batch_size: examples that are predicted at once; None: 256 images, or a whole test set of
      features up to 4096.
  """
  state.delivery = context_lib.BUCKETS
  events = plan(len(buckets), mode)
  _check(buckets, learner.transform)
  batch_size = eval_batch_size or _eval_batch_size(buckets)
  forward = None
  state.resume(learner, begin=[buckets.task] * min(state.done, 1))
  for event in events[state.done:]:
    context, predictions = state.context(), None
    logging.info("Event %d/%d: %s", state.done + 1, len(events), event)
    learner.begin(buckets.task, context)
    if event.tested is None:
      delivered = _deliver(buckets, event.trained, validation_share, state.seeds)
      record = {"train_size": delivered.train.size, "validation_size": delivered.validation.size,
                **learner.learn(delivered, context)}
      if not getattr(learner, "predict_stays", False):
        forward = None  # What `predict` is made of may be new.
    else:
      # One for all buckets of a row at least: to make it takes longer than thousands of features.
      forward = forward or scoring.Forward(learner.predict, state.distribution)
      record, predictions = evaluation.evaluate(
          learner.predict, buckets[event.tested].test, transform=learner.transform,
          ledger=state.ledger, distribution=state.distribution, batch_size=batch_size,
          forward=forward)
      record.update(_row(event, record, accuracies(state.records, len(buckets))))
    state.commit({**_about(event, buckets, mode), **record}, predictions)
  return summarise(state.records, buckets, mode)


def plan(num_buckets: int, mode: str) -> List[Event]:
  """All events in order: each bucket's Train, then its Predicts."""
  if mode not in MODES:
    raise ValueError(f"Unknown mode {mode!r}; allowed are {', '.join(MODES)}.")
  return [Event(i, j) for i in range(num_buckets)
          for j in (None, *range(0 if mode == "iid" else i + 1, num_buckets))]


def _check(buckets: buckets_lib.Buckets, transform: Any) -> None:
  """What would otherwise end a run at its last bucket."""
  if not len(buckets):
    raise ValueError(f"The series of {buckets.task.key!r} has no buckets; give at least 1.")
  for part in (part for bucket in buckets for part in (bucket.train, bucket.test)):
    if isinstance(part, feature_set.FeatureSet) and isinstance(transform, feature_set.Features):
      part.check_width(transform)


def _eval_batch_size(buckets: buckets_lib.Buckets) -> int:
  """One size for all test sets, so that one graph serves them."""
  largest = max(bucket.test.size for bucket in buckets)
  is_features = all(isinstance(b.test, feature_set.FeatureSet) for b in buckets)
  return min(_FEATURES_AT_ONCE, largest) if is_features else _IMAGES_AT_ONCE


def _deliver(buckets: buckets_lib.Buckets, i: int, share: float, seeds: seeds_lib.Seeds
             ) -> experience.Experience:
  """The training images of bucket i, some set apart for validation, the same for every learner."""
  train, validation = buckets[i].train.split(share, seed=seeds.integer("validation", i))
  return experience.Experience(buckets.task, train, validation, experience.History())


def _about(event: Event, buckets: buckets_lib.Buckets, mode: str) -> Dict[str, Any]:
  """What each record says of its event, whatever the learner; buckets count from 0."""
  kind, bucket = streams.TRAIN, event.trained
  if event.tested is not None:
    kind, bucket = streams.PREDICT, event.tested
  return {
      "protocol": "clear", "mode": mode, "kind": kind,
      "task": buckets.task.name, "task_key": buckets.task.key,
      "num_classes": buckets.task.num_classes, "trained_bucket": event.trained, "bucket": bucket,
      "bucket_name": buckets[bucket].name}


def _row(event: Event, record: Mapping[str, Any], acc: np.ndarray) -> Dict[str, Any]:
  """The row of the bucket trained on as far as it goes, else NaN; its scores once it is whole."""
  acc[event.trained, event.tested] = accuracy = record["correct"] / record["seen"]
  row = {"accuracy": accuracy, "row": acc[event.trained].tolist()}
  return {**row, **matrix.row(acc, event.trained)} if event.tested == len(acc) - 1 else row


def accuracies(records: Sequence[Mapping[str, Any]], num_buckets: int) -> np.ndarray:
  """The accuracy matrix [T, T] of the records so far; NaN where nothing was evaluated."""
  acc = np.full([num_buckets, num_buckets], np.nan)
  for record in records:
    if record["kind"] == streams.PREDICT:
      acc[record["trained_bucket"], record["bucket"]] = record["accuracy"]
  return acc


def summarise(records: Sequence[Mapping[str, Any]], buckets: buckets_lib.Buckets, mode: str
              ) -> Dict[str, Any]:
  """The scores a paper would print, from records alone; null where the mode does not evaluate."""
  acc = accuracies(records, len(buckets))
  last = records[-1] if records else {}
  return {
      "protocol": "clear", "stream": f"{buckets.task.name}, {len(buckets)} buckets, {mode}",
      "mode": mode, "num_events": len(records),
      **{name: None if np.isnan(score) else score for name, score in matrix.summary(acc).items()},
      "matrix": [[None if np.isnan(a) else a for a in row] for row in acc.tolist()],
      **ledger_lib.costs(last)}
