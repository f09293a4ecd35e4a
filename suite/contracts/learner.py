# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The contracts between learners and protocols.

A learner is given a task (`begin`), examples of it (`learn`) and images to classify (`predict`). It
never sees the protocol, the records, a test label or data that was not delivered yet.

All its knowledge is in two places, so that a run can stop and resume:
  * `tf.Variable`s made in `begin`: it is a `tf.Module`, and one `tf.train.Checkpoint` holds them;
  * `context.store`: arrays that are too large for a checkpoint, kept by event.
To resume, a protocol calls `begin` for every task delivered so far, in order, and then restores the
checkpoint.

    Learner               whole tasks or buckets (nevis, clear)
    SequenceLearner       also one sample at a time (fluid)
    EpisodicLearner       support sets, by pure functions (cfsl)
    PretrainingLearner    portions of one long training (pretrain)

Methods and attributes that are called optional below are there from construction on; a protocol
asks for them once (`capabilities`, `refusals`). Any learner may have these:

    form(delivery)  the learner with the same settings that serves a delivery (see `deliveries`);
                    called before `begin`; missing: the learner itself
    deliveries      the deliveries that it can serve; missing: all that its methods allow
    kinds           the kinds of tasks that it can learn; missing: all of `tasks.KINDS`
    predict_stays   True if `predict` stays the same function after `learn`, so that its compiled
                    graph can be kept: only variables change
    shares_updates  True if the replicas of `context.distribution` share its updates; missing: only
                    a meta-learner's, and any other learns on one device, in every process alike
"""

from __future__ import annotations

from typing import Any, Protocol, Sequence

import numpy as np
import tensorflow as tf

from suite.compute import mac_views
from suite.contracts import experience as experience_lib
from suite.contracts import portions
from suite.contracts import stored_samples
from suite.contracts import tasks
from suite.contracts import transform as transform_lib
from suite.state import context as context_lib


class Beginner(Protocol):
  """The part that all learners share.

  It is a `tf.Module`. `begin` refuses a task or a `context.delivery` that the learner cannot serve,
  with a ValueError that says what was got, what is allowed and what to do next.
  """

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """The next calls are about this task; makes its variables if it is new. Cheap."""

  @property
  def variables(self) -> Sequence[tf.Variable]:
    """All variables, as of any `tf.Module`."""


class Learner(Beginner, Protocol):
  """Learns whole tasks, or one task bucket by bucket."""

  @property
  def transform(self) -> transform_lib.Transform:
    """Image preparation (see `suite.data.images.image_ops`).

    The protocol prepares the images of `predict` with `transform.evaluate`; the learner prepares
    those that it trains on.
    """

  def learn(
      self, experience: experience_lib.Experience, context: context_lib.Context
  ) -> dict[str, Any]:
    """Learns from one delivery; returns plain values for the record (may be empty).

    Training is charged to `context.phase`; search, selection and validation have their own phases.
    """

  def predict(self, images: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] for images [B, H, W, 3] as `transform.evaluate` returns them; traced.

    Raises:
      RuntimeError: it cannot answer before `learn`.
    """


class SequenceLearner(Learner, Protocol):
  """A learner that also answers single samples, one after the other.

  `learn` gets the base classes only. The task's C is the number of classes in the sequence; the
  protocol knows which of them are known, and looks at the logits of these only. All functions of
  tensors are traced into a graph, with any number of samples B. The methods of `InstanceLearner`
  and `OfflineLearner` are optional, each by itself, and so are:

      mac_layers()     see `LayerwiseLearner`
      new_below        a float: the largest logit below which a sample is of a new class; fixed by
                       `learn` or `learn_stored`
      see(codes)       None, or a function of codes to what `answer` takes, where codes are numbers
                       of samples whose images are read when they are looked at; `update`, if
                       there is one, takes either
      frozen_features  None, or the `FrozenBackbone` that `encode` is: its codes may be shared
      know_base(known, context)
                       called before the first step with the classes bool [C] that are known
                       without examples of them; returns plain values for the record
  """

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Codes [B, ...] of images [B, H, W, 3]: features, or the images themselves.

    `learn` is the last to change a code. It depends on its own image only, so that codes are
    computed once and in advance.
    """

  def answer(self, codes: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] of codes [B, ...], row by row; changes no variable."""


