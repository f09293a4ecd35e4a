# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Prototypical networks (Snell et al., 2017) that meet the classes of a task in several sets.

A class is the mean embedding of its images so far; logits are minus the squared Euclidean distances
to these means. The state is a sum and a count a class, so every support set counts, wherever it
comes, and none needs to be kept. (The learner published with CFSL forgets all sets but the last one
and takes dot products; this one is as Snell's.)
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Tuple

import tensorflow as tf

from suite.data import tasks
from suite.models import initial
from suite.training import context as context_lib
from suite.training import losses

# The logit of a class that was not shown yet: finite, so that no loss becomes NaN.
_NOT_SHOWN = -1e9


class ProtoNet(tf.Module):
  """An `EpisodicLearner`; D features, W classes of the whole task.

  Args:
    backbone: backbone(image_shape=(H, W, 3)) returns a Keras model, images to features [B, D].
      It must not keep running statistics: adapt and logits are pure, episodes run side by side.
    transform: image preparation; its `size` is H = W.
    learning_rate: of Adam, for meta-training.
    channels: C of the prepared images.

  Attributes:
    optimizer: of the meta-training, so that a checkpoint of the learner holds its moments.
  """

  def __init__(self, backbone: Callable[..., tf.keras.Model], *, transform: Any,
               learning_rate: float = 1e-3, channels: int = 3):
    super().__init__()
    self.transform, self._channels = transform, channels
    self._backbone_fn, self._learning_rate = backbone, learning_rate
    self._backbone: Any = None

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Makes embedding and optimizer, once: all tasks share them."""
    self._num_classes = task.num_classes
    if self._backbone is not None:
      return
    with context.distribution.scope():
      self._backbone = self._build()
      # jit_compile: XLA is slower on CPU, and hides the update from a graph's FLOP count.
      self.optimizer = tf.keras.optimizers.Adam(self._learning_rate, jit_compile=False)
      self.optimizer.build(self.trainable_variables)
    seed = context.seeds.integer("initial weights")
    self._backbone.set_weights(initial.initial_weights(self._build, seed))

  def _build(self) -> tf.keras.Model:
    size = self.transform.size
    backbone = self._backbone_fn(image_shape=(size, size, self._channels))
    if backbone.non_trainable_weights:
      raise ValueError(
          f"Backbone {backbone.name!r} keeps running statistics "
          f"({backbone.non_trainable_weights[0].name}, ...), which episodes that run side by side "
          "cannot share. Use one without, for example conv4.conv4.norm = 'group'.")
    return backbone

  def initial_state(self, num_classes: int) -> Dict[str, tf.Tensor]:
    """Nothing was shown: "sums" [W, D] and "counts" [W] of embeddings by class, all 0."""
    size = self._backbone.output_shape[-1]
    return {"sums": tf.zeros([num_classes, size]), "counts": tf.zeros([num_classes])}

  def adapt(
      self, state: Dict[str, tf.Tensor], images: tf.Tensor, labels: tf.Tensor
  ) -> Dict[str, tf.Tensor]:
    """Adds one support set, images [B, H, W, 3] and labels [B]."""
    is_class = tf.one_hot(labels, state["counts"].shape[0])  # [B, W]
    sums = tf.matmul(is_class, self._backbone(images), transpose_a=True)
    return {"sums": state["sums"] + sums,
            "counts": state["counts"] + tf.reduce_sum(is_class, axis=0)}

  def logits(self, state: Dict[str, tf.Tensor], images: tf.Tensor) -> tf.Tensor:
    """Logits [B, W] for images [B, H, W, 3]: -|embedding - prototype|^2."""
    prototypes = state["sums"] / tf.maximum(state["counts"], 1.0)[:, None]  # [W, D]
    features = self._backbone(images)  # [B, D]
    squares = [tf.reduce_sum(x ** 2, axis=1) for x in (features, prototypes)]  # [B], [W]
    products = tf.matmul(features, prototypes, transpose_b=True)
    distances = squares[0][:, None] + squares[1] - 2.0 * products
    return tf.where(state["counts"] > 0.0, -distances, _NOT_SHOWN)

  def meta_loss(self, episode: Tuple[tf.Tensor, ...]) -> tf.Tensor:
    """Mean cross-entropy [] of the target images after all support sets.

    Args:
      episode: S support sets, images [S, B, H, W, 3] and labels [S, B]; T targets, images
        [T, H, W, 3] and labels [T].
    """
    support_images, support_labels, images, labels = episode
    state = self.initial_state(self._num_classes)
    for s in range(support_images.shape[0]):
      state = self.adapt(state, support_images[s], support_labels[s])
    return tf.reduce_mean(losses.softmax_cross_entropy(labels, self.logits(state, images)))
