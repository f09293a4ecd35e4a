# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Self-supervised pretraining that continues bucket by bucket, under a linear head.

CLEAR's paper pretrains once, on the unlabelled bucket 0, and asks for the use of later ones (figure
5). Here each bucket first moves the encoder by some updates on its unlabelled images, with the
pretext of any `Pretrainer` (MoCo V2, SimCLR, BYOL). Then a linear head learns the labeled images of
the bucket and those of a memory; the current encoder computes the features of both.

  phase "pretrain"   updates of the encoder
  phase "train"      features of the labeled images, updates of the head
"""

from __future__ import annotations

import dataclasses
from typing import Any

import tensorflow as tf
from typing_extensions import override

from suite.compute import ledger
from suite.compute import seeds as seeds_lib
from suite.contracts import deliveries as deliveries_lib
from suite.contracts import examples
from suite.contracts import learner
from suite.contracts import refusals
from suite.contracts import spending
from suite.contracts import tasks
from suite.data.images import example_arrays
from suite.data.images import image_set
from suite.learners import gradient
from suite.state import context as context_lib
from suite.state import encoder_file
from suite.state import learner_state
from suite.training.gradient import optimizers
from suite.training.gradient import schedules
from suite.training.gradient import trainable_parts
from suite.training.memories import memory as memory_lib

_KEY = "continued pretraining"
_UNKNOWN = {"flops": None, "macs": None}  # The cost of weights whose file does not say it.
_CONSTANT = schedules.EpochConstant()
_MOMENTUM = optimizers.Momentum()


class ContinuedEncoder(learner.Learner):
  """A `Learner` of buckets with unlabelled images.

  Args:
    pretrainer: trains the encoder, such as a `Pretrainer`; its learning rate falls once, over the
      updates of all buckets.
    transform: prepares the images that are classified, of the size that the encoder takes.
    memory: of labeled images of past buckets; None: the head learns the current bucket only.
    updates: of the encoder in each bucket; 0: it stays as it is, which is the paper's setting.
    num_buckets: T, over which the learning rate falls.
    weights: the directory of a pretraining run's learner, on bucket 0, say, or an .npz of weights,
      from which the encoder starts; None: random ones.
    save_every: updates between two saves within a bucket.
    epochs, batch_size, learning_rate, schedule, optimizer: of the head in each bucket.
    reset: whether the head starts from new weights in each bucket.
  """

  deliveries = (deliveries_lib.BUCKETS,)
  kinds = (tasks.SINGLE_LABEL,)
  predict_stays = shares_updates = True

  def __init__(self, *, pretrainer: learner.PretrainingLearner,
               transform: examples.Transform, memory: memory_lib.Memory | None = None,
               updates: int = 1000, num_buckets: int = 10, weights: str | None = None,
               save_every: int = 500, epochs: float = 30, batch_size: int = 64,
               learning_rate: float = 1.0, schedule: schedules.EpochSchedule = _CONSTANT,
               optimizer: Any = _MOMENTUM, reset: bool = False):
    super().__init__()
    if updates < 0 or num_buckets < 1 or save_every < 1:
      raise ValueError(f"ContinuedEncoder was given updates={updates}, num_buckets={num_buckets} "
                       f"and save_every={save_every}; the first must be at least 0, the others 1.")
    self.transform, self.memory = transform, memory
    self.pretrainer = learner.adapted(pretrainer, learner.PretrainingLearner)
    self._updates, self._total, self._save_every = updates, updates * num_buckets, save_every
    self._weights = weights
    self._cost: dict[str, Any] = {}
    self.head = gradient.GradientLearner(
        transform=transform, net=trainable_parts.HeadOnly(self._features), epochs=epochs,
        batch_size=batch_size, learning_rate=learning_rate, schedule=schedule, optimizer=optimizer,
        reset=reset)
    self._task: tasks.Task | None = None

  @property
  @override
  def keeps_budget(self) -> bool:
    return self.pretrainer.keeps_budget

  @override
  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Makes the variables, once."""
    if self._task is None:
      self.pretrainer.begin(
          tasks.Task(f"{task.name}, unlabelled", tasks.SINGLE_LABEL, 1), context)
      wanted, given = self.pretrainer.encoder.input_shape[1:], example_arrays.shape(self.transform)
      if tuple(wanted) != tuple(given):
        raise refusals.RefusedError(
            f"ContinuedEncoder.transform makes examples {tuple(given)}, and its encoder takes "
            f"images {tuple(wanted)}. Give both one size.")
      if self._weights is not None:
        found = encoder_file.starting(self._weights, self.pretrainer.encoder, _UNKNOWN)
        self.pretrainer.start_from(found.weights)
        self._cost = found.cost
      self.num_learned = tf.Variable(0, dtype=tf.int64, trainable=False, name="buckets_learned")
      # Seeds of the run, not of the event: a resumed run begins in another event.
      seeds = seeds_lib.Seeds(context.seeds.seed, "continued encoder")
      if self.memory is not None:
        self.memory.build(example_arrays.shape(self.transform), tf.uint8,
                          seed=seeds.pair("memory"), num_classes=task.num_classes)
    self._task = task
    self.head.begin(task, context)

  @override
  def learn(self, experience: deliveries_lib.Experience, context: context_lib.Context
            ) -> dict[str, Any]:
    """Continues the pretraining, then learns the labeled images."""
    if self._cost and not int(self.num_learned) and context.journal.partial(_KEY) is None:
      # An error if it does not: nothing was spent before.
      context.ledger.grant(
          1, lambda _: ledger.Known(self._cost["flops"], self._cost["macs"]))
      context.ledger.charge("pretrain", **self._cost)
    record = {**self._pretrain(experience, context), **self._learn_labelled(experience, context)}
    self.num_learned.assign_add(1)
    return record

  @spending.event
  def _learn_labelled(self, experience: deliveries_lib.Experience, context: context_lib.Context
                      ) -> dict[str, Any]:
    if context.is_over:
      return dict(gradient.UNTRAINED)
    read = example_arrays.read(experience.fitted, experience.task, self.transform)
    images, labels = tf.constant(read.images), tf.constant(read.labels, tf.int64)
    shown, known = images, labels
    about = {}
    if self.memory is not None:
      held = self.memory.held()
      shown, known = tf.concat([images, held.codes], 0), tf.concat([labels, held.labels], 0)
      self.memory.add(images, labels)
      about["memory_held"] = int(self.memory.size)
    codes = self.head.codes(shown.numpy(), context)
    return {**about, **self.head.learn_codes(codes, known, context, experience.train.name)}

  @override
  def predict(self, images: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C] of prepared images."""
    return self.head.predict(images)

  def _features(self, images: tf.Tensor) -> tf.Tensor:
    return tf.cast(self.pretrainer.encoder(
        tf.cast(images, self.pretrainer.encoder.inputs[0].dtype), training=False), tf.float32)

  def _pretrain(self, experience: deliveries_lib.Experience, context: context_lib.Context
                ) -> dict[str, Any]:
    """The updates of a bucket, from where they were interrupted on."""
    if not self._updates or context.ledger.is_cut and context.journal.partial(_KEY) is None:
      return {}
    if experience.unlabelled is None:
      raise refusals.RefusedError(
          f"ContinuedEncoder learns from unlabelled images, but {experience.train.name!r} comes "
          "without. Take buckets of suite.data.streams.partly_labelled, or set updates to 0.")
    first = int(self.num_learned) * self._updates
    if first >= self._total:
      raise ValueError(f"ContinuedEncoder.num_buckets is {self._total // self._updates}, but there "
                       "are more buckets. Set it to their number.")
    done, losses, record = 0, 0.0, {}
    partial = context.journal.partial(_KEY)
    if partial is not None:
      learner_state.restore(self.pretrainer, partial.arrays)
      done, losses = int(partial.values["done"]), float(partial.values["losses"])
      record = dict(partial.values["record"])
    images = image_set.Unlabelled(experience.unlabelled)
    while done < self._updates and not (done and context.ledger.is_cut):
      num = min(self._save_every, self._updates - done)
      record = self.pretrainer.learn(
          deliveries_lib.Portion(images, first + done, num, self._total),
          dataclasses.replace(context, phase="pretrain"))
      num = record["updates"] - first - done  # Fewer where the budget ends.
      done, losses = done + num, losses + num * (record["train_loss"] or 0.0)
      if not num:
        break
      context.journal.save_partial(_KEY, {"done": done, "losses": losses, "record": record},
                                   dict(learner_state.arrays(self.pretrainer)))
    return {"pretrain_loss": losses / done if done else None, "encoder_updates": record["updates"],
            "encoder_rate": record["learning_rate"]}
