# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The contract between a learner and any protocol.

A learner is told of a task (`begin`), shown its examples (`learn`) and asked about images (`predict`). It never
sees the protocol, the records, a test label or anything that was not delivered yet.

What it knows lives in two places, and nowhere else, so that a run can stop and go on:
  * `tf.Variable`s made in `begin`: it is a `tf.Module`, and one `tf.train.Checkpoint` holds them;
  * `context.store`: arrays that are too many for a checkpoint, kept by event.
To go on, a protocol calls `begin` for every task delivered so far, in order, and then restores the checkpoint.
"""

from __future__ import annotations

from typing import Any, Dict, Protocol, Tuple

import tensorflow as tf

from suite.data import experience as experience_lib
from suite.data import tasks
from suite.training import context as context_lib


class Learner(Protocol):
  """Learns a stream of tasks, buckets or samples.

  Attributes:
    transform: how it wants its images (see `suite.data.image_ops`): the protocol prepares what `predict` is given
      with `transform.evaluate`, the learner itself what it trains on.
  """

  transform: Any

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """The next `learn` or `predict` is about this task; makes its variables if it is new. Cheap."""

  def learn(self, experience: experience_lib.Experience, context: context_lib.Context) -> Dict[str, Any]:
    """Learns from one delivery; returns plain values for the record (may be empty)."""

  def predict(self, images: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] for images [B, H, W, 3] as `transform.evaluate` returns them; traced into a graph."""


class EpisodicLearner(Protocol):
  """Learns within an episode by pure functions on tensors, so that many episodes run in one compiled graph.

  B images; W classes (ways) of the whole task.
  """

  transform: Any

  def initial_state(self, num_classes: int) -> Any:
    """The state before the first support set: a structure of tensors of fixed shapes."""

  def adapt(self, state: Any, images: tf.Tensor, labels: tf.Tensor) -> Any:
    """The state after one support set, images [B, H, W, 3] and labels [B]; the set is gone afterwards."""

  def logits(self, state: Any, images: tf.Tensor) -> tf.Tensor:
    """Logits [B, W] for images [B, H, W, 3]."""

  def meta_loss(self, episode: Tuple[tf.Tensor, ...]) -> tf.Tensor:
    """The loss of one episode, [], to be minimised by meta-training; learners without it are not meta-trained."""
