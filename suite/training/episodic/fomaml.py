# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""First-order MAML and ProtoMAML before a sequence (Finn et al., 2017; Triantafillou et al., 2020).

An update is one episode. From the weights w and a new head h, n steps of gradient descent on the
support set lead to w', h'. The update of w uses the gradient of the targets' loss at (w', h') as if
it were the gradient at w (no second derivatives).

  MAML        h starts at zero: any number of classes, and no head has to be learned
  ProtoMAML   h starts at the prototypes, which are functions of w: h' = h(w) + a constant, and the
              gradient for h' continues through h(w) to w

Batch norms normalize each support or target set as a separate batch; their running statistics move.

Letters: W classes of an episode, D features.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from suite.compute import own_gradients
from suite.contracts import examples
from suite.data.episodes import episodes as episodes_lib
from suite.data.images import example_arrays
from suite.state import context as context_lib
from suite.training.episodic import base_episodes
from suite.training.gradient import class_heads
from suite.training.objectives import losses

_DEFAULT = base_episodes.BaseEpisodes()

NO_BASE = (
    "FirstOrder meta-trains on images of the base classes, but the {} base classes of the sequence "
    "come without any. Give it base = Examples(images, labels), as BASE_IMAGES does for published "
    "sequences, or set fluid.run.base_is_known = False and give the sequence a base.")


class FirstOrder(tf.Module):
  """First-order meta-training of a Keras backbone.

  Args:
    episodes: the episodes and the schedule of the updates.
    steps: n.
    rate: the rate of the inner steps.
    base: images of the base classes as the learner's transform stores them (images or numbers), for
      a sequence whose base classes are known without examples.
  """

  def __init__(self, *, episodes: base_episodes.BaseEpisodes = _DEFAULT, steps: int = 5,
               rate: float = 0.01, base: example_arrays.Examples | None = None):
    super().__init__()
    if episodes.has_sizes:
      raise ValueError("FirstOrder's episodes have one size, since a head of their classes is made "
                       f"for each; got way {episodes.way} and shot {episodes.shot}. Give numbers.")
    self.base_examples = lambda: base  # Not an attribute itself: checkpoints hold variables alone.
    if steps < 1 or not rate > 0:
      raise ValueError(f"FirstOrder has steps={steps} of rate={rate}; take at least 1 step, of a "
                       "rate above 0.")
    self._episodes, self._steps, self._rate = episodes, steps, rate
    self.backbone: Any = None

  def build(self, backbone: tf.keras.Model, head: str) -> None:
    """Makes the optimizer.

    Args:
      backbone: maps images to features [B, D].
      head: how h starts, "prototypes" or "zeros".
    """
    self.backbone, self._head = backbone, head
    self.optimizer = self._episodes.optimizer()
    self.optimizer.build(backbone.trainable_variables)

  def train(self, delivered: example_arrays.Examples, transform: examples.Transform,
            context: context_lib.Context) -> dict[str, Any]:
    """Makes all updates, on the images of the episodes or else on those delivered first."""
    update = tf.function(self.update, autograph=False)
    read = self._episodes.examples(delivered, transform)
    return self._episodes.run(update, read.images, read.labels, context, transform)

  def update(self, batch: episodes_lib.Episode) -> tf.Tensor:
    """Updates the backbone on a batch of one episode; returns the targets' loss []."""
    images, labels, target_images, target_labels = base_episodes.parts(batch)
    way = int(target_labels.shape[0]) // self._episodes.targets
    variables = self.backbone.trainable_variables
    before = [v.read_value() for v in variables]
    with tf.GradientTape() as start_tape:
      if self._head == "prototypes":
        head = list(class_heads.prototypes(self.backbone(images, training=True), labels, way))
      else:
        head = [tf.zeros([self.backbone.output_shape[-1], way]), tf.zeros([way])]
    adapted = head
    for _ in range(self._steps):  # On the backbone's variables, and on the head's tensors.
      with tf.GradientTape() as tape:
        tape.watch(adapted)
        loss = self._loss(adapted, images, labels)
      gradients, of_head = tape.gradient(
          loss, (list(variables), adapted), unconnected_gradients=tf.UnconnectedGradients.ZERO)
      for variable, gradient in zip(variables, gradients):
        variable.assign_sub(self._rate * gradient)
      adapted = [h - self._rate * g for h, g in zip(adapted, of_head)]
    with tf.GradientTape() as tape:
      tape.watch(adapted)
      loss = self._loss(adapted, target_images, target_labels)
    gradients, of_head = tape.gradient(
        loss, (list(variables), adapted), unconnected_gradients=tf.UnconnectedGradients.ZERO)
    gradients = [tf.convert_to_tensor(g) for g in gradients]
    if self._head == "prototypes":
      through = start_tape.gradient(head, variables, output_gradients=of_head,
                                    unconnected_gradients=tf.UnconnectedGradients.ZERO)
      gradients = [a + b for a, b in zip(gradients, through)]
    for variable, value in zip(variables, before):
      variable.assign(value)
    with own_gradients.released():
      self.optimizer.apply_gradients(zip(gradients, variables))
    return loss

  def _loss(self, head: Any, images: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    kernel, bias = head
    logits = tf.matmul(self.backbone(images, training=True), kernel) + bias
    return tf.reduce_mean(losses.hard_cross_entropy(labels, logits))
