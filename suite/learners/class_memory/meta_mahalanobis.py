# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Simple CNAPS (Bateni et al., 2020) for tasks, buckets and sequences: FiLM layers and statistics.

The net is meta-trained on episodes of a pretraining set, or of what is delivered first: the base
classes of a sequence (FLUID), the first bucket (CLEAR), the first task (NEVIS). Afterwards it stays
as it is.

The paper makes the FiLM layers of a task from its support set, and features of support and targets
by these layers. A sequence is one task whose support set grows with every label. Other layers after
each label would change the features of all samples so far, and with them all means and covariances,
which need the samples again. So the first delivery of a task, in FLUID the images of the base
classes, makes its FiLM layers, which stay (the authors' code for continual learning calls this
"first-encoding"); learning then adds features to class means and covariances as `mahalanobis` does,
which has the same head on the backbone alone.

Where the base classes are known without examples of them (`base_is_known` of FLUID), `base` has
images of them for the meta-training and the FiLM layers; means and covariances begin without them,
as those of `mahalanobis` and `nearest_mean` there.

C classes, D features, F channels of all FiLM layers, Z numbers in the embedding of a task.
"""

from __future__ import annotations

import functools
import time
from typing import Any

import numpy as np
import tensorflow as tf

from suite.compute import flops
from suite.compute import mac_views
from suite.compute import user_code
from suite.contracts import deliveries
from suite.contracts import examples
from suite.contracts import refusals
from suite.contracts import tasks
from suite.data.images import example_arrays
from suite.models.episodic import film as film_lib
from suite.state import context as context_lib
from suite.training.episodic import base_episodes
from suite.training.sequence import running_mahalanobis
from suite.training.sequence import statistics_learner


class FilmedStatistics(running_mahalanobis.RunningMahalanobis):
  """Means, covariances and FiLM layers of a task.

  Args:
    num_classes, num_features, ridge: as of `RunningMahalanobis`.
    num_channels: F.
  """

  def __init__(self, num_classes: int, num_features: int, num_channels: int, *, ridge: float):
    super().__init__(num_classes, num_features, ridge=ridge)
    self.scale = tf.Variable(tf.ones([num_channels]), trainable=False, name="film_scale")
    self.offset = tf.Variable(tf.zeros([num_channels]), trainable=False, name="film_offset")
    self.has_film = tf.Variable(False, trainable=False, name="has_film")

  @property
  def film(self) -> film_lib.Film:
    """The FiLM layers; before `set_film` they change nothing."""
    return film_lib.Film(self.scale.read_value(), self.offset.read_value())

  def set_film(self, film: film_lib.Film) -> None:
    """Gives the task its FiLM layers."""
    self.scale.assign(film.scale)
    self.offset.assign(film.offset)
    self.has_film.assign(True)


class MetaMahalanobis(statistics_learner.StatisticsLearner[FilmedStatistics]):
  """A `SequenceLearner` for single-label tasks, buckets and sequences.

  Each class of the first task must have images enough for an episode. The state is that of
  `Mahalanobis` and 2 F numbers a task.

  Args:
    net: what is meta-trained.
    episodes: the episodes of the meta-training.
    transform: image preparation; its `size` is H = W.
    base: images of the base classes as the transform stores them (images or numbers), for a
      sequence whose base classes are known without examples; read when that begins.
    batch_size: images whose features are computed at once in `learn`.
  """

  def __init__(self, net: base_episodes.FilmedNet, *, episodes: base_episodes.BaseEpisodes,
               transform: examples.Transform, base: example_arrays.Examples | None = None,
               batch_size: int = 256):
    refusals.check_method(
        net, ("begin", "embed", "film", "features", *refusals.META), "SimpleCnaps")
    base_episodes.check_images(transform, "MetaMahalanobis", "Mahalanobis")
    super().__init__(
        lambda num_classes, num_features: FilmedStatistics(
            num_classes, num_features, net.num_channels, ridge=net.ridge),
        method="MetaMahalanobis", transform=transform, features=self._by_film,
        batch_size=batch_size)
    self.net, self._episodes = net, episodes
    self._base = lambda: base  # Not an attribute itself: checkpoints hold variables alone.
    self.is_trained: tf.Variable | None = None

  def form(self, delivery: str) -> Any:
    """Returns the net for episodes, which the protocol meta-trains; else this learner."""
    return self.net if delivery == deliveries.EPISODES else self

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Makes the net for the first task; selects the statistics of the task."""
    if self.is_trained is None:
      base_episodes.begin(self.net, self._episodes, context)
      self.is_trained = tf.Variable(False, trainable=False, name="is_trained")
    super().begin(task, context)

  @functools.cached_property
  def _num_features(self) -> int:
    return self.net.num_features

  def _by_film(self, images: tf.Tensor) -> tf.Tensor:
    return self.net.features(images, self.statistics.film)

  def learn(
      self, experience: deliveries.Experience, context: context_lib.Context
  ) -> dict[str, Any]:
    """Adds the training split to means and covariances, and inverts.

    Before, the first delivery of all meta-trains the net, and that of a task makes its FiLM layers.
    """
    record: dict[str, Any] = {}
    if not bool(self.statistics.has_film):
      read = example_arrays.read([experience.train], experience.task, self.transform)
      record = self._adapt(read, context)
    return {**super().learn(experience, context), **record}

  def know_base(self, known: np.ndarray, context: context_lib.Context) -> dict[str, Any]:
    """Meta-trains the net and makes the FiLM layers on `base`."""
    return self._adapt(base_episodes.base_images(
        self._base(), known, self.transform, owner=self, instead="Mahalanobis",
        batch_size=self._batch_size), context)

  def _adapt(self, read: example_arrays.Examples, context: context_lib.Context) -> dict[str, Any]:
    """Meta-trains the net, if that was not done before, and makes the FiLM layers of the task."""
    assert self.is_trained is not None
    record: dict[str, Any] = {}
    if not bool(self.is_trained):
      record = base_episodes.train(self.net, self._episodes, read, self.transform, context)
      self.is_trained.assign(True)
    began, num = time.monotonic(), len(read.images)
    embed, film = (user_code.compiled(fn) for fn in (self.net.embed, self.net.film))
    z = tf.reduce_mean(base_episodes.by_batches(
        self, "embed", embed, read.images, self._batch_size), axis=0)
    self.statistics.set_film(film(z))
    one = tf.TensorSpec([1, *read.images.shape[1:]], read.images.dtype)
    cost = (flops.count(embed.get_concrete_function(one)) * num
            + flops.count(film.get_concrete_function(tf.TensorSpec(z.shape, z.dtype))))
    context.ledger.charge(context.phase, flops=cost.flops, macs=cost.macs, examples=num,
                          seconds=time.monotonic() - began)
    return {**record, "film_images": num}

  def mac_layers(self) -> tuple[list[mac_views.Layer], list[mac_views.Layer]]:
    """Returns the backbone as one layer, and the means."""
    return ([mac_views.Layer("backbone", self._encode_macs, trained=False)],
            super().mac_layers()[1])

  @functools.cached_property
  def _encode_macs(self) -> int:
    one = tf.TensorSpec([1, *example_arrays.shape(self.transform)],
                        example_arrays.dtype(self.transform))
    return flops.count(user_code.compiled(self.encode).get_concrete_function(one)).macs or 0
