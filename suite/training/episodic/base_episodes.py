# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Meta-training before a sequence: its episodes and learning rates (FLUID).

Its images are those of a pretraining set, from which backbones of other learners come, or of the
base classes of the sequence. The paper trains Prototypical Networks and MAML from scratch on 5-shot
30-way episodes, for 100 epochs at a rate of 0.01 that is halved every 40.
"""

from __future__ import annotations

import dataclasses
import time
from typing import Any, Callable

import numpy as np
import tensorflow as tf

from suite.compute import flops
from suite.contracts import examples as examples_lib
from suite.contracts import rehearsal
from suite.contracts import tasks
from suite.contracts import transform as transform_lib
from suite.data.episodes import episodes as episodes_lib
from suite.data.episodes import task_types
from suite.data.images import example_arrays
from suite.models import precision
from suite.state import context as context_lib

OPTIMIZERS = ("sgd", "adamw")


class Stairs(tf.keras.optimizers.schedules.LearningRateSchedule):
  """A rate that is multiplied by `factor` after every `every` updates."""

  def __init__(self, rate: float, factor: float, every: int):
    self.rate, self.factor, self.every = rate, factor, every

  def __call__(self, step: tf.Tensor) -> tf.Tensor:
    falls = tf.cast(tf.cast(step, tf.int64) // self.every, tf.float32)
    return self.rate * tf.pow(tf.constant(self.factor), falls)

  def get_config(self) -> dict[str, Any]:
    return {"rate": self.rate, "factor": self.factor, "every": self.every}


@dataclasses.dataclass(frozen=True)
class BaseEpisodes:
  """The episodes of a meta-training and their schedule.

  Attributes:
    way: classes of an episode; all base classes, if there are fewer.
    shot: support images of a class.
    targets: target images of a class.
    epochs: the number of epochs.
    updates_per_epoch: updates in an epoch, of one episode each.
    learning_rate: the initial rate.
    factor: multiplies the rate after every `every` epochs.
    every: see `factor`.
    optimizer_name: "sgd", with a momentum of 0.9, or "adamw".
    images: returns the set to meta-train on, called when that begins; None: what is delivered
      first.
  """

  way: int = 30
  shot: int = 5
  targets: int = 5
  epochs: int = 100
  updates_per_epoch: int = 100
  learning_rate: float = 0.01
  factor: float = 0.5
  every: int = 40
  optimizer_name: str = "sgd"
  images: Callable[[], examples_lib.ExampleSet] | None = None

  def __post_init__(self):
    if self.optimizer_name not in OPTIMIZERS:
      raise ValueError(f"BaseEpisodes.optimizer_name is {self.optimizer_name!r}; allowed are "
                       f"{', '.join(OPTIMIZERS)}.")

  @property
  def num_updates(self) -> int:
    """The number of updates in all epochs."""
    return self.epochs * self.updates_per_epoch

  def optimizer(self) -> tf.keras.optimizers.Optimizer:
    """Returns a new optimizer, not built."""
    rate = Stairs(self.learning_rate, self.factor, self.every * self.updates_per_epoch)
    # jit_compile: XLA is slower on CPU, and hides the update from a graph's FLOP count.
    if self.optimizer_name == "adamw":
      return tf.keras.optimizers.AdamW(rate, weight_decay=1e-4, jit_compile=False)
    return tf.keras.optimizers.SGD(rate, momentum=0.9, jit_compile=False)

  def examples(self, delivered: example_arrays.Examples, transform: transform_lib.Transform
               ) -> example_arrays.Examples:
    """Returns the examples to meta-train on, given those that were delivered first."""
    if self.images is None:
      return delivered
    found = self.images()
    task = tasks.Task("episodes", tasks.SINGLE_LABEL, found.num_classes)
    return example_arrays.read([found], task, transform)

  def source(self, images: np.ndarray, labels: np.ndarray, seed: int) -> episodes_lib.Episodes:
    """Returns episodes over base images uint8 [N, H, W, 3] with labels int64 [N]."""
    num_classes = len(np.unique(labels))
    if num_classes < 2:
      raise ValueError(f"The images to meta-train on have {num_classes} class; an episode needs at "
                       "least 2. Give images of more classes, or a learner that is not "
                       "meta-trained, such as NearestMean.")
    way = min(self.way, num_classes)
    setting = task_types.Setting(way=way, shot=self.shot, targets=self.targets)
    return episodes_lib.Episodes(
        images, labels, setting, data="base classes", split="train", seed=seed)

  def run(self, update: Callable[[Any], tf.Tensor], images: np.ndarray, labels: np.ndarray,
          context: context_lib.Context) -> dict[str, Any]:
    """Makes all updates, charged to the context's phase; returns values for the record.

    Args:
      update: a `tf.function` of a batch of one episode that returns its loss.
      images: uint8 [N, H, W, 3].
      labels: int64 [N].
      context: of the event.
    """
    precision.check_no_loss_scale("A network on base episodes")
    began, source = time.monotonic(), self.source(images, labels, context.seeds.integer("episodes"))
    losses, cost = [], flops.ZERO
    batches = source.batches(1)

    def make(num: int) -> None:
      for number, batch in enumerate(batches.take(num)):
        losses.append(update(batch))
        if (number + 1) % self.updates_per_epoch == 0:
          context.report(step=number + 1, steps=self.num_updates, loss=float(losses[-1]))

    if self.num_updates:
      cost = flops.count(_concrete(update, batches.element_spec)) * self.num_updates
      rehearsal.few(source, "update", self.num_updates, make, least=0)
    shown = self.num_updates * len(source.labels)
    context.ledger.charge(
        context.phase, flops=cost.flops, macs=cost.macs, steps=self.num_updates, examples=shown,
        seconds=time.monotonic() - began)
    last = losses[-self.updates_per_epoch:]
    return {"way": source.setting.way, "meta_classes": len(np.unique(labels)),
            "meta_updates": self.num_updates, "meta_loss": float(np.mean(last)) if last else None}


def _concrete(update: Any, spec: Any) -> Any:
  return update.get_concrete_function(spec)


def parts(batch: episodes_lib.Episode) -> tuple[tf.Tensor, ...]:
  """Returns support images [B, H, W, C], labels [B], target images and labels of a batch of one."""
  return (batch.support_images[0, 0], batch.support_labels[0, 0], batch.target_images[0],
          batch.target_labels[0])
