# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Incremental learning in its three scenarios (van de Ven & Tolias, 2019).

The tasks of a series come one after the other, each as a bucket: `Train` delivers the training
images of task i, then `Predict` asks for the test images of the tasks so far. A scenario says which
classes may be answered:

  domain   all; tasks have the same classes and other images (permuted, rotated, other domains)
  class    those of all tasks so far; tasks have different classes, and the learner is not told
           which task a test image is of (class-incremental learning)
  task     those of the task that the test image is of, which is told with it (task-incremental)

Under "class" and "task" classes are numbered in the order in which they come, and a learner is told
those that have come only: `begin` gives the task with the number of classes seen so far, delivered
sets have no more classes and names than that, and its head grows (`GrowingLearner`). The logits
of classes that may not be answered are left out, as if they were minus infinity. In training both
are the same. A head for each task is the head `MultiHead` of a gradient learner.

Which classes have an output, in training and in answers, is said by `outputs`, in the words of
`--active-classes` in the code of van de Ven, Tuytelaars & Tolias (2022):

  all_so_far  those that have come, as above
  all         all from the first task on, as in the class-incremental tables of Buzzega et al.
              (2020) and van de Ven et al. (2022): an output learns to be low until its class comes.
              The learner is told the number of all classes then, and does not grow. Under "domain"
              both are the same.

The scores are those of the matrix R[i, j], the accuracy on task j after training on task i:

  final average accuracy         mean of the last row
  average incremental accuracy   mean over i of the mean over j <= i of R[i, j]
  forgetting                     mean over j < T-1 of max_i R[i, j] - R[T-1, j], i < T-1
  backward transfer              mean over j < T-1 of R[T-1, j] - R[j, j]
  forward transfer               mean over j > 0 of R[j-1, j] - chance; under "domain" only: classes
                                 that have not come yet have no output

For "domain" task i + 1 is predicted after task i, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import typing
from typing import Any, Literal

import numpy as np
import tensorflow as tf
from typing_extensions import override

from suite.compute import ledger
from suite.contracts import deliveries as deliveries_lib
from suite.contracts import descriptions
from suite.contracts import examples
from suite.contracts import learner as learner_lib
from suite.contracts import own_costs
from suite.contracts import refusals
from suite.contracts import rehearsal
from suite.contracts import tasks
from suite.data.images import image_set
from suite.data.streams import buckets as buckets_lib
from suite.metrics import matrix
from suite.metrics import schema
from suite.protocols import bucket_loop
from suite.protocols import few_answers
from suite.protocols import run_state
from suite.state import context as context_lib
from suite.state import learner_state

Scenario = Literal["domain", "class", "task"]
SCENARIOS = DOMAIN, CLASS, TASK = typing.get_args(Scenario)
Outputs = Literal["all_so_far", "all"]
OUTPUTS = ALL_SO_FAR, ALL = typing.get_args(Outputs)
Tested = Literal["each", "last"]
TESTED = EACH, LAST = typing.get_args(Tested)
DESCRIPTION = descriptions.ProtocolDescription(
    "incremental",
    measures=(
        descriptions.Measure("final_average_accuracy", "final average accuracy"),
        descriptions.Measure("average_incremental_accuracy", "average incremental accuracy"),
        descriptions.Measure("forgetting", "forgetting", descriptions.LOWER),
        descriptions.Measure("backward_transfer", "backward transfer"),
        descriptions.Measure("forward_transfer", "forward transfer")),
    curve=descriptions.RecordCurve(
        "Tasks", "Average accuracy on the tasks so far", schema.TRAINED_BUCKET,
        schema.AVERAGE_ACCURACY, first=1, kind=deliveries_lib.PREDICT),
    panels=(descriptions.BUCKETS,), part="task",
    identity=(schema.TASK, schema.SCENARIO, schema.OUTPUTS, schema.NUM_TASKS, schema.NUM_CLASSES,
              schema.CLASS_ORDER))


