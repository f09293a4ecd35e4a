# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""ER-ACE (Caccia et al., 2022): incoming rows do not push down the classes of earlier ones.

  loss = CE(incoming; classes of now) + CE(replayed; known classes)

Each term is a mean over its rows.
"""

from __future__ import annotations

import tensorflow as tf

from suite.training.objectives import objective

CURRENT = ("batch", "novel")


class ErAce(objective.Objective):
  """Asymmetric cross-entropy; see the module.

  Args:
    current: the classes of now are those of the "batch", as in the method's paper; or these and all
      "novel" ones that a sequence has shown since its first phase, as in FLUID's.
  """

  needs_memory = needs_same_classes = True

  def __init__(self, current: str = "batch"):
    super().__init__()
    if current not in CURRENT:
      raise ValueError(f"ErAce.current is {current!r}; allowed are {', '.join(CURRENT)}.")
    self._current = current

  def loss(self, batch: objective.Batch) -> tf.Tensor:
    incoming, classes = batch.incoming(), batch.classes
    num = batch.logits.shape[1]
    labels = incoming.labels if batch.step_labels is None else batch.step_labels
    now = tf.reduce_any(tf.one_hot(labels, num, on_value=True, off_value=False), axis=0)
    if self._current == "novel" and classes is not None:
      now |= classes.seen & ~classes.base
    loss = tf.reduce_mean(objective.row_losses(incoming, now))
    if not batch.num_replayed:
      return loss
    return loss + objective.cross_entropy(batch.replayed())
