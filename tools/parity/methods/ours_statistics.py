# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What the suite makes of the inputs of cases in closed form: learners by name, with the published
values of their settings."""

from __future__ import annotations

import pathlib
import tempfile
from typing import Any

import method_fixtures
import numpy as np
import tensorflow as tf

import suite
from suite.compute import distribution
from suite.compute import ledger
from suite.compute import seeds
from suite.contracts import deliveries
from suite.contracts import tasks
from suite.data.images import feature_set
from suite.learners import statistics_learner
from suite.state import context as context_lib
from suite.state import journal
from suite.state import weight_store
from suite.training.statistics import class_covariances

Arrays = method_fixtures.Arrays


def learner(method: str, features: int, **settings: Any) -> Any:
  """A learner of methods.csv on features that are taken as they are."""
  model = tf.keras.Sequential([tf.keras.layers.Input([features])])
  return suite.learner(
      model, method, transform=feature_set.Features(features), **settings).make(deliveries.BUCKETS)


def context(folder: str, event: int = 0) -> context_lib.Context:
  """An event of a run of buckets."""
  account = ledger.Ledger()
  return context_lib.Context(
      event=event, ledger=account, seeds=seeds.Seeds(0), distribution=distribution.build(),
      store=weight_store.WeightStore(pathlib.Path(folder), event),
      journal=journal.Journal(event, account), delivery=deliveries.BUCKETS)


def phases(method: Any, arrays: Arrays, held_out: float = 0.0) -> Arrays:
  """Answers of a learner after each phase, and the logits after the last one.

  Args:
    method: the learner.
    arrays: of `method_fixtures.classes_in_turn`.
    held_out: the share of each phase's rows, the last ones, that are for choices.
  """
  task = tasks.Task("classes", tasks.SINGLE_LABEL, int(arrays["phases"].sum()))
  logits = []
  with tempfile.TemporaryDirectory() as folder:
    for event, (rows, _) in enumerate(method_fixtures.in_phases(arrays)):
      here, num = context(folder, event), len(rows) - int(len(rows) * held_out)
      train, dev = (None if not len(part) else feature_set.FeatureSet.from_arrays(
          f"{event}", arrays["train"][part], arrays["train_labels"][part], kind=task.kind,
          num_classes=task.num_classes) for part in (rows[:num], rows[num:]))
      new = np.unique(arrays["train_labels"][rows]).tolist()
      method.begin(task, here)
      method.learn(deliveries.Experience(
          task, train, dev, deliveries.History(), new_classes=new), here)
      logits.append(method.predict(tf.constant(arrays["test"])).numpy())
  return {"answers": method_fixtures.answers(logits, arrays), "logits": logits[-1][:50]}


def lifted(arrays: Arrays, method: str, size: int) -> Arrays:
  """The arrays with the weights of a method's random features, which both sides take."""
  made = learner(method, arrays["train"].shape[1], size=size)
  made.encode(tf.constant(arrays["train"][:1]))
  names = ("weights", "phases_drawn")  # The second: those of random Fourier features.
  return {**arrays, **{name: part.numpy() for name, part in zip(names, made.unsaved_weights)}}


def _named(method: str, arrays: Arrays, held_out: float = 0.0, **settings: Any) -> Arrays:
  return phases(learner(method, arrays["train"].shape[1], **settings), arrays, held_out)


def simple_cil(arrays: Arrays) -> Arrays:
  return _named("simple_cil", arrays)


def ridge(arrays: Arrays) -> Arrays:
  return _named("ridge", arrays)


def ranpac(arrays: Arrays) -> Arrays:
  return _named("ranpac", arrays, 0.2, size=arrays["weights"].shape[1])


def acil(arrays: Arrays) -> Arrays:
  return _named("acil", arrays, size=arrays["weights"].shape[1])


def loranpac(arrays: Arrays) -> Arrays:
  return _named("loranpac", arrays, size=arrays["weights"].shape[1], rank=int(arrays["rank"]))


def fecam(arrays: Arrays) -> Arrays:
  found = _named("fecam", arrays)
  return {**found, "answers": found["answers"][1:]}


def slda(arrays: Arrays) -> Arrays:
  return _named("slda", arrays)


def knn(arrays: Arrays) -> Arrays:
  found = _named("knn", arrays, size=len(arrays["train"]), k=int(arrays["k"]))
  return {"answers": found["answers"]}


def randumb(arrays: Arrays) -> Arrays:
  """Logits less their mean of a row, as those there are."""
  found = _named("randumb", arrays, size=arrays["weights"].shape[1])
  return {**found, "logits": found["logits"] - found["logits"].mean(axis=1, keepdims=True)}


def randumb_answers(arrays: Arrays) -> Arrays:
  return {"answers": randumb(arrays)["answers"]}


def mahalanobis(arrays: Arrays) -> Arrays:
  return _named("mahalanobis", arrays)


def fecam_vit(arrays: Arrays) -> Arrays:
  """The macro FECAM_VIT of gin/learners/statistics.gin."""
  found = phases(statistics_learner.StatisticsLearner(
      class_covariances.ClassCovariances(
          ridge=1e-6, matrices="correlations", shrinkage=(1.0, 0.0)),
      transform=feature_set.Features(arrays["train"].shape[1]),
      lift=statistics_learner.unit_length), arrays)
  return {**found, "answers": found["answers"][-1:]}
