# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Prototypical networks (Snell et al., 2017) that meet the classes of a task in several sets.

A class is the mean embedding of its images so far; logits are minus the squared Euclidean distances
to these means. The state is a sum and a count a class, so every support set counts, wherever it
comes, and none needs to be kept.

The learner published with CFSL takes dot products (`similarity`) and forgets all sets but the last
one, whose images it divides by the number of sets (`last_set_only`): that is how its numbers came
about, and it is there to show just that.
"""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

import tensorflow as tf

from suite.contracts import tasks
from suite.models.episodic import embedding as embedding_lib
from suite.state import context as context_lib
from suite.training.episodic import episode_loss
from suite.training.episodic import meta_schedules

SIMILARITIES = ("euclidean", "dot")
# The logit of a class that was not shown yet: finite, so that no loss becomes NaN.
_NOT_SHOWN = -1e9


class ProtoNet(tf.Module):
  """An `EpisodicLearner`; D features, W classes of the whole task.

  Args:
    embedding: images [B, H, W, C] to features [B, D], see `suite.models.episodic.embedding`.
    transform: image preparation; its `size` is H = W.
    training: how it is meta-trained: rate, cosine, decay and clamp; None: as by default.
    channels: C of the prepared images.
    similarity: "euclidean", minus the squared distance, or "dot".
    last_set_only: the defect: only the last set counts, divided by the number of sets.

  Attributes:
    optimizer: of the meta-training, so that a checkpoint of the learner holds its moments.
  """

  transductive = False

  def __init__(self, embedding: Any, *, transform: Any,
               training: Optional[meta_schedules.MetaTraining] = None,
               channels: int = 3, similarity: str = "euclidean", last_set_only: bool = False):
    super().__init__()
    if similarity not in SIMILARITIES:
      raise ValueError(f"ProtoNet.similarity is {similarity!r}; allowed are "
                       f"{', '.join(SIMILARITIES)}.")
    self.transform, self._channels = transform, channels
    self._embedding = embedding
    self._training = training or meta_schedules.MetaTraining()
    self._similarity, self._last_set_only = similarity, last_set_only
    self._num_classes = 0

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Makes embedding and optimizer, once: all tasks share them."""
    if self._num_classes:
      return
    self._num_classes = task.num_classes
    size = self.transform.size
    with context.distribution.scope():
      self._embedding.make(context.seeds.integer("initial weights"), (size, size, self._channels))
      self.optimizer = self._training.optimizer()
      self.optimizer.build(self.trainable_variables)
    self._features = self.encode(tf.zeros([1, size, size, self._channels])).shape[-1]

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Features [B, D] of images [B, H, W, C]."""
    return self._embedding.encode(images)

  def initial_state(self, num_classes: int) -> Dict[str, tf.Tensor]:
    """Nothing was shown: "sums" [W, D] and "counts" [W] of embeddings by class, all 0."""
    return {"sums": tf.zeros([num_classes, self._features]), "counts": tf.zeros([num_classes])}

  def adapt(
      self, state: Dict[str, tf.Tensor], codes: tf.Tensor, labels: tf.Tensor
  ) -> Dict[str, tf.Tensor]:
    """Adds one support set, features [B, D] and labels [B]."""
    is_class = tf.one_hot(labels, state["counts"].shape[0])  # [B, W]
    sums, shown = tf.matmul(is_class, codes, transpose_a=True), tf.reduce_sum(is_class, axis=0)
    counts = state["counts"] + shown
    if self._last_set_only:
      mean = sums / tf.maximum(shown, 1.0)[:, None]
      return {"sums": tf.where(shown[:, None] > 0.0, mean, state["sums"]), "counts": counts}
    return {"sums": state["sums"] + sums, "counts": counts}

  def logits(self, state: Dict[str, tf.Tensor], codes: tf.Tensor) -> tf.Tensor:
    """Logits [B, W] for features [B, D]."""
    prototypes = state["sums"] / tf.maximum(state["counts"], 1.0)[:, None]  # [W, D]
    products = tf.matmul(codes, prototypes, transpose_b=True)
    if self._similarity == "dot":
      similarities = products
    else:
      squares = [tf.reduce_sum(x ** 2, axis=1) for x in (codes, prototypes)]  # [B], [W]
      similarities = 2.0 * products - squares[0][:, None] - squares[1]
    return tf.where(state["counts"] > 0.0, similarities, _NOT_SHOWN)

  def meta_loss(self, episode: Tuple[tf.Tensor, ...]) -> Tuple[tf.Tensor, embedding_lib.Seen]:
    """Mean cross-entropy [] of an episode's targets, and what norms saw: `episode_loss`."""
    return episode_loss.of_targets(
        self._embedding, self.initial_state(self._num_classes), self.adapt, self.logits, episode)

  def zero_statistics(self) -> embedding_lib.Seen:
    """Zeros in the place of what `meta_loss` saw."""
    return self._embedding.zero_statistics()

  def update_statistics(self, seen: embedding_lib.Seen) -> None:
    """Moves the running statistics of the norms."""
    self._embedding.update_statistics(seen)
