# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Statistics of features that are meta-trained once, on the first data that is delivered.

  Prototypical Networks   net = protonet.ProtoNet(similarity="euclidean"), trained from scratch
  Meta-Baseline           net = protonet.ProtoNet(similarity="cosine"), on a pretrained embedding
  ConstellationNet        the same from scratch, on a `constellation.ClusteredEmbedding`
  Simple CNAPS            net = simple_cnaps.SimpleCnaps(...), on a pretrained backbone

The net is meta-trained on episodes of a pretraining set or the base classes of a sequence (FLUID),
of the first bucket (CLEAR) or of the first task (NEVIS). Afterwards it stays as it is, and learning
adds to statistics, as `StatisticsLearner` does: with every label of a sequence, every bucket, and
for each task apart. Where the base classes are known without examples of them (`base_is_known` of
FLUID), `base` has images of them for the meta-training; statistics begin without them. Within
episodes the net itself is the learner (`form`).

Simple CNAPS makes the FiLM layers of a task from its support set, and features of support and
targets by these layers. A sequence is one task whose support set grows with every label. Other
layers after each label would change the features of all samples so far, and with them all means and
covariances, which need the samples again. So the first delivery of a task, in FLUID the images of
the base classes, makes its FiLM layers, which stay (the authors' code for continual learning calls
this "first-encoding").

C classes, D features, F channels of all FiLM layers, Z numbers in the embedding of a task.
"""

from __future__ import annotations

import functools
import time
from typing import Any

import numpy as np
import tensorflow as tf
from typing_extensions import override

from suite.compute import flops
from suite.compute import mac_views
from suite.compute import user_code
from suite.contracts import deliveries
from suite.contracts import examples
from suite.contracts import learner
from suite.contracts import refusals
from suite.contracts import spending
from suite.contracts import tasks
from suite.data.images import example_arrays
from suite.learners import statistics_learner
from suite.models.episodic import film as film_lib
from suite.state import context as context_lib
from suite.training.episodic import base_episodes
from suite.training.gradient import frozen_backbone
from suite.training.statistics import class_covariances
from suite.training.statistics import class_means
from suite.training.statistics import statistic as statistic_lib


class MetaStatistics(statistics_learner.StatisticsLearner):
  """A `StatisticsLearner` of images on a net that is meta-trained first.

  Each class of the first task must have images enough for an episode.

  Args:
    net: what is meta-trained.
    statistic: what is summed of its features.
    features: its features of images.
    episodes: the episodes of the meta-training.
    transform: image preparation; its `size` is H = W.
    base: images of the base classes as the transform stores them (images or numbers), for a
      sequence whose base classes are known without examples; read when that begins.
    batch_size: images whose features are computed at once in `learn`.
  """

  def __init__(self, net: learner.EpisodicLearner, statistic: statistic_lib.Statistic,
               features: frozen_backbone.FeatureFn, *, episodes: base_episodes.BaseEpisodes,
               transform: examples.Transform, base: example_arrays.Examples | None,
               batch_size: int):
    base_episodes.check_images(transform, type(self).__name__, "StatisticsLearner")
    super().__init__(
        statistic, transform=transform, features=features, batch_size=batch_size)
    self.net, self._episodes = net, episodes
    self._base = lambda: base  # Not an attribute itself: checkpoints hold variables alone.
    self.is_trained: tf.Variable | None = None

  @override
  def form(self, delivery: str) -> learner.BaseLearner:
    """Returns the net for episodes, which the protocol meta-trains; else this learner."""
    return self.net if delivery == deliveries.EPISODES else self

  @override
  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Makes the net for the first task; selects the statistics of the task."""
    if self.is_trained is None:
      base_episodes.begin(self.net, self._episodes, context)
      self.is_trained = tf.Variable(False, trainable=False, name="is_trained")
    super().begin(task, context)

  @override
  @spending.event
  def learn(
      self, experience: deliveries.Experience, context: context_lib.Context
  ) -> dict[str, Any]:
    """Adapts the net if the task needs that; then adds the training split to the statistics."""
    record: dict[str, Any] = {}
    if not self._is_adapted():
      parts = [experience.train] if context.delivery == deliveries.SEQUENCE else experience.fitted
      record = self._adapt(
          example_arrays.read(parts, experience.task, self.transform), context)
    return {**super().learn(experience, context), **record}

  @override
  @spending.event
  def know_base(self, known: np.ndarray, context: context_lib.Context) -> dict[str, Any]:
    """Adapts the net to `base`."""
    return self._adapt(base_episodes.base_images(
        self._base(), known, self.transform, owner=self, instead="StatisticsLearner",
        batch_size=self._batch_size), context)

  def _is_adapted(self) -> bool:
    return bool(self.is_trained)

  def _adapt(self, read: example_arrays.Examples, context: context_lib.Context) -> dict[str, Any]:
    """Meta-trains the net, if that was not done before."""
    assert self.is_trained is not None
    if bool(self.is_trained):
      return {}
    record = base_episodes.train(self.net, self._episodes, read, self.transform, context)
    self.is_trained.assign(True)
    return record

  @override
  def mac_layers(self) -> learner.Layers:
    """Returns the net as one layer, and the statistics."""
    return [mac_views.Layer("net", self._encode_macs, trained=False)], super().mac_layers()[1]

  @functools.cached_property
  def _encode_macs(self) -> int:
    one = tf.TensorSpec([1, *example_arrays.shape(self.transform)],
                        example_arrays.dtype(self.transform))
    return flops.count(user_code.compiled(self.encode).get_concrete_function(one)).macs or 0


