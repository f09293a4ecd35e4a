# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The contracts between learners and protocols.

A learner is told of a task (`begin`), shown its examples (`learn`) and asked about images
(`predict`). It never sees the protocol, the records, a test label or anything that was not
delivered yet.

What it knows lives in two places, and nowhere else, so that a run can stop and go on:
  * `tf.Variable`s made in `begin`: it is a `tf.Module`, and one `tf.train.Checkpoint` holds them;
  * `context.store`: arrays that are too many for a checkpoint, kept by event.
To go on, a protocol calls `begin` for every task delivered so far, in order, and then restores the
checkpoint.

    Learner           whole tasks or buckets (nevis, clear)
    StreamLearner     also one sample at a time (fluid)
    EpisodicLearner   support sets, by pure functions (cfsl)
"""

from __future__ import annotations

from typing import Any, Dict, Optional, Protocol, Sequence, Tuple

import tensorflow as tf

from suite.contracts import experience as experience_lib
from suite.contracts import stored_samples
from suite.contracts import tasks
from suite.state import context as context_lib


class Learner(Protocol):
  """Learns a stream of tasks, buckets or samples.

  Attributes:
    transform: how it wants its images (see `suite.data.images.image_ops`): the protocol prepares
      what `predict` is given with `transform.evaluate`, the learner itself what it trains on.
  """

  transform: Any

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """The next `learn` or `predict` is about this task; makes its variables if it is new. Cheap."""

  def learn(
      self, experience: experience_lib.Experience, context: context_lib.Context
  ) -> Dict[str, Any]:
    """Learns from one delivery; returns plain values for the record (may be empty).

    Training is charged to `context.phase`; a search, a selection and validations have phases of
    their own.
    """

  def predict(self, images: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] for images [B, H, W, 3] as `transform.evaluate` returns them; traced."""


class StreamLearner(Learner, Protocol):
  """A learner that also answers single samples, one after the other.

  `learn` is shown the base classes only. The task's C is the number of slots that labels may take;
  which of them are known is the protocol's affair: it looks at the logits of known classes only.
  All functions of tensors are traced into a graph, with any number of samples B. A learner has what
  it needs of `InstanceLearner` and `OfflineLearner`, too. Further attributes, all optional:

      mac_layers()     the layers of backbone and head for `mac_views.views`
      new_below        a float: the novelty score below which a sample is of a new class; fixed by
                       `learn` or `learn_stored`
  """

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """What nothing after `learn` changes of images [B, H, W, 3]: features, or the images [B, ...].

    A code is of its own image alone, so that many can be made ahead, and is made once.
    """

  def answer(self, codes: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] of codes [B, ...], each of its own code alone; changes nothing."""


class InstanceLearner(StreamLearner, Protocol):
  """Learns from each label when it is revealed.

  With `answer_in_turn` many steps are one call. It is not needed: without it, or where labels come
  late, steps are a compiled loop of `answer` and `update`.
  """

  def update(self, codes: tf.Tensor, labels: tf.Tensor) -> None:
    """Learns from codes [B, ...] and labels int64 [B] as if they had come one by one."""

  def answer_in_turn(self, codes: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Logits [B, C], each as if the labels before it had been learned from; changes nothing."""


class OfflineLearner(StreamLearner, Protocol):
  """Trains, now and then, on all that has been revealed."""

  def learn_stored(
      self, stored: stored_samples.Stored, context: context_lib.Context) -> Dict[str, Any]:
    """An offline phase, charged to `context.phase`; returns plain values for the record.

    Among them "passes": how many times a sample went forward and backward. "teacher_passes", if
    there are any: forward only, through a second model.
    """

  def stored_macs(self, num_stored: int) -> Optional[int]:
    """MACs of an offline phase over so many samples, for strategies with a budget; may be left out.
    """


class EpisodicLearner(Protocol):
  """Learns within an episode by pure functions on tensors: many episodes run in one compiled graph.

  It is a `tf.Module`, and its variables are what meta-training changes: an episode changes none,
  all that it learns is in the state that `adapt` returns. B images; W classes (ways) of the whole
  task.

  Attributes:
    transform: as of `Learner`.
    variables, trainable_variables: as of any `tf.Module`.
    transductive: whether an answer may depend on the other target images; for the record.
    optimizer: of the meta-training, built in `begin`, so that a checkpoint holds its moments.
      Needed together with `meta_loss`, `zero_statistics` and `update_statistics`; a learner that
      is not meta-trained has none of them.
  """

  transform: Any
  transductive: bool
  optimizer: tf.keras.optimizers.Optimizer

  @property
  def variables(self) -> Sequence[tf.Variable]:
    """What meta-training changes, and running statistics."""

  @property
  def trainable_variables(self) -> Sequence[tf.Variable]:
    """What meta-training changes."""

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Makes the variables, once; the task's C is W."""

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """What no episode changes of images [B, H, W, 3], each by itself: their codes [B, ...].

    May be left out: then codes are the images. Where it is there, the images of all validation or
    test episodes are encoded only once.
    """

  def initial_state(self, num_classes: int) -> Any:
    """The state before the first support set: a structure of tensors of fixed shapes."""

  def adapt(self, state: Any, codes: tf.Tensor, labels: tf.Tensor) -> Any:
    """The state after one support set, codes [B, ...] and labels [B]; the set is gone then."""

  def logits(self, state: Any, codes: tf.Tensor) -> tf.Tensor:
    """Logits [B, W] for codes [B, ...]."""

  def meta_loss(self, episode: Tuple[tf.Tensor, ...]) -> Tuple[tf.Tensor, Any]:
    """The loss of one episode of images, [], to be minimised by meta-training; and what it saw.

    What it saw, a structure of tensors or (), is for what gradients do not train, such as running
    statistics: nothing may be written here, since episodes run side by side.
    """

  def zero_statistics(self) -> Any:
    """Zeros in the place of what `meta_loss` saw."""

  def update_statistics(self, seen: Any) -> None:
    """After each update: the sum of what `meta_loss` saw in all of its episodes."""
