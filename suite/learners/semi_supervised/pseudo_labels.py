# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Pseudo-labels (Lee, 2013) on the unlabelled images of each bucket, for any learner of buckets.

Two learners of one kind see each bucket. The teacher learns its labeled images, and classifies the
unlabelled ones. The student, which is the one that answers, learns the labeled images and those of
the unlabelled ones for which the teacher's largest probability reaches a threshold. What teacher
and student keep of earlier buckets, weights or a memory, is their own affair; a memory of the
student's holds pseudo-labels, too.

  phase "train"    the trainings of teacher and student
  phase "select"   the teacher's answers on unlabelled images
"""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
import pathlib
from typing import Any

import numpy as np
from scipy import special
import tensorflow as tf
from typing_extensions import override

from suite.contracts import deliveries as deliveries_lib
from suite.contracts import learner as learner_lib
from suite.contracts import own_costs
from suite.contracts import refusals
from suite.contracts import spending
from suite.contracts import tasks
from suite.data.images import image_set
from suite.data.streams import partly_labelled
from suite.state import context as context_lib
from suite.state import journal
from suite.state import weight_store
from suite.training.scoring import scoring


class PseudoLabels(learner_lib.Learner):
  """A `Learner` of buckets with unlabelled images.

  Args:
    make: makes teacher and student; one that is given neither arguments nor a task.
    threshold: the least probability of an image's class for its pseudo-label to be used.
    eval_batch_size: unlabelled images that are classified at once.
  """

  deliveries = (deliveries_lib.BUCKETS,)
  kinds = (tasks.SINGLE_LABEL,)

  def __init__(self, *, make: Callable[[], learner_lib.Learner], threshold: float = 0.95,
               eval_batch_size: int = 256):
    super().__init__()
    if not 0 <= threshold <= 1:
      raise ValueError(f"PseudoLabels.threshold is {threshold}, a probability: give 0 to 1.")
    self.teacher, self.student = (
        learner_lib.adapted(make(), learner_lib.Learner) for _ in range(2))
    self.transform = self.student.transform
    self._forward: scoring.Forward | None = None
    self._threshold, self._batch_size = threshold, eval_batch_size

  @property
  @override
  def shares_updates(self) -> bool:
    return self.student.shares_updates

  @property
  @override
  def chooses(self) -> bool:
    return self.student.chooses or self.teacher.chooses

  @property
  @override
  def keeps_budget(self) -> bool:
    return self.student.keeps_budget and self.teacher.keeps_budget

  @property
  @override
  def predict_stays(self) -> bool:
    return self.student.predict_stays

  @override
  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Begins the task with both learners."""
    for name, learner in (("teacher", self.teacher), ("student", self.student)):
      learner.begin(task, _own(context, name))

  @override
  def learn(self, experience: deliveries_lib.Experience, context: context_lib.Context
            ) -> dict[str, Any]:
    """Teaches the teacher, labels by it, and teaches the student."""
    unlabelled, train = experience.unlabelled, experience.train
    if unlabelled is None:
      raise refusals.RefusedError(
          f"PseudoLabels learns from unlabelled images, but {train.name!r} comes without. Take "
          "buckets of suite.data.streams.partly_labelled, or the learner alone.")
    if not (isinstance(unlabelled, image_set.ImageSet) and isinstance(train, image_set.ImageSet)):
      raise refusals.RefusedError(
          f"PseudoLabels needs images in memory, but {unlabelled.name!r} or {train.name!r} stays "
          "on disk. Take fewer unlabelled images: partly_labelled.beside.most.")
    plain = dataclasses.replace(experience, unlabelled=None)
    taught = own_costs.learning(self.teacher)(plain, _own(context, "teacher"))
    if self._forward is None or not self.teacher.predict_stays:
      self._forward = scoring.Forward(self.teacher.predict, context.distribution)
    forward, places, labels = self._forward, np.zeros([0], np.int64), np.zeros([0], np.int64)
    found = spending.within(self.teacher, context, lambda context: (
        None if context.is_over else forward.run(
            unlabelled, transform=self.transform, batch_size=self._batch_size,
            ledger=context.ledger, phase="select")))
    if found is not None:
      places, labels = chosen(found.values, self._threshold)
    if len(places):
      plain = dataclasses.replace(
          plain, train=partly_labelled.with_guesses(train, unlabelled, places, labels))
    record = own_costs.learning(self.student)(plain, _own(context, "student"))
    return {**record, "pseudo_labels": len(places),
            "pseudo_labels_by_class": np.bincount(
                labels, minlength=experience.task.num_classes).tolist(),
            "teacher_loss": taught.get("train_loss")}

  @override
  def predict(self, images: tf.Tensor) -> tf.Tensor:
    """Returns the student's logits [B, C]."""
    return self.student.predict(images)


def chosen(logits: np.ndarray, threshold: float) -> tuple[np.ndarray, np.ndarray]:
  """Returns the places, int64 [n], of logits [N, C] that are sure enough, and their classes [n]."""
  largest = special.softmax(logits.astype(np.float64), axis=1).max(axis=1)
  places = np.flatnonzero(largest >= threshold)
  return places, logits[places].argmax(axis=1).astype(np.int64)


def _own(context: context_lib.Context, name: str) -> context_lib.Context:
  """The context of one of the learners, which stores and journals apart from the other.

  Its journal is in memory: an interrupted bucket begins again with the teacher.
  """
  folder = pathlib.Path(context.store.folder) / name
  return dataclasses.replace(
      context, store=weight_store.WeightStore(folder, context.event, context.store.run),
      journal=journal.Journal(context.event, context.ledger))