class InstanceLearner(SequenceLearner, Protocol):
  """Learns from each label when it is revealed.

  `answer_in_turn` makes many steps one call. Without it, or where labels come late, steps are a
  compiled loop of `answer` and `update`.
  """

  def update(self, codes: tf.Tensor, labels: tf.Tensor) -> None:
    """Learns from codes [B, ...] and labels int64 [B] as if they had come one by one."""

  def answer_in_turn(self, codes: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Logits [B, C], row t as if `update` had learned rows 0..t-1; changes no variable.

    A run compares some rows with `update` and `answer` in turn, and stops if they differ.
    """


class OfflineLearner(SequenceLearner, Protocol):
  """Trains in offline phases on all labels that have been revealed."""

  def learn_stored(
      self, stored: stored_samples.Stored, context: context_lib.Context) -> dict[str, Any]:
    """An offline phase, charged to `context.phase`; returns plain values for the record.

    One of them is "passes", the number of samples that went forward and backward. If samples also
    go forward through a second model, "teacher_passes" counts these.
    """

  def stored_macs(self, num_stored: int) -> int | None:
    """MACs of an offline phase over `num_stored` samples, for strategies with a budget; optional.
    """


class LayerwiseLearner(SequenceLearner, Protocol):
  """Knows the cost of its layers."""

  def mac_layers(self) -> tuple[list[mac_views.Layer], list[mac_views.Layer]]:
    """The layers of backbone and head, for `mac_views.views`."""


class EpisodicLearner(Beginner, Protocol):
  """Learns within an episode by pure functions on tensors: many episodes run in one compiled graph.

  Its variables are changed by meta-training only: an episode changes none, and all that is learned
  within it is in the state that `adapt` returns. B images; W classes (ways) of the whole task.
  `MetaLearner` and `EncodingLearner` are optional.
  """

  @property
  def transform(self) -> transform_lib.Transform:
    """As of `Learner`."""

  @property
  def transductive(self) -> bool:
    """Whether an answer may depend on the other target images; for the record."""

  def initial_state(self, num_classes: int) -> Any:
    """The state before the first support set: a structure of tensors of fixed shapes."""

  def adapt(self, state: Any, codes: tf.Tensor, labels: tf.Tensor) -> Any:
    """The state after one support set, codes [B, ...] and labels [B], which is not shown again."""

  def logits(self, state: Any, codes: tf.Tensor) -> tf.Tensor:
    """Logits [B, W] for codes [B, ...]."""


class EncodingLearner(EpisodicLearner, Protocol):
  """Encodes images before episodes are formed; without `encode`, codes are the images."""

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Codes [B, ...] of images [B, H, W, 3], row by row; no episode changes them.

    The images of all validation or test episodes are encoded only once.
    """


class MetaLearner(EpisodicLearner, Protocol):
  """A learner that is meta-trained.

  Attributes:
    optimizer: of the meta-training, built in `begin`, so that a checkpoint holds its moments.
  """

  optimizer: tf.keras.optimizers.Optimizer

  @property
  def trainable_variables(self) -> Sequence[tf.Variable]:
    """The variables that meta-gradients change."""

  def meta_loss(self, episode: tuple[tf.Tensor, ...]) -> tuple[tf.Tensor, Any]:
    """The loss [] of one episode of images, which meta-training minimizes; and its statistics.

    The statistics, a structure of tensors or (), are for variables without gradients, such as
    running means: episodes run side by side, so no variable may be written here.

    Optional is `meta_loss_together(episodes)`: the mean over E episodes, each part with a leading
    axis E, and the sum of their statistics; `cfsl.run.task_batching = 'grouped'` calls it.
    """

  def zero_statistics(self) -> Any:
    """Zeros in the structure of the statistics."""

  def update_statistics(self, seen: Any) -> None:
    """Called after each update with the sum of the statistics of all its episodes."""


class PretrainingLearner(Beginner, Protocol):
  """Trains an encoder."""

  @property
  def transform(self) -> transform_lib.Transform:
    """Image preparation, as of `Learner`."""

  @property
  def encoder(self) -> tf.keras.Model:
    """Images to features; the result of the training."""

  @property
  def name_of_pretext(self) -> str:
    """Name of the pretext task, for the record."""

  def start_from(self, weights: Sequence[np.ndarray]) -> None:
    """Gives the encoder first weights, after `begin`; only a learner that starts so calls it."""

  def learn(self, portion: portions.Portion, context: context_lib.Context) -> dict[str, Any]:
    """Does the portion's updates; returns plain values for the record."""