@refusals.checkable
@descriptions.describes(DESCRIPTION)
def run(
    learner: learner_lib.Learner,
    *,
    state: run_state.RunState,
    buckets: buckets_lib.Buckets,
    scenario: Scenario = CLASS,
    outputs: Outputs = ALL_SO_FAR,
    tested: Tested = EACH,
    validation_share: float = 0.1,
    eval_batch_size: int | None = None,
    test_answers: few_answers.Given = None,
) -> dict[str, Any]:
  """Runs the tasks from `state.done` on; returns the summary (see `summarize`).

  Args:
    buckets: a task each, of `suite.buckets.of_classes`, `permuted`, `rotated` or `of`.
    scenario: "domain", "class" or "task".
    outputs: which classes have one, "all_so_far" or "all".
    tested: after which tasks tests are answered, "each" or "last". The final average accuracy needs
      the last alone; all other scores are null then.
    validation_share: share of each task's training images that is delivered as its validation
      split, for choices; every method fits these images, too. 0: none, where nothing is chosen.
    eval_batch_size: examples predicted at once; None: 256 images, or a whole test set of features
      up to 4096.
    test_answers: asks so many images of a test set, and estimates its accuracy, see `few_answers`;
      None: all images.
  """
  learner = refusals.check_learner(learner, deliveries_lib.BUCKETS)
  refusals.check_kinds(learner, [tasks.SINGLE_LABEL])
  classes = check(buckets, scenario, outputs)
  bucket_loop.check_sizes(
      learner, buckets.buckets, validation_share, "incremental.run.validation_share")
  bucket_loop.check_transforms(buckets.buckets, learner.transform)
  order = np.concatenate(classes)
  most = learner.most_classes
  if most is not None and most < len(order):
    raise refusals.RefusedError(
        f"{type(learner).__name__} can serve {most} classes, one for each slot of its memory, and "
        f"{buckets.task.key!r} has {len(order)}. Give it a memory of at least {len(order)} "
        "examples.")
  ends = told = [len(order)] * len(buckets)  # Classes that have come, and that have an output.
  parts, own = buckets.buckets, [range(len(order))] * len(buckets)
  if scenario != DOMAIN:
    ends = [int(end) for end in np.cumsum([len(new) for new in classes])]
    own = [range(end - len(new), end) for end, new in zip(ends, classes)]
    if outputs == ALL_SO_FAR:
      learner, told = GrowingLearner(learner), ends
    parts = tuple(_as_seen(bucket, order[:end]) for bucket, end in zip(buckets, told))
  loop = bucket_loop.BucketRun(
      learner, state, parts,
      [tasks.Task(buckets.task.name, tasks.SINGLE_LABEL, num) for num in told],
      validation_share=validation_share, eval_batch_size=eval_batch_size,
      few=few_answers.parsed(test_answers))
  for event in loop.events(plan(len(buckets), scenario, tested)):
    record = {
        schema.PROTOCOL: DESCRIPTION.name, **_kind(scenario, outputs),
        schema.NUM_TASKS: len(buckets), schema.CLASS_ORDER: _shown(order),
        **bucket_loop.about(event, parts, buckets.task),
        schema.CLASSES_SEEN: ends[event.trained]}
    predictions = None
    if event.kind == deliveries_lib.TRAIN:
      delivered, about = loop.delivered(
          event, None if scenario == DOMAIN else own[event.trained])
      record.update(about, **own_costs.learning(learner)(delivered, loop.context))
    else:
      found, predictions = loop.predict(event, np.isin(
          np.arange(told[event.trained]), own[event.bucket]) if scenario == TASK else None)
      record.update(found)
      acc = bucket_loop.accuracies([*state.records, record], len(buckets))
      record[schema.ROW] = acc[event.trained].tolist()
      if event.tested == event.trained:
        record[schema.AVERAGE_ACCURACY] = matrix.average_accuracy(acc, event.trained)
    state.commit(record, predictions)
  return summarize(state.records, buckets, scenario, order, outputs)


def plan(num_tasks: int, scenario: str, tested: str = EACH) -> list[bucket_loop.BucketEvent]:
  """All events in order: Train on a task, then Predict all so far, and under "domain" the next."""
  if tested not in TESTED:
    raise ValueError(f"incremental.run.tested is {tested!r}; allowed are {', '.join(TESTED)}.")
  further = scenario == DOMAIN
  return [bucket_loop.BucketEvent(i, j) for i in range(num_tasks)
          for j in (None, *range(min(i + 1 + further, num_tasks)))
          if j is None or tested == EACH or i == num_tasks - 1]


