# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What the suite makes of the inputs of methods that are trained by gradient: learners by name, in
the hands of a small protocol, on a net whose first weights are given."""

from __future__ import annotations

from collections.abc import Sequence
import tempfile
from typing import Any

import gradient_fixtures
import numpy as np
import ours_statistics
import tensorflow as tf

import suite
from suite.contracts import deliveries
from suite.contracts import tasks
from suite.data.images import feature_set
from suite.protocols import incremental
from suite.training.memories import memory
from suite.training.memories import reservoir as reservoir_lib

Arrays = gradient_fixtures.Arrays
RATE = 0.1
# Replayed rows: a multiple of the 12, 24 and 36 that are held, so that each counts as much.
_DRAWS = 72
_ALL = 72  # A multiple of the 12, 24 and 36 rows of the tasks so far.
_BOTH = 60  # A multiple of the 12 rows of a first task and the 20 of a second with 8 exemplars.


def net(arrays: Arrays, *, head: bool = True) -> Any:
  """Makes a net of one hidden layer, with the first weights; head: also the layer of logits.

  Without first weights of the hidden layer it is the identity.
  """
  if "kernel_1" not in arrays:
    return tf.keras.Sequential([tf.keras.layers.Input([arrays["train"].shape[-1]])])

  def given(name: str, num: int | None = None) -> Any:
    return tf.keras.initializers.Constant(arrays[name][..., :num])

  def make(feature_size: int, num_classes: int) -> tf.keras.Model:
    inputs = tf.keras.Input([feature_size])
    found = tf.keras.layers.Dense(
        arrays["kernel_1"].shape[1], "relu", kernel_initializer=given("kernel_1"),
        bias_initializer=given("bias_1"))(inputs)
    if head:
      found = tf.keras.layers.Dense(
          num_classes, kernel_initializer=given("kernel_2", num_classes),
          bias_initializer=given("bias_2", num_classes))(found)
    return tf.keras.Model(inputs, found)

  return make


def run(method: str, arrays: Arrays, *, epochs: int = 1, momentum: float = 0.0,
        rows: int | None = None, grows: bool = False, head: str = "own",
        given: Sequence[str] = ("kernel_2", "bias_2"), own: bool = False, **settings: Any
        ) -> Arrays:
  """Logits [T, M, C] of the tests after each task, of a learner by name.

  Args:
    method: of methods.csv.
    arrays: of `gradient_fixtures.tasks`.
    epochs: passes over the rows of each task.
    momentum: of the steps, at `RATE`.
    rows: of a step; None: those of a task, so that a pass is a step.
    grows: whether the learner is told the classes that have come alone; answers to others are 0.
    head: of `suite.learner`; of a "new" one the learner makes the first weights, and these become
      those that are `given`, names of arrays.
    own: whether `settings` say the optimizer and the batches, too.
    settings: of the method.
  """
  num, size, width = arrays["train"].shape
  total = arrays["kernel_2"].shape[1]
  learner: Any = suite.learner(
      net(arrays, head=head == "own"), method, head=head, transform=feature_set.Features(width),
      epochs=epochs, **settings, **({} if own else {
          "optimizer": lambda: tf.keras.optimizers.SGD(RATE, momentum),
          "batch_size": rows or size})).make(deliveries.BUCKETS)
  learner = incremental.GrowingLearner(learner) if grows else learner
  logits = []
  with tempfile.TemporaryDirectory() as folder:
    for place in range(num):
      new = np.arange(total // num * place, total // num * (place + 1))
      task = tasks.Task("classes", tasks.SINGLE_LABEL, int(new[-1]) + 1 if grows else total)
      here = ours_statistics.context(folder, place)
      learner.begin(task, here)
      if head == "new":
        _set_head(learner, arrays, given, new if grows else np.arange(total * (place == 0)))
      learner.learn(deliveries.Experience(
          task, feature_set.FeatureSet.from_arrays(
              f"{place}", arrays["train"][place], arrays["train_labels"][place], kind=task.kind,
              num_classes=task.num_classes), None, deliveries.History(), new_classes=new.tolist()),
                    here)
      found = learner.predict(tf.constant(arrays["test"])).numpy()
      found = np.where(found > -1e8, found, 0.0)  # Of classes to come.
      logits.append(np.pad(found, [(0, 0), (0, total - found.shape[1])]))
  return {"logits": np.stack(logits)}


def _set_head(learner: Any, arrays: Arrays, given: Sequence[str], classes: np.ndarray) -> None:
  """Gives a head that a learner made itself its first weights, those of new classes alone."""
  lower = [arrays[name].shape for name in ("kernel_1", "bias_1") if name in arrays]
  for name in given if len(classes) else ():
    of_classes = name in ("kernel_2", "bias_2")
    for variable in learner.trainable_variables:
      shape, width = tuple(variable.shape), variable.shape[-1]
      value = arrays[name][..., :width] if of_classes else arrays[name]
      if shape == value.shape and shape not in lower:
        first = variable.numpy()
        places = classes if of_classes else np.arange(width)
        first[..., places] = value[..., places]
        variable.assign(first)


def finetune(arrays: Arrays) -> Arrays:
  return run("finetune", arrays, epochs=3, momentum=0.9, train_on="current")


def er(arrays: Arrays) -> Arrays:
  return run("er", arrays, memory_size=100, replay_batch=12)


def der(arrays: Arrays) -> Arrays:
  return run("der", arrays, epochs=2, memory_size=100, replay_batch=_DRAWS, alpha=0.3)


def der_plus_plus(arrays: Arrays) -> Arrays:
  return run("der_plus_plus", arrays, memory_size=100, replay_batch=11, alpha=0.2,
             beta=0.5)


def er_ace(arrays: Arrays) -> Arrays:
  return run("er_ace", arrays, epochs=2, memory_size=100, replay_batch=_DRAWS)


def agem(arrays: Arrays) -> Arrays:
  return run("agem", arrays, epochs=5, memory_size=100)


def gem(arrays: Arrays) -> Arrays:
  return run("gem", arrays, epochs=5, memory_size=100, margin=0.5)


def si(arrays: Arrays) -> Arrays:
  return run("si", arrays, epochs=4, strength=10.0, epsilon=0.1)


def online_ewc(arrays: Arrays) -> Arrays:
  return run("online_ewc", arrays, epochs=4, strength=5.0, decay=0.8, fisher="mammoth")


def icarl(arrays: Arrays) -> Arrays:
  return run("icarl", arrays, epochs=15, rows=_BOTH, memory_size=8, head="new")


def gdumb(arrays: Arrays) -> Arrays:
  return _last(run("gdumb", arrays, memory_size=100, rows=24))


def joint(arrays: Arrays) -> Arrays:
  return _last(run("joint", arrays, epochs=4, rows=24))


def _last(found: Arrays) -> Arrays:
  return {name: values[-1:] for name, values in found.items()}


def lwf(arrays: Arrays) -> Arrays:
  return run("lwf", arrays, epochs=3, grows=True, strength=2.0, temperature=2.0)


def mas(arrays: Arrays) -> Arrays:
  return run("mas", arrays, epochs=4, grows=True, strength=3.0, importance="facil")


def ewc(arrays: Arrays) -> Arrays:
  # Theirs has a factor 1/2, a strength of 11 and N / (N - 1) = 12/11 times our information.
  return run("ewc", arrays, epochs=4, strength=6.0, fisher="all")


def head_only(arrays: Arrays) -> Arrays:
  return _linear("head_only", arrays)


def each_bucket(arrays: Arrays) -> Arrays:
  return _last(run("each_bucket", arrays, epochs=3, momentum=0.9))


def cumulative(arrays: Arrays) -> Arrays:
  return _linear("cumulative", arrays, rows=_ALL, steps=4)


def reservoir(arrays: Arrays) -> Arrays:
  return _linear("reservoir", arrays, rows=_ALL, steps=4, memory_size=100)  # Holds all rows.


def biased_reservoir(arrays: Arrays) -> Arrays:
  held, capacity = [], int(arrays["capacity"])
  for seed in range(int(arrays["num_seeds"])):
    kept = memory.Memory(capacity, reservoir_lib.BiasedReservoir(1.5, "fixed", "tail"))
    kept.build([], tf.int64, seed=(seed, 1), num_classes=1)
    for bucket in range(int(arrays["buckets"])):
      rows = tf.range(bucket * capacity, (bucket + 1) * capacity, dtype=tf.int64)
      kept.add(rows, tf.zeros_like(rows))
    held.append(kept.held().codes.numpy())
  return gradient_fixtures.shares(np.array(held), arrays)


def budgeted(arrays: Arrays) -> Arrays:
  return _linear("budgeted", arrays, rows=_ALL, steps=4)


def cwr_star(arrays: Arrays) -> Arrays:
  return _linear("cwr_star", arrays)


def lwf_growing(arrays: Arrays) -> Arrays:
  return _linear("lwf_growing", arrays, step=0.5, temperature=2.0)


def mir(arrays: Arrays) -> Arrays:
  return run("mir", arrays, memory_size=100, replay_batch=8, candidates=24)


def scr(arrays: Arrays) -> Arrays:
  return run("scr", arrays, head="new", given=("projection_1", "projection_2"), memory_size=100,
             replay_batch=12, temperature=0.2, view=None, width=5)


def er_aml(arrays: Arrays) -> Arrays:
  return run("er_aml", arrays, memory_size=100, replay_batch=12, temperature=0.2)


def mer(arrays: Arrays) -> Arrays:
  return run("mer", arrays, memory_size=100, replay_batch=3, batches=3, within=0.5, across=0.8)


def wa(arrays: Arrays) -> Arrays:
  return run("wa", arrays, epochs=15, rows=_BOTH, momentum=0.9, head="new", grows=True,
             memory_size=8)


def slca(arrays: Arrays) -> Arrays:
  return run("slca", arrays, head="new", own=True, epochs=0, share=0.25,
             tuned_epochs=4, tuned_batch_size=12, tuned_learning_rate=RATE)


def _linear(method: str, arrays: Arrays, **settings: Any) -> Arrays:
  """The last weights of a linear layer that begins at zero and takes 4 steps of each task."""
  width, num = arrays["train"].shape[-1], arrays["kernel_2"].shape[1]
  found = run(method, {
      "train": arrays["train"], "train_labels": arrays["train_labels"],
      "test": np.eye(width + 1, width, dtype=np.float32),  # The last row is 0.
      "kernel_2": np.zeros([width, num], np.float32), "bias_2": np.zeros([num], np.float32)},
              **{"epochs": 4, "momentum": 0.9, "head": "new", **settings})["logits"][-1]
  return {"kernel": found[:-1] - found[-1], "bias": found[-1]}
