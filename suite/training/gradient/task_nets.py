# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The nets of a gradient learner: one for all tasks, or one for each task, with its own head."""

from __future__ import annotations

import copy
from typing import Sequence

import tensorflow as tf

from suite.compute import seeds as seeds_lib
from suite.contracts import tasks
from suite.contracts import transform as transform_lib
from suite.training.gradient import array_loop
from suite.training.gradient import class_heads
from suite.training.gradient import composed_net
from suite.training.gradient import composition
from suite.training.gradient import trainable_parts
from suite.training.objectives import objective as objective_lib

_ONE = "all"


class TaskNets(tf.Module):
  """Makes nets as tasks come; those of different tasks share the trainable part.

  Args:
    part: prepared for the shape of examples.
    head: of the net; with `is_per_task` each task gets a copy.
    objective: built with the first net: for the whole net, or for what the tasks share.
    optimizer: of each net.
    storage: of rows that are augmented; None: rows are codes. replay_batch, devices: see
      `ArrayLoop`.
  """

  def __init__(self, part: trainable_parts.TrainablePart, head: class_heads.Linear,
               objective: objective_lib.Objective, optimizer: composition.OptimizerSpec,
               storage: transform_lib.Storage | None, replay_batch: int,
               devices: Sequence[str] = ()):
    super().__init__()
    self._devices = tuple(devices)
    self._part, self._head, self._objective, self._optimizer = part, head, objective, optimizer
    self._storage, self._replay_batch = storage, replay_batch
    self.nets: dict[str, composed_net.ComposedNet] = {}

  def select(self, task: tasks.Task, seed: int, seeds: seeds_lib.Seeds) -> bool:
    """Makes the net of the task if it is new; it is the one in use from now on.

    Args:
      task: its name is that of its head.
      seed: of first weights. seeds: of the run.

    Returns:
      Whether it is the first net.
    """
    per_task = self._head.is_per_task
    self._key = task.name if per_task else _ONE
    if self._key in self.nets:
      return False
    is_first = not self.nets
    if (isinstance(self._part, trainable_parts.Drifting)
        and type(self._objective) is not objective_lib.Objective):
      raise ValueError(f"The objective {type(self._objective).__name__} is for trained nets; norms "
                       "that drift are of fine-tuning by cross-entropy. Take AllLayers, or leave "
                       "the objective out.")
    shared = None if is_first else next(iter(self.nets.values())).upper
    head = copy.deepcopy(self._head) if per_task else self._head
    net = composed_net.ComposedNet(self._part, head, task.num_classes, shared)
    if is_first:
      net.set_weights(seed)
      guarded = net.upper if per_task else net.model
      if guarded is not None:
        self._objective.build(guarded, losses_of=self._losses_of, seed=seeds.pair("objective"))
    else:
      net.set_head(seed)
    optimizer = self._optimizer.build(net.trained_variables)
    if self._optimizer.keep:
      net.optimizer = optimizer  # A checkpoint holds its velocities.
    self.nets[self._key] = net
    storage = self._storage
    net.trained_by = net.loop(
        self._objective, optimizer, kind=task.kind, replay_batch=self._replay_batch,
        devices=self._devices,
        augment=None if storage is None else storage.train,
        prepare=None if storage is None else storage.evaluate)
    scale = net.trained_by.step.scaling.state
    if self._optimizer.keep and scale:
      net.loss_scale = list(scale)
    return is_first

  def _losses_of(self, images: tf.Tensor, labels: tf.Tensor, known: tf.Tensor | None = None
                 ) -> tf.Tensor:
    return self.loop.step.losses_of(self.loop.prepared(images), labels, known)

  @property
  def net(self) -> composed_net.ComposedNet:
    """The net of the task selected last."""
    return self.nets[self._key]

  @property
  def loop(self) -> array_loop.ArrayLoop:
    """The loop of that net."""
    return self.net.trained_by
