# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""CLEAR (Lin et al., 2021): one task whose images drift in time, delivered bucket by bucket.

For each bucket i, in order: `Train` delivers its training images, then `Predict` asks for the test
images of bucket j, for every j or for later ones only. The score is the matrix R[i, j], the
accuracy on bucket j after training on bucket i, and the means over its parts that
`suite.metrics.matrix` defines. The modes have the names of the data's protocols
(`clear_buckets`), so that one value sets both:

  iid         every j; test images are a part of each bucket that is not trained on
  challenge   every j; test images are those that were released later
  streaming   j > i, so that `train` and `test` of a bucket may both be all of it; nothing is tested
              after the last bucket, which is therefore not trained on

No bucket is delivered twice: a learner must store what it needs of past ones. A bucket may also
have unlabelled images (figure 5 of the paper: continual semi-supervised learning), which are
delivered with its training images.

Classes may appear over time: the head has a place for all of them, and a test image of a class that
no training set has had so far counts as an error. Such a series has, beside each score, the same
score on images of known classes only, `..._known` (`suite.metrics.matrix`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import typing
from typing import Any, Literal

import numpy as np

from suite.compute import ledger
from suite.contracts import deliveries
from suite.contracts import descriptions
from suite.contracts import learner as learner_lib
from suite.contracts import own_costs
from suite.contracts import refusals
from suite.contracts import tasks
from suite.data.streams import buckets as buckets_lib
from suite.metrics import matrix
from suite.metrics import schema
from suite.protocols import bucket_loop
from suite.protocols import few_answers
from suite.protocols import run_state

Mode = Literal["iid", "streaming", "challenge"]
MODES = typing.get_args(Mode)
_STREAMING = "streaming"
DESCRIPTION = descriptions.ProtocolDescription(
    "clear",
    measures=(
        descriptions.Measure("accuracy", "accuracy"),
        descriptions.Measure("in_domain", "in-domain"),
        descriptions.Measure("next_domain", "next-domain"),
        descriptions.Measure("backward_transfer", "backward transfer"),
        descriptions.Measure("forward_transfer", "forward transfer"),
        descriptions.Measure("chaudhry_forgetting", "forgetting", descriptions.LOWER)),
    curve=descriptions.RecordCurve(
        "Bucket", "Accuracy on the bucket just trained on", schema.BUCKET, schema.ACCURACY, first=1,
        kind=deliveries.PREDICT, equal=(schema.BUCKET, schema.TRAINED_BUCKET)),
    # A learner may add further names of the default to records, such as "way".
    panels=(descriptions.BUCKETS,), identity=(schema.TASK, schema.MODE, schema.NUM_CLASSES))


@refusals.checkable
@descriptions.describes(DESCRIPTION)
def run(
    learner: learner_lib.Learner,
    *,
    state: run_state.RunState,
    buckets: buckets_lib.Buckets,
    mode: Mode = "iid",
    validation_share: float = 0.1,
    eval_batch_size: int | None = None,
    test_answers: few_answers.Given = None,
) -> dict[str, Any]:
  """Runs the buckets from `state.done` on; returns the summary (see `summarize`).

  Args:
    mode: one of `MODES`.
    validation_share: share of each bucket's training images that is delivered as its validation
      split, for choices; every method fits these images, too. 0: none, where nothing is chosen.
    eval_batch_size: examples predicted at once; None: 256 images, or a whole test set of features
      up to 4096.
    test_answers: asks so many images of a test set, and estimates its accuracy, see `few_answers`;
      None: all images.
  """
  learner = refusals.check_learner(learner, deliveries.BUCKETS)
  events = plan(len(buckets), mode)
  _check(buckets, learner, mode, validation_share)
  known, few = _known_classes(buckets), few_answers.parsed(test_answers)
  if few is not None and known is not None:
    raise ValueError(f"Classes of {buckets.task.key!r} appear over time, and the accuracy on known "
                     f"classes is of all answers: test_answers={few.answers} asks a part. Leave "
                     "test_answers out.")
  loop = bucket_loop.BucketRun(
      learner, state, buckets.buckets, [buckets.task] * len(buckets),
      validation_share=validation_share, eval_batch_size=eval_batch_size, few=few)
  for event in loop.events(events):
    record = {schema.PROTOCOL: DESCRIPTION.name, schema.MODE: mode,
              **bucket_loop.about(event, buckets.buckets, buckets.task)}
    predictions = None
    if event.kind == deliveries.TRAIN:
      delivered, about = loop.delivered(event)
      record.update(about, **own_costs.learning(learner)(delivered, loop.context))
    else:
      found, predictions = loop.predict(event)
      record.update(found)
      acc = bucket_loop.accuracies([*state.records, record], len(buckets))
      record[schema.ROW] = acc[event.trained].tolist()
      if event.tested == len(acc) - 1:  # The row is complete.
        record.update(matrix.row(acc, event.trained))
      if known is not None:
        record.update(matrix.of_known(
            predictions["labels"], predictions["correct"], known[event.trained]))
    state.commit(record, predictions)
  return summarize(state.records, buckets, mode)


def plan(num_buckets: int, mode: str) -> list[bucket_loop.BucketEvent]:
  """All events in order: Train on a bucket, then Predict; no bucket without a Predict event."""
  if mode not in MODES:
    raise ValueError(f"Unknown mode {mode!r}; allowed are {', '.join(MODES)}.")
  is_streaming = mode == _STREAMING
  return [bucket_loop.BucketEvent(i, j) for i in range(num_buckets - is_streaming)
          for j in (None, *range(i + 1 if is_streaming else 0, num_buckets))]


def _check(buckets: buckets_lib.Buckets, learner: learner_lib.Learner, mode: str,
           validation_share: float) -> None:
  """Errors that would otherwise end a run at its last bucket, or make its scores wrong."""
  refusals.check_kinds(learner, [buckets.task.kind])
  refusals.check_task(buckets.task)
  least = 2 if mode == _STREAMING else 1
  if len(buckets) < least:
    raise ValueError(f"The series of {buckets.task.key!r} has {len(buckets)} buckets; give at "
                     f"least {least} in mode {mode!r}.")
  same = [bucket.name for bucket in buckets if bucket.train is bucket.test]
  if same and mode != _STREAMING:
    raise ValueError(f"Mode {mode!r} tests on all buckets, but {same[0]} of {buckets.task.key!r} "
                     "has one set to train and to test on; load the buckets with protocol="
                     f"{mode!r}, or run in mode {_STREAMING!r}.")
  trained = buckets.buckets[:-1] if mode == _STREAMING else buckets.buckets
  bucket_loop.check_sizes(learner, trained, validation_share, "clear.run.validation_share")
  bucket_loop.check_transforms(buckets.buckets, learner.transform)
  refusals.check_labels(buckets.task, [bucket.train for bucket in buckets])


def _known_classes(buckets: buckets_lib.Buckets) -> np.ndarray | None:
  """Classes known after each bucket, bool [T, C]; None if the first has all that occur."""
  if buckets.task.kind != tasks.SINGLE_LABEL:
    return None
  known = matrix.known_classes(
      [bucket.train.labels for bucket in buckets], buckets.task.num_classes)
  return known if matrix.grows(known, [b.test.labels for b in buckets]) else None


def summarize(records: Sequence[Mapping[str, Any]], buckets: buckets_lib.Buckets, mode: str
              ) -> dict[str, Any]:
  """The scores that a paper prints, from records alone; null where the mode does not evaluate."""
  acc = bucket_loop.accuracies(records, len(buckets))
  scores = matrix.summary(acc)
  if any(schema.ACCURACY_KNOWN in record for record in records):
    of_known = matrix.summary(
        bucket_loop.accuracies(records, len(buckets), schema.ACCURACY_KNOWN))
    scores.update({f"{name}_known": score for name, score in of_known.items()})
  return run_state.plain({
      "protocol": DESCRIPTION.name,
      "stream": f"{buckets.task.name}, {len(buckets)} buckets, {mode}",
      "mode": mode, "num_events": len(records), **scores,
      **({"class_names": list(buckets.class_names)} if buckets.class_names else {}),
      "matrix": acc.tolist(), **bucket_loop.estimates(records, acc, matrix.scores()),
      **ledger.costs(records[-1] if records else {})})
