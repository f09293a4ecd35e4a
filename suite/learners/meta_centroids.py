# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Class means of features that are meta-trained once, on the first data that is delivered.

  Prototypical Networks   net = protonet.ProtoNet(similarity="euclidean"), trained from scratch
  Meta-Baseline           net = protonet.ProtoNet(similarity="cosine"), on a pretrained embedding
  ConstellationNet        the same from scratch, on a `constellation.ClusteredEmbedding`

The net is meta-trained on episodes of a pretraining set or the base classes of a sequence (FLUID),
of the first bucket (CLEAR) or of the first task (NEVIS). Afterwards it stays as it is, and learning
adds to class means, as in `NearestMean`: with every label of a sequence, every bucket, and for each
task apart. Where the base classes are known without examples of them (`base_is_known` of FLUID),
`base` has images of them for the meta-training; means begin without them.
"""

from __future__ import annotations

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
from suite.contracts import learner as learner_lib
from suite.contracts import refusals
from suite.contracts import tasks
from suite.data.images import example_arrays
from suite.state import context as context_lib
from suite.training.episodic import base_episodes
from suite.training.scoring import scoring
from suite.training.sequence import running_centroids
from suite.training.sequence import task_statistics


class MetaCentroids(learner_lib.SequenceLearner):
  """A `SequenceLearner` for tasks, buckets and sequences of images.

  The first task must be single-label, and each of its classes must have images enough for an
  episode; later tasks need not.

  Args:
    net: what is meta-trained.
    episodes: the episodes of the meta-training.
    transform: image preparation; its `size` is H = W.
    base: images of the base classes as the transform stores them, for a sequence whose base classes
      are known without examples; read when that begins.
    batch_size: images whose features are computed at once in `learn`.
  """

  def __init__(self, net: base_episodes.MetricNet, *, episodes: base_episodes.BaseEpisodes,
               transform: examples.Transform, base: example_arrays.Examples | None = None,
               batch_size: int = 256):
    super().__init__()
    refusals.check_method(
        net, ("begin", "encode", "similarity", *refusals.META), "ProtoNet")
    running_centroids.check(net.similarity)
    base_episodes.check_images(transform, "MetaCentroids", "NearestMean")
    self.net, self.transform, self._episodes = net, transform, episodes
    self._batch_size = batch_size
    self._base = lambda: base  # Not an attribute itself: checkpoints hold variables alone.
    self._first: tasks.Task | None = None
    self._statistics: task_statistics.TaskStatistics[running_centroids.RunningCentroids] = (
        task_statistics.TaskStatistics(
            lambda num_classes, num_features: running_centroids.RunningCentroids(
                num_classes, num_features, net.similarity)))

  @override
  def form(self, delivery: str) -> learner_lib.BaseLearner:
    """Returns the net for episodes, which the protocol meta-trains; else this learner."""
    return self.net if delivery == deliveries.EPISODES else self

  @override
  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Makes the net for the first task; selects the means of the task."""
    if self._first is None:
      if task.kind != tasks.SINGLE_LABEL:
        raise ValueError(
            f"Task {task.key!r} is {task.kind} and the first one; MetaCentroids meta-trains its "
            f"net on the first task, which must be {tasks.SINGLE_LABEL}. Put such a task first, or "
            "take NearestMean.")
      self._make_net(context)
      self._first = task
    self._statistics.begin(task, self._num_features)

  def _make_net(self, context: context_lib.Context) -> None:
    base_episodes.begin(self.net, self._episodes, context)
    one = user_code.compiled(self.encode).get_concrete_function(
        tf.TensorSpec([1, *example_arrays.shape(self.transform)], tf.uint8))
    self._encode_macs = flops.count(one).macs or 0
    self._num_features = int(one.structured_outputs.shape[1])
    self.is_trained = tf.Variable(False, trainable=False, name="is_trained")

  @property
  def centroids(self) -> running_centroids.RunningCentroids:
    """The means of the task that began last."""
    return self._statistics.current

  @override
  def learn(
      self, experience: deliveries.Experience, context: context_lib.Context
  ) -> dict[str, Any]:
    """Meta-trains the net if it is the first delivery; adds the training split to the means."""
    record: dict[str, Any] = {}
    if not bool(self.is_trained):
      record = self._meta_train(example_arrays.read(
          [experience.train], experience.task, self.transform), context)
    outputs = scoring.extract(self.encode, experience.train, transform=self.transform,
                              batch_size=self._batch_size, context=context)
    start = time.monotonic()
    num_flops = self.centroids.add_set(outputs.values, outputs.labels)
    context.ledger.charge(
        context.phase, flops=num_flops, macs=0, seconds=time.monotonic() - start)
    return {"classes_with_a_mean": self.centroids.num_nonempty, **record}

  @override
  def know_base(self, known: np.ndarray, context: context_lib.Context) -> dict[str, Any]:
    """Meta-trains the net on `base`."""
    return self._meta_train(base_episodes.base_images(
        self._base(), known, self.transform, owner=self, instead="NearestMean",
        batch_size=self._batch_size), context)

  def _meta_train(self, read: example_arrays.Examples, context: context_lib.Context
                  ) -> dict[str, Any]:
    record = base_episodes.train(self.net, self._episodes, read, self.transform, context)
    self.is_trained.assign(True)
    return record

  @override
  def predict(self, images: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C] of images [B, H, W, 3]."""
    return self.answer(self.encode(images))

  @override
  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Returns features [B, D] of images [B, H, W, 3]; nothing changes them after `learn`."""
    return self.net.encode(images)

  @override
  def answer(self, codes: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C] of features [B, D]; -inf for classes without a sample."""
    return self._scaled(self.centroids.answer(codes))

  @override
  def update(self, codes: tf.Tensor, labels: tf.Tensor) -> None:
    """Adds features [B, D] to the means of their classes, int64 [B]."""
    self.centroids.add(codes, labels)

  @override
  def answer_in_turn(self, codes: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C] of codes [B, D]; label t of int64 [B] is revealed after answer t."""
    return self._scaled(self.centroids.answer_in_turn(codes, labels))

  def _scaled(self, logits: tf.Tensor) -> tf.Tensor:
    return logits if self.net.scale is None else logits * self.net.scale

  @override
  def mac_layers(self) -> tuple[list[mac_views.Layer], list[mac_views.Layer]]:
    """Returns the embedding as one layer, and the means."""
    macs = self.centroids.sums.shape.num_elements()
    return ([mac_views.Layer("embedding", self._encode_macs, trained=False)],
            [mac_views.Layer("centroids", macs, trained=False)])