class MetaCentroids(MetaStatistics):
  """Class means of a net's features. The first task must be single-label; later tasks need not.

  Args:
    net: such as `ProtoNet`.
    episodes, transform, base, batch_size: see `MetaStatistics`.
  """

  def __init__(self, net: base_episodes.MetricNet, *, episodes: base_episodes.BaseEpisodes,
               transform: examples.Transform, base: example_arrays.Examples | None = None,
               batch_size: int = 256):
    refusals.check_method(net, ("begin", "encode", "similarity", "meta_loss"), "ProtoNet")
    super().__init__(net, class_means.ClassMeans(net.similarity), net.encode, episodes=episodes,
                     transform=transform, base=base, batch_size=batch_size)

  @override
  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Makes the net for the first task; selects the means of the task."""
    if self.is_trained is None and task.kind != tasks.SINGLE_LABEL:
      raise ValueError(
          f"Task {task.key!r} is {task.kind} and the first one; MetaCentroids meta-trains its net "
          f"on the first task, which must be {tasks.SINGLE_LABEL}. Put such a task first, or take "
          "a StatisticsLearner with ClassMeans.")
    super().begin(task, context)

  @override
  def answer(self, codes: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C] of features [B, D]; -inf for classes without a sample."""
    return self._scaled(super().answer(codes))

  @override
  def answer_in_turn(self, codes: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C] of codes [B, D]; label t of int64 [B] is revealed after answer t."""
    return self._scaled(super().answer_in_turn(codes, labels))

  def _scaled(self, logits: tf.Tensor) -> tf.Tensor:
    return logits if self.net.scale is None else logits * self.net.scale


class MetaMahalanobis(MetaStatistics):
  """Class covariances of features by FiLM layers; the state has 2 F numbers a task for these.

  Args:
    net: such as `SimpleCnaps`.
    episodes, transform, base, batch_size: see `MetaStatistics`.
  """

  _encodes_by_task = True  # By the FiLM layers of the task.

  def __init__(self, net: base_episodes.FilmedNet, *, episodes: base_episodes.BaseEpisodes,
               transform: examples.Transform, base: example_arrays.Examples | None = None,
               batch_size: int = 256):
    refusals.check_method(
        net, ("begin", "embed", "film", "features", "meta_loss"), "SimpleCnaps")
    super().__init__(net, class_covariances.ClassCovariances(net.ridge), self._by_film,
                     episodes=episodes, transform=transform, base=base, batch_size=batch_size)

  @override
  def _make(self, num_classes: int) -> FilmedStatistics:
    return FilmedStatistics(
        self._statistic, num_classes, self.net.num_features, self.net.num_channels)

  def _by_film(self, images: tf.Tensor) -> tf.Tensor:
    return self.net.features(images, self.statistics.film)

  @override
  def _is_adapted(self) -> bool:
    return bool(self.statistics.has_film)

  @override
  def _adapt(self, read: example_arrays.Examples, context: context_lib.Context) -> dict[str, Any]:
    """Meta-trains the net, if that was not done before, and makes the FiLM layers of the task."""
    record = super()._adapt(read, context)
    began, num = time.monotonic(), len(read.images)
    embed, film = (user_code.compiled(fn) for fn in (self.net.embed, self.net.film))
    graph = embed.get_concrete_function(tf.TensorSpec(
        [1, *example_arrays.shape(self.transform)], example_arrays.dtype(self.transform)))
    of_z = tf.TensorSpec(graph.output_shapes[1:], graph.output_dtypes)
    cost = flops.count(graph) * num + flops.count(film.get_concrete_function(of_z))
    if context.is_over:
      return {**record, "film_images": 0}
    is_numbers = read.images.ndim == 1
    z = tf.reduce_mean(base_episodes.by_batches(
        self, "embed", (lambda numbers: embed(self.transform.evaluate(numbers))) if is_numbers else
        embed, read.images, self._batch_size), axis=0)
    self.statistics.set_film(film(z))
    context.charge(cost, examples=num, began=began)
    return {**record, "film_images": num}


class FilmedStatistics(statistic_lib.Running):
  """Statistics and FiLM layers of a task.

  Args:
    statistic, num_classes, num_features: see `Running`.
    num_channels: F.
  """

  def __init__(self, statistic: statistic_lib.Statistic, num_classes: int, num_features: int,
               num_channels: int):
    super().__init__(statistic, num_classes, num_features)
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
