# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Prototypical networks (Snell et al., 2017) and Meta-Baseline (Chen et al., 2021).

Both answer by the class means of a meta-trained embedding; a class's images may come in several
support sets, whose features are summed and counted, so no set has to be kept.

  Prototypical networks   "euclidean"   logits[c] = -|f - m_c|^2
  Meta-Baseline           "cosine"      logits[c] = s cos(f, m_c)     s is trained; the embedding
                                        is pretrained (`tuned_embedding.TunedEmbedding`)
  ConstellationNet        "cosine"      the same on a net with clusters, trained from scratch

The learner published with CFSL takes dot products (`similarity`) and forgets all sets but the last
one, whose sums it divides by the number of its images (`last_set_only`): these two options
reproduce its numbers.
"""

from __future__ import annotations

import math

import tensorflow as tf
from typing_extensions import override

from suite.contracts import examples
from suite.contracts import tasks
from suite.models.episodic import embedding as embedding_lib
from suite.state import context as context_lib
from suite.training.episodic import base_episodes
from suite.training.episodic import meta_schedules
from suite.training.episodic import tuned_embedding
from suite.training.statistics import class_means


class ProtoNet(base_episodes.MetricNet):
  """An `EpisodicLearner`; D features, W classes of the whole task.

  Args:
    embedding: maps images [B, H, W, C] to features [B, D], see `suite.models.episodic.embedding`.
    transform: image preparation; its `size` is H = W.
    training: how the embedding is meta-trained; None: the default `MetaTraining`.
    channels: C of the prepared images.
    similarity: "euclidean" (minus the squared distance), "cosine" or "dot".
    scale: initial s of "cosine".
    last_set_only: whether only the last support set of a class counts, see the module.

  Attributes:
    optimizer: of the meta-training, so that a checkpoint of the learner holds its moments.
    similarity: as given.
  """

  transductive = False

  def __init__(self, embedding: tuned_embedding.EpisodeEmbedding, *,
               transform: examples.Transform, training: meta_schedules.Training | None = None,
               channels: int = 3, similarity: str = "euclidean", scale: float = 10.0,
               last_set_only: bool = False):
    super().__init__()
    self._means = class_means.ClassMeans(similarity, last_set_only=last_set_only)
    if not scale > 0:
      raise ValueError(f"ProtoNet.scale is {scale}; it must be above 0.")
    self.transform, self._channels, self.similarity = transform, channels, similarity
    self._embedding, self._scale = embedding, scale
    self._training: meta_schedules.Training = training or meta_schedules.MetaTraining()
    self._num_classes = 0

  @override
  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Makes embedding and optimizer, once: all tasks share them."""
    if self._num_classes:
      return
    self._num_classes = task.num_classes
    size = self.transform.size
    with context.distribution.scope():
      self._embedding.make(context.seeds.integer("initial weights"), (size, size, self._channels))
      if self.similarity == "cosine":  # The logarithm is trained, so s stays above 0.
        self.log_scale = tf.Variable(math.log(self._scale), name="log_scale")
      self.optimizer = self._training.optimizer()
      self.optimizer.build(self.trainable_variables)
    codes = self.encode(tf.zeros([1, size, size, self._channels]))
    self._features, self._dtype = codes.shape[-1], codes.dtype

  @property
  @override
  def scale(self) -> tf.Tensor | None:
    """The trained factor s [] of cosines; None for other similarities."""
    return tf.exp(self.log_scale) if self.similarity == "cosine" else None

  @override
  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Returns features [B, D] of images [B, H, W, C]."""
    return self._embedding.encode(images)

  @override
  def initial_state(self, num_classes: int) -> class_means.Sums:
    """Returns sums [W, D] and counts [W] of features by class, all 0."""
    return self._means.zero(num_classes, self._features, self._dtype)

  @override
  def adapt(self, state: class_means.Sums, codes: tf.Tensor, labels: tf.Tensor
            ) -> class_means.Sums:
    """Returns the state after one more support set, features [B, D] and labels [B]."""
    return self._means.add(state, codes, labels)

  @override
  def logits(self, state: class_means.Sums, codes: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, W] of features [B, D]."""
    return self._means.answers(state, codes, scale=self.scale)

  @override
  def meta_loss(self, episode: tuple[tf.Tensor, ...]) -> tuple[tf.Tensor, embedding_lib.Seen]:
    """Returns the mean cross-entropy [] of an episode's targets, and statistics for the norms."""
    return tuned_embedding.loss_of_targets(
        self._embedding, self.initial_state(self._num_classes), self.adapt, self.logits, episode)

  @override
  def zero_statistics(self) -> embedding_lib.Seen:
    """Returns zeros in the form of the statistics that `meta_loss` returns."""
    return self._embedding.zero_statistics()

  @override
  def update_statistics(self, seen: embedding_lib.Seen) -> None:
    """Moves the running statistics of the norms."""
    self._embedding.update_statistics(seen)