def check(buckets: buckets_lib.Buckets, scenario: str, outputs: str) -> list[np.ndarray]:
  """Refuses tasks that a scenario cannot have; returns the classes that come with each, ascending.
  """
  if outputs not in OUTPUTS:
    raise ValueError(f"incremental.run.outputs is {outputs!r}; allowed are {', '.join(OUTPUTS)}.")
  if scenario not in SCENARIOS:
    raise ValueError(f"Unknown scenario {scenario!r}; allowed are {', '.join(SCENARIOS)}.")
  if buckets.task.kind != tasks.SINGLE_LABEL:
    raise refusals.RefusedError(
        f"Task {buckets.task.key!r} is {buckets.task.kind}; incremental scenarios are about "
        f"{tasks.SINGLE_LABEL} images. Take a data set with one label an image.")
  if len(buckets) < 2:
    raise ValueError(f"The series of {buckets.task.key!r} has {len(buckets)} task(s); give at "
                     "least 2.")
  found = [np.unique(bucket.train.labels) for bucket in buckets]
  empty = [bucket.name for bucket, own in zip(buckets, found) if not len(own)]
  if empty:
    raise ValueError(f"Task {empty[0]} of {buckets.task.key!r} has no class: its training set has "
                     "no image. Leave it out, or take fewer tasks.")
  home: dict[int, str] = {}
  for bucket, own in zip(buckets, found):
    for label in own.tolist():
      if label in home and scenario != DOMAIN:
        raise ValueError(
            f"Class {_named(buckets, label)} appears in two tasks, {home[label]} and {bucket.name}."
            f" Under scenario {scenario!r} a class belongs to one task: leave it out of one of "
            f"them, or take scenario {DOMAIN!r}, whose tasks have the same classes.")
      if label not in found[0] and scenario == DOMAIN:
        raise ValueError(
            f"Class {_named(buckets, label)} comes with {bucket.name}, and {buckets[0].name} has "
            f"no image of it. Under scenario {DOMAIN!r} the first task has all classes: add "
            f"images, or take scenario {CLASS!r}.")
      home.setdefault(label, bucket.name)
  for bucket, own in zip(buckets, found):
    for label in np.setdiff1d(bucket.test.labels, own).tolist():
      where = home.get(label)
      if where is None:
        raise ValueError(
            f"{bucket.name} tests class {_named(buckets, label)}, of which no task has a training "
            "image, so no answer can be right. Add training images, or leave these test images "
            "out.")
      if scenario != DOMAIN:
        raise ValueError(
            f"{bucket.name} tests class {_named(buckets, label)}, which is trained in {where}. "
            f"Under scenario {scenario!r} a class belongs to one task: move these test images to "
            f"{where}.")
  least = [0] if scenario != TASK else range(len(buckets))
  for i in least:
    if len(found[i]) < 2:
      raise refusals.RefusedError(
          f"{buckets[i].name} has 1 class, {_named(buckets, int(found[i][0]))}: every answer is "
          f"right. Give {'the first task' if scenario != TASK else 'each task'} at least 2.")
  return found if scenario != DOMAIN else [np.arange(buckets.task.num_classes)]


def _named(buckets: buckets_lib.Buckets, label: int) -> str:
  return repr(buckets.class_names[label]) if buckets.class_names else str(label)


def _kind(scenario: str, outputs: str) -> dict[str, str]:
  """Facts of records and summaries; outputs are told where they are not those so far."""
  return {schema.SCENARIO: scenario, **({} if outputs == ALL_SO_FAR else {schema.OUTPUTS: outputs})}


def _shown(order: Sequence[int]) -> str:
  """The order in which classes come; of many the first ones, which tell orders apart."""
  return ",".join(str(label) for label in order[:20]) + ("..." if len(order) > 20 else "")


def _as_seen(bucket: buckets_lib.Bucket, order: np.ndarray) -> buckets_lib.Bucket:
  """A bucket whose sets know the classes of `order` and no others, numbered in that order."""
  for part in (bucket.train, bucket.test):
    if not isinstance(part, image_set.ImageSet):
      raise ValueError(f"{part.name!r} is read from the disk as it is used; classes that come task "
                       "by task are told apart in memory. Give a smaller set, or scenario "
                       f"{DOMAIN!r}.")
  train, test = (part.of_classes(order) for part in (bucket.train, bucket.test))  # type: ignore
  return buckets_lib.Bucket(bucket.name, train, test, bucket.unlabelled)


