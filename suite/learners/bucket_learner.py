# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""One gradient learner for buckets of the same classes; what it is depends on what it is made of.

                        train_on   reset  memory                      penalty, head
  fine-tuning           current
  EWC, SI, LwF          current                                       Ewc, Si, Lwf
  CWR*                  current                                       head: Consolidated
  A-GEM                 current           Reservoir                   Agem
  ER                    both              GroupBalanced("bucket")
  GDumb                 memory     yes    GroupBalanced("class")
  FT on a reservoir     memory            Reservoir, BiasedReservoir
  joint                 all        yes
  cumulative            all

The hyper-parameters of CLEAR (Lin et al., 2021): SGD, momentum 0.9; the rate falls tenfold every
`schedule.step` epochs; rate, schedule and velocities begin anew with each bucket. Nothing is chosen
on the validation split, so it is trained on, too.
"""

from __future__ import annotations

import pathlib
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from absl import logging
import numpy as np
import tensorflow as tf

from suite.compute import flops
from suite.compute import seeds as seeds_lib
from suite.contracts import tasks
from suite.data.images import example_arrays
from suite.models import feature_head
from suite.models import heads
from suite.models import initial
from suite.state import context as context_lib
from suite.state import weight_store
from suite.training.gradient import bucket_loop
from suite.training.gradient import bucket_plan
from suite.training.gradient import cwr_star as heads_lib
from suite.training.memories import memory as memory_lib
from suite.training.penalties import penalty as penalty_lib

TRAIN_ON = ("current", "memory", "both", "all")
_EXAMPLES = "examples"
_SCHEDULE = bucket_plan.EpochSteps()


class BucketLearner(tf.Module):
  """See the module.

  Args:
    transform: `feature_set.Features`, or of images; a memory holds what its `evaluate` makes.
    backbone: called with image_shape=(H, W, 3), or with feature_size=D for features, it returns a
      Keras model to features of its own. None: a linear model on features.
    memory, penalty, head: see the module.
    schedule: of the rate. epochs: per bucket, of what is trained on. batch_size: B.
    learning_rate, momentum, weight_decay: see `sgd.Sgd`.
    train_on: "current", the bucket; "memory", which gets the bucket first; "both", each step takes
      B rows of either; "all", every bucket so far, kept on disk.
    reset: whether each bucket starts from new weights.
    start: an .npz of weights in Keras order, as a weight store writes it, of the whole model or of
      the first layers; what is not in it is random.
  """

  # `predict` stays one graph, whose variables training changes: what is made of it can be kept.
  predict_stays = True

  def __init__(
      self,
      *,
      transform: Any,
      backbone: Optional[Callable[..., tf.keras.Model]] = None,
      memory: Optional[memory_lib.Memory] = None,
      penalty: Optional[penalty_lib.Penalty] = None,
      head: Optional[heads_lib.Consolidated] = None,
      schedule: bucket_plan.EpochSteps = _SCHEDULE,
      epochs: float = 100,
      batch_size: int = 64,
      learning_rate: float = 1.0,
      momentum: float = 0.9,
      weight_decay: float = 0.0,
      train_on: str = "current",
      reset: bool = False,
      start: Optional[str] = None,
  ):
    super().__init__()
    _check_arguments(train_on, memory, penalty, head, epochs, batch_size, learning_rate)
    self.transform, self._backbone = transform, backbone
    self.memory, self.head = memory, head
    self.penalty = penalty or penalty_lib.Penalty()
    self._schedule, self._epochs, self._batch_size = schedule, epochs, batch_size
    self._rate, self._momentum, self._decay = learning_rate, momentum, weight_decay
    self._train_on, self._reset, self._start = train_on, reset, start
    self._task: Optional[tasks.Task] = None

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    if self._task is not None:
      if task != self._task:
        raise ValueError(f"BucketLearner learns one task, {self._task.key!r}, and was given "
                         f"{task.key!r}. Make another learner for it.")
      return
    if task.kind != tasks.SINGLE_LABEL or not context.distribution.is_single:
      raise ValueError(f"BucketLearner was given a {task.kind} task on "
                       f"{context.distribution.name!r}; it learns {tasks.SINGLE_LABEL} tasks on "
                       "'one_device'.")
    self._task = task
    # Of the run, not of the event: a run that goes on begins in another event.
    seeds = seeds_lib.Seeds(context.seeds.seed, "bucket learner")
    with context.distribution.scope():
      self.model, dense = self._build()
      self.buckets = tf.Variable(0, trainable=False, name="buckets_learned")
      if self.memory is not None:
        self.memory.build(
            example_arrays.shape(self.transform), example_arrays.dtype(self.transform),
            seed=seeds.pair("memory"), num_classes=task.num_classes)
      if self.head is not None:
        self.head.build(dense)
      self._loop = bucket_loop.BucketLoop(
          self.model, transform=self.transform, penalty=self.penalty,
          momentum=self._momentum, weight_decay=self._decay)
      self.penalty.build(self.model, losses_of=self._loop.losses_of, memory=self.memory,
                         seed=seeds.pair("penalty"))
      self._logits = tf.function(lambda images: self.model(images, training=False))

  def _build(self) -> Tuple[tf.keras.Model, tf.keras.layers.Layer]:
    """The model, and its last layer."""
    assert self._task is not None
    shape = example_arrays.shape(self.transform)
    if self._backbone is None and len(shape) > 1:
      raise ValueError("BucketLearner.backbone is None, which is a linear model on features, but "
                       f"the examples are images {shape}; give a backbone.")
    if self._backbone is None:
      model = feature_head.linear(self._task.num_classes, shape[0])
      return model, model.layers[-1]
    sizes: Dict[str, Any] = {"image_shape": shape} if len(shape) > 1 else {"feature_size": shape[0]}
    backbone = self._backbone(**sizes)
    head = heads.linear(self._task.num_classes, backbone.output_shape[-1])
    inputs = tf.keras.Input(backbone.input_shape[1:], dtype=backbone.inputs[0].dtype)
    return tf.keras.Model(inputs, head(backbone(inputs))), head.layers[-1]

  def predict(self, images: tf.Tensor) -> tf.Tensor:
    return self._logits(images)

  def learn(self, experience: Any, context: context_lib.Context) -> Dict[str, Any]:
    assert self._task is not None
    current = example_arrays.read(
        [experience.train, experience.validation], self._task, self.transform)
    counts = np.bincount(current.labels, minlength=self._task.num_classes)
    missing = np.flatnonzero(counts == 0).tolist()
    if missing:
      logging.warning("%s has no example of the classes %s.", experience.train.name, missing)
    if self._reset or not int(self.buckets):
      self._set_weights(context.seeds.integer("initial weights"))
    data = self._data(current, context)
    if self.head is not None:
      counts = np.bincount(data.labels, minlength=self._task.num_classes)
      self.head.before_bucket(counts)
      self._loop.train_only(self.head.trainable(self.model.trainable_variables))
    self.penalty.before_bucket()
    record = self._train(data, context)
    self.penalty.after_bucket()
    if self.head is not None:
      self.head.after_bucket(counts)
    if self.memory is not None and self._train_on != "memory":
      self.memory.add(current.images, current.labels)
    self.buckets.assign_add(1)
    return {**record, "classes_missing": missing, **self._about_memory(current)}

  def _set_weights(self, seed: int) -> None:
    weights = initial.initial_weights(lambda: self._build()[0], seed)
    if self._start is not None:
      arrays = weight_store.read_arrays(pathlib.Path(self._start))
      given = [arrays[key] for key in sorted(arrays)]
      shapes = [(a.shape, b.shape) for a, b in zip(given, weights)]
      if len(given) > len(weights) or any(a != b for a, b in shapes):
        raise ValueError(f"{self._start} holds {len(given)} arrays of shapes "
                         f"{[a.shape for a in given[:3]]}...; the model's {len(weights)} begin "
                         f"{[b.shape for b in weights[:3]]}... Give weights of this very backbone.")
      weights[:len(given)] = given
    self.model.set_weights(weights)

  def _data(self, current: example_arrays.Examples, context: context_lib.Context
            ) -> example_arrays.Examples:
    """What this bucket's training goes over."""
    if self._train_on == "memory":
      assert self.memory is not None
      self.memory.add(current.images, current.labels)
      return example_arrays.Examples(*(t.numpy() for t in self.memory.arrays()))
    if self._train_on == "all":
      parts = [context.store.load(e) for e in context.store.entries() if e.name == _EXAMPLES]
      context.store.save(_EXAMPLES, current)
      return example_arrays.Examples(*map(np.concatenate, zip(*parts, current)))
    return current

  def _train(self, data: example_arrays.Examples, context: context_lib.Context) -> Dict[str, Any]:
    began, size, total = time.monotonic(), len(data.labels), 0.0
    images, labels, held = tf.constant(data.images), tf.constant(data.labels), 0
    if self.memory is not None and self._train_on == "both":
      held, old = int(self.memory.size), self.memory.arrays()
      images, labels = tf.concat([images, old[0]], 0), tf.concat([labels, old[1]], 0)
    num_steps = bucket_plan.num_steps(size, self._epochs, self._batch_size)
    rows = self._batch_size * (2 if held else 1)
    cost = self._loop.step_cost(images, labels, rows) * num_steps
    self._loop.optimizer.reset()
    for first, num in bucket_plan.chunks(num_steps, rows):
      epochs = bucket_plan.epochs_of(np.arange(first, first + num), size, self._batch_size)
      plan = bucket_plan.rows(size, self._batch_size, context.seeds.pair("order"), first, num)
      if held:
        replay = context.seeds.pair("memory order")
        plan = bucket_plan.side_by_side(
            plan, bucket_plan.rows(held, self._batch_size, replay, first, num), size)
      total += self._loop.train(images, labels, plan, self._schedule.rates(self._rate, epochs))
      context.report(step=first + num, steps=num_steps, loss=total / (first + num))
    cost += self._loop.observe(images[:size], labels[:size], self._batch_size)
    self._charge(context, cost, num_steps, rows, time.monotonic() - began)
    if not np.isfinite(total):
      logging.warning("The training of %s diverged; lower the learning rate, now %g.",
                      context.event, self._rate)
    return {"trained_on": size, "steps_event": num_steps, "train_loss": total / num_steps}

  def _charge(self, context: context_lib.Context, cost: flops.Cost, num_steps: int, rows: int,
              seconds: float) -> None:
    context.ledger.charge(
        context.phase, flops=cost.flops, macs=cost.macs, steps=num_steps,
        examples=num_steps * rows, seconds=seconds,
        peak_bytes=context.distribution.peak_bytes())

  def _about_memory(self, current: example_arrays.Examples) -> Dict[str, Any]:
    if self.memory is None:
      return {}
    if self.memory.capacity > len(current.labels) and int(self.buckets) == 1:
      logging.warning("The memory has %d slots, the first bucket %d examples: it is full later "
                      "only.", self.memory.capacity, len(current.labels))
    return {"memory_capacity": self.memory.capacity, "memory_held": int(self.memory.size)}


def _check_arguments(train_on: str, memory: Any, penalty: Any, head: Any, epochs: float,
                     batch_size: int, learning_rate: float) -> None:
  if train_on not in TRAIN_ON:
    raise ValueError(f"BucketLearner.train_on is {train_on!r}; allowed are {', '.join(TRAIN_ON)}.")
  if train_on in ("memory", "both") and memory is None:
    raise ValueError(f"BucketLearner.train_on is {train_on!r}, but there is no memory; give one.")
  if penalty is not None and head is not None:
    raise ValueError("BucketLearner was given a penalty and a head; a consolidated head freezes "
                     "what the penalty guards. Give one of them.")
  numbers: List[Tuple[str, float]] = [
      ("epochs", epochs), ("batch_size", batch_size), ("learning_rate", learning_rate)]
  for name, value in numbers:
    if not value > 0:
      raise ValueError(f"BucketLearner.{name} is {value}; it must be above 0.")
