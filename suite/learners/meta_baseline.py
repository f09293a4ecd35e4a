# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Meta-Baseline (Chen et al., 2021): cosines to class means, at a learned temperature.

  logits[c] = s cos(f, m_c)       m_c = mean feature of the class's support images

The embedding begins pretrained (`tuned_embedding.TunedEmbedding`); s is trained with it.
"""

from __future__ import annotations

import math
from typing import Any, Dict, Tuple

import tensorflow as tf

from suite.contracts import tasks
from suite.models.episodic import embedding as embedding_lib
from suite.state import context as context_lib
from suite.training.episodic import episode_loss

# The logit of a class that was not shown: finite, so that no loss becomes NaN.
_NOT_SHOWN = -1e9


class MetaBaseline(tf.Module):
  """An `EpisodicLearner`; D features, W classes of the whole task.

  Args:
    embedding: images [B, H, W, 3] to features [B, D], see `suite.models.episodic.embedding`.
    transform: image preparation; its `size` is H = W.
    training: its `optimizer()` is that of meta-training.
    scale: s at first.
  """

  transductive = False

  def __init__(self, embedding: Any, *, transform: Any, training: Any, scale: float = 10.0):
    super().__init__()
    if not scale > 0:
      raise ValueError(f"MetaBaseline.scale is {scale}; it must be above 0.")
    self.transform, self._embedding, self._training = transform, embedding, training
    self._scale, self._num_classes = scale, 0

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Makes embedding and optimizer, once: all tasks share them."""
    if self._num_classes:
      return
    self._num_classes, size = task.num_classes, self.transform.size
    with context.distribution.scope():
      self._embedding.make(context.seeds.integer("initial weights"), (size, size, 3))
      # Its logarithm is trained: s stays above 0.
      self.log_scale = tf.Variable(math.log(self._scale), name="log_scale")
      self.optimizer = self._training.optimizer()
      self.optimizer.build(self.trainable_variables)
    self._features = self.encode(tf.zeros([1, size, size, 3])).shape[-1]

  @property
  def scale(self) -> tf.Tensor:
    """s, []."""
    return tf.exp(self.log_scale)

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Features [B, D] of images [B, H, W, 3]."""
    return self._embedding.encode(images)

  def initial_state(self, num_classes: int) -> Dict[str, tf.Tensor]:
    """Nothing was shown: "sums" [W, D] of features by class, and "counts" [W]."""
    return {"sums": tf.zeros([num_classes, self._features]), "counts": tf.zeros([num_classes])}

  def adapt(self, state: Dict[str, tf.Tensor], codes: tf.Tensor, labels: tf.Tensor
            ) -> Dict[str, tf.Tensor]:
    """Adds one support set, features [B, D] and labels [B]."""
    is_class = tf.one_hot(labels, state["counts"].shape[0])
    return {"sums": state["sums"] + tf.matmul(is_class, codes, transpose_a=True),
            "counts": state["counts"] + tf.reduce_sum(is_class, axis=0)}

  def logits(self, state: Dict[str, tf.Tensor], codes: tf.Tensor) -> tf.Tensor:
    """Logits [B, W] for features [B, D]; a mean and its sum have one direction."""
    cosines = tf.matmul(tf.math.l2_normalize(codes, axis=1),
                        tf.math.l2_normalize(state["sums"], axis=1), transpose_b=True)
    return tf.where(state["counts"] > 0.0, self.scale * cosines, _NOT_SHOWN)

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