def summarize(records: Sequence[Mapping[str, Any]], buckets: buckets_lib.Buckets, scenario: str,
              order: Sequence[int], outputs: str) -> dict[str, Any]:
  """The scores that a paper prints, from records alone; null where they are not defined."""
  acc = bucket_loop.accuracies(records, len(buckets))
  chance = 1.0 / buckets.task.num_classes
  functions: dict[str, Callable[[np.ndarray], float]] = {
      "final_average_accuracy": matrix.final_average_accuracy,
      "average_incremental_accuracy": matrix.average_incremental_accuracy,
      "forgetting": matrix.chaudhry_forgetting,
      "backward_transfer": matrix.lopez_paz_backward_transfer,
      "forward_transfer": lambda acc: (matrix.lopez_paz_forward_transfer(acc, chance)
                                       if scenario == DOMAIN else float("nan"))}
  scores = {name: score(acc) for name, score in functions.items()}
  names = buckets.class_names
  return run_state.plain({
      "protocol": DESCRIPTION.name,
      "stream": f"{buckets.task.name}, {len(buckets)} tasks, scenario {scenario}" + (
          "" if outputs == ALL_SO_FAR else f", outputs {outputs}"),
      **_kind(scenario, outputs), "num_events": len(records), **scores,
      "tasks": [bucket.name for bucket in buckets],
      "final_accuracies": acc[-1].tolist(),
      "forgetting_by_task": matrix.forgetting_of_each(acc).tolist(), "class_order": list(order),
      **({"class_names": [names[label] for label in order]} if names else {}),
      "matrix": acc.tolist(), **bucket_loop.estimates(records, acc, functions),
      **ledger.costs(records[-1] if records else {})})


class GrowingLearner(learner_lib.Learner):
  """Serves a task that gets more classes: `begin` with the same task and a larger `num_classes`.

  Learners make variables for a fixed number of classes. Where classes come bucket by bucket, a
  learner is not told how many there will be, so that number rises. To grow is to resume in a larger
  learner: all that a learner knows is in its variables and in `context.store`, and `begin` makes
  the variables (suite/contracts/learner.py). So a copy of the learner as it was before it began is
  begun with the larger task, and takes over the variables of the one that has learned. In the
  places of new classes stays what a new learner has there: first weights, which are drawn from the
  seeds of the event in which the classes come, and velocities, importances and sums of 0. A run
  that was stopped grows as one that was not: `begin` of the next delivery makes the same copy.

  Each size of the head is a graph of its own, and costs are counted on these: a head that has seen
  4 classes has 4 outputs.

  Args:
    learner: it has not begun.

  Attributes:
    learner: the one of the present size.
  """

  # `predict` is another function after the learner has grown.
  predict_stays = False

  def __init__(self, learner: learner_lib.Learner):
    super().__init__()
    self.learner = learner
    try:
      blank = learner_state.blank_copy(learner)
    except Exception as error:  # Of whatever the learner holds.
      raise ValueError(
          f"{type(learner).__name__} cannot be copied before it learns ({type(error).__name__}: "
          f"{error}), which is how it takes up further classes. Make in `begin` what cannot be "
          "copied.") from error
    self._copy = lambda: learner_state.blank_copy(blank)  # In a function: no part of a checkpoint.
    self._num_classes = 0

  @property
  @override
  def transform(self) -> examples.Transform:  # type: ignore[override]
    return self.learner.transform

  @property
  @override
  def deliveries(self) -> Sequence[str]:
    return self.learner.deliveries

  @property
  @override
  def kinds(self) -> Sequence[str]:
    return self.learner.kinds

  @property
  @override
  def chooses(self) -> bool:
    return self.learner.chooses

  @property
  @override
  def most_classes(self) -> int | None:
    return self.learner.most_classes

  @property
  @override
  def shares_updates(self) -> bool:
    return self.learner.shares_updates

  @property
  @override
  def keeps_budget(self) -> bool:
    return self.learner.keeps_budget

  @override
  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Begins a task, or resumes it with more classes."""
    if task.num_classes > self._num_classes > 0:
      smaller, self.learner = self.learner, self._copy()
      self.learner.begin(task, context)
      learner_state.grow(self.learner, smaller, rehearsal.large)
    else:
      self.learner.begin(task, context)
    self._num_classes = task.num_classes

  @override
  def keras_model(self) -> tf.keras.Model | None:
    return self.learner.keras_model()

  @override
  def learn(self, experience: deliveries_lib.Experience, context: context_lib.Context
            ) -> dict[str, Any]:
    return own_costs.learning(self.learner)(experience, context)

  @override
  def predict(self, images: tf.Tensor) -> tf.Tensor:
    return self.learner.predict(images)
