# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""When a penalty is asked for what. Every hook does nothing here: this is also "no penalty".

  penalty.build(model, ...)                                               once
  penalty.before_bucket()                                                 each bucket
  each step:     loss = training loss + penalty.loss(images, logits)      under the tape
                 gradients = penalty.gradients(gradients of that loss)
                 penalty.before_update(); optimizer; penalty.after_update(gradients)
  at the end:    penalty.observe(losses_of, images, labels, mask)         each batch, once, if
  penalty.after_bucket()                                                  `observes`

`loss`, `gradients`, `before_update`, `after_update` and `observe` may be traced into a graph; the
two hooks around a bucket run eagerly. What a penalty remembers is in variables, so that a
checkpoint holds it.
"""

from __future__ import annotations

from typing import Callable, List, Optional, Sequence, Tuple

import tensorflow as tf

from suite.training.memories import memory as memory_lib

# Images [B, ...] and labels [B] to the training loss of each example [B].
LossesFn = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]


class Penalty(tf.Module):
  """Keeps a model near what it learned in earlier buckets.

  Attributes:
    observes: whether `observe` wants to be shown the bucket's examples after training.
  """

  observes = False

  def build(self, model: tf.keras.Model, *, losses_of: Optional[LossesFn] = None,
            memory: Optional[memory_lib.Memory] = None, seed: Tuple[int, int] = (0, 0)) -> None:
    """Makes its variables, before the first bucket; some penalties need only the model.

    Args:
      model: what is trained; images [B, ...] to logits [B, C].
      losses_of: runs the model in training.
      memory: the learner's, which fills it after each bucket.
      seed: of random draws.
    """
    del model, losses_of, memory, seed

  def before_bucket(self) -> None:
    """A bucket's training begins."""

  def loss(self, images: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    """What is added to the training loss, []; logits [B, C] are the model's, in training."""
    del images, logits
    return tf.constant(0.0)

  def gradients(self, gradients: Sequence[tf.Tensor]) -> List[tf.Tensor]:
    """The gradients to follow instead of these, one for each trainable variable."""
    return list(gradients)

  def before_update(self) -> None:
    """The optimizer is about to change the model."""
    return  # AutoGraph needs a statement.

  def after_update(self, gradients: Sequence[tf.Tensor]) -> None:
    """The optimizer has changed the model along these gradients."""
    del gradients

  def observe(self, losses_of: LossesFn, images: tf.Tensor, labels: tf.Tensor,
              mask: Optional[tf.Tensor] = None) -> None:
    """A batch of the bucket just learned, [B, ...]; mask bool [B] is False on padding.

    `losses_of` runs the model as for evaluation: no example's loss depends on another.
    """
    del losses_of, images, labels, mask

  def after_bucket(self) -> None:
    """A bucket's training has ended."""


def zeros_like(variables: Sequence[tf.Variable], name: str) -> List[tf.Variable]:
  """Untrained variables of the same shapes, all zero."""
  return [tf.Variable(tf.zeros_like(v), trainable=False, name=name) for v in variables]


def weighted_distance(weights: Sequence[tf.Variable], variables: Sequence[tf.Variable],
                      anchors: Sequence[tf.Variable]) -> tf.Tensor:
  """sum of weight * (variable - anchor)^2 over all parameters, []."""
  parts = [tf.reduce_sum(w * tf.square(v - a)) for w, v, a in zip(weights, variables, anchors)]
  return tf.add_n(parts)
