# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Labeled sets of several tasks as one: batches in groups, each group from one of the tasks.

A training pass is an endless sequence of groups g = 0, 1, 2, ...; a batch has K of them:

  in turn     K is the number of tasks; each batch has a group of every task
  drawn       the task of each group is drawn, from a hash of (seed, g)

The n-th group of a task holds the n-th batch of its own endless training pass. Batches are a pure
function of (seed, step), so that a training can be resumed at any step. Sets in memory share one
input pipeline (`joined_sets`). Otherwise each task has one, which takes a tenth of a second or more
to make; the batches are the same.

  image  uint8 [K, B / K, S, S, 3]
  label  uint8 [K, B / K, C], the classes of all tasks; see `class_codes`
  mask   bool [K, B / K]
"""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np
import tensorflow as tf

from suite.compute import private_tensorflow
from suite.compute import seeds as seeds_lib
from suite.contracts import class_codes
from suite.contracts import examples
from suite.contracts import tasks
from suite.contracts import transform as transform_lib
from suite.data.images import sampling
from suite.data.pipelines import fixed_order
from suite.data.streams import joined_sets

_TASK = 6  # A purpose of the seed, beside those of sampling.py and streamed_set.py.
_COUNTED_AT_ONCE = 1 << 16
_CHUNK = 64  # Elements whose tasks are drawn at once, by a pipeline.
_BUFFER_BYTES = 2**29  # Of prepared batches: every task's pipeline keeps some.


class TaskMixture:
  """Sets of T tasks, with all their classes in one numbering.

  Args:
    sets: by task.
    name: for messages.
    groups: K, if tasks are drawn; None: in turn.
    exponent: tasks are drawn in proportion to this power of their numbers of examples. 1: each
      example is as likely as any other; 0: each task is.

  Attributes:
    names: of the tasks.
    size: of all sets together.
    num_classes: C, of all tasks together.
    offsets: int [T + 1]; the classes of task t are offsets[t] ... offsets[t + 1] - 1.
  """

  kind = tasks.MULTI_LABEL  # As far as the shape of its labels goes.

  def __init__(self, sets: Mapping[str, examples.ExampleSet], *, name: str,
               groups: int | None = None, exponent: float = 1.0):
    if not sets:
      raise ValueError(f"{name!r} was given no tasks; a mixture has at least one.")
    if groups is not None and groups < 1:
      raise ValueError(f"groups={groups} of {name!r}; a batch has at least one group.")
    empty = [key for key, images in sets.items() if images.size < 1]
    if empty:
      raise ValueError(f"{', '.join(map(repr, empty))} of {name!r} without data; leave these tasks "
                       "out.")
    self.name, self.names, self._sets = name, tuple(sets), tuple(sets.values())
    self.size = sum(images.size for images in self._sets)
    self.offsets = np.cumsum([0, *(images.num_classes for images in self._sets)])
    self.num_classes = int(self.offsets[-1])
    self.num_groups = len(self._sets) if groups is None else groups
    shares = np.asarray([images.size for images in self._sets], np.float64) ** exponent
    self._bounds = None if groups is None else np.cumsum(shares / shares.sum())

  def __len__(self) -> int:
    return self.size

  def __repr__(self) -> str:
    return f"TaskMixture({self.name!r}, {len(self.names)} tasks, {self.size} images)"

  def sizes(self) -> dict[str, int]:
    """The number of examples of each task."""
    return {name: images.size for name, images in zip(self.names, self._sets)}

  def tasks_of(self, groups: tf.Tensor, seed: tuple[int, int]) -> tf.Tensor:
    """The tasks of groups: int64 [N] -> int64 [N]."""
    if self._bounds is None:
      return groups % len(self._sets)
    draws = sampling.uniform(sampling.derive(sampling.root_seed(seed, _TASK), groups), 1)[:, 0]
    found = tf.searchsorted(tf.constant(self._bounds[:-1]), draws, side="right")
    return tf.cast(found, tf.int64)

  @private_tensorflow.plain_data_functions()
  def group_batches(self, batch_size: int, *, seed: tuple[int, int],
                    transform: transform_lib.Transform, first_step: int = 0, shard_index: int = 0,
                    num_shards: int = 1, shards_here: int = 1) -> tf.data.Dataset:
    """Endless batches of K groups; arguments as of `ImageSet.train_batches`, batch_size is B."""
    if batch_size % self.num_groups:
      raise ValueError(f"A batch of {batch_size} cannot be divided into {self.num_groups} groups "
                       f"of {self.name!r}; give a multiple.")
    plans = [
        sampling.TrainPlan(
            size=images.size, batch_size=batch_size // self.num_groups,
            seed=seeds_lib.derive(seed[0], seed[1], "task", name), first_step=int(done),
            shard_index=shard_index, num_shards=num_shards, shards_here=shards_here)
        for name, images, done in zip(
            self.names, self._sets, self._counts(first_step * self.num_groups, seed))]

    @tf.autograph.experimental.do_not_convert
    def tasks_of(chunk: tf.Tensor) -> tf.Tensor:
      numbers = chunk * _CHUNK + tf.range(_CHUNK, dtype=tf.int64)
      steps = first_step + numbers // self.num_groups // shards_here
      return self.tasks_of(steps * self.num_groups + numbers % self.num_groups, seed)

    order = tf.data.Dataset.counter().map(tasks_of)
    if joined_sets.are_in_memory(self._sets):
      groups = joined_sets.batches(self._sets, plans, order, transform=transform,
                                   encode=self._codes, name=self.name)
    else:
      groups = tf.data.Dataset.choose_from_datasets(
          [images.train_batches(
              plan.batch_size, seed=plan.seed, transform=transform, first_step=plan.first_step,
              shard_index=shard_index, num_shards=num_shards, shards_here=shards_here
          ).map(self._coder(place))
           for place, (images, plan) in enumerate(zip(self._sets, plans))],
          order.unbatch(), stop_on_empty_dataset=False)
    batches = groups.batch(self.num_groups, drop_remainder=True)
    options = tf.data.Options()
    options.autotune.enabled = True  # The budget is the tuner's.
    options.autotune.ram_budget = _BUFFER_BYTES
    return fixed_order.with_fixed_order(batches).with_options(options).prefetch(tf.data.AUTOTUNE)

  @private_tensorflow.plain_data_functions()
  def train_batches(self, batch_size: int, **arguments: Any) -> tf.data.Dataset:
    """As `group_batches`, the groups one after the other: "image" [B, S, S, 3], "label" [B, C]."""
    def flat(batch: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
      return {key: tf.reshape(value, [value.shape[0] * value.shape[1], *value.shape[2:]])
              for key, value in batch.items()}

    batches = self.group_batches(batch_size, **arguments).map(flat)
    return fixed_order.with_fixed_order(batches).prefetch(tf.data.AUTOTUNE)

  def _counts(self, groups: int, seed: tuple[int, int]) -> np.ndarray:
    """How many of the first groups each task has, [T]."""
    counts = np.zeros([len(self._sets)], np.int64)
    for first in range(0, groups, _COUNTED_AT_ONCE):
      places = tf.range(first, min(groups, first + _COUNTED_AT_ONCE), dtype=tf.int64)
      counts += np.bincount(self.tasks_of(places, seed).numpy(), minlength=len(counts))
    return counts

  def _coder(self, place: int):
    """Makes groups of batches of one task."""
    images = self._sets[place]

    @tf.autograph.experimental.do_not_convert
    def coded(batch: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
      hot = (tf.one_hot(batch["label"], images.num_classes, dtype=tf.uint8)
             if images.kind == tasks.SINGLE_LABEL else tf.cast(batch["label"], tf.uint8))
      return {"image": batch["image"], "label": self._codes(tf.constant(place, tf.int64), hot),
              "mask": batch["mask"]}

    return coded

  def _codes(self, task: tf.Tensor, hot: tf.Tensor) -> tf.Tensor:
    """Codes uint8 [R, C] from the present classes of a task: int64 [] and uint8 [R, C of it]."""
    absent = [class_codes.ABSENT + (0 if images.kind == tasks.SINGLE_LABEL else class_codes.MULTI)
              for images in self._sets]
    own = hot * (class_codes.PRESENT - class_codes.ABSENT) + tf.gather(
        np.asarray(absent, np.uint8), task)
    first, last = tf.gather(self.offsets, task), tf.gather(self.offsets, task + 1)
    codes = tf.pad(own, [[0, 0], [first, self.num_classes - last]],
                   constant_values=class_codes.FOREIGN)
    return tf.ensure_shape(codes, [hot.shape[0], self.num_classes])
