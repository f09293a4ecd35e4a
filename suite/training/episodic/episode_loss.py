# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The loss of an episode for learners whose embedding no support set changes."""

from __future__ import annotations

from typing import Any, Callable, Dict, Tuple

import tensorflow as tf

from suite.models.episodic import embedding as embedding_lib
from suite.training.objectives import losses

State = Dict[str, tf.Tensor]


def of_targets(
    embedding: Any,
    state: State,
    adapt: Callable[[State, tf.Tensor, tf.Tensor], State],
    logits: Callable[[State, tf.Tensor], tf.Tensor],
    episode: Tuple[tf.Tensor, ...],
) -> Tuple[tf.Tensor, embedding_lib.Seen]:
  """Mean cross-entropy [] of the targets after all support sets, and what norms saw.

  Every support set is normalised as a batch of its own, and so are the targets.

  Args:
    embedding: see `suite.models.episodic.embedding`.
    state: of the learner before the first support set.
    adapt: adapt(state, features [B, D], labels [B]) is the state after one more set.
    logits: logits(state, features [T, D]) are [T, W].
    episode: S support sets, images [S, B, H, W, C] and labels [S, B]; T targets, images
      [T, H, W, C] and labels [T].
  """
  support_images, support_labels, images, labels = episode[:4]
  every = []
  for s in range(support_images.shape[0]):
    codes, seen = embedding.train(support_images[s])
    state = adapt(state, codes, support_labels[s])
    every.append(seen)
  codes, seen = embedding.train(images)
  loss = losses.softmax_cross_entropy(labels, logits(state, codes))
  return tf.reduce_mean(loss), embedding_lib.add(*every, seen)
