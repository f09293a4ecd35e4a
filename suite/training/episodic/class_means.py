# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Class means of an episode as pure functions: sums [W, D] and counts [W] are the state."""

from __future__ import annotations

import tensorflow as tf

SIMILARITIES = ("euclidean", "cosine", "dot")
NOT_SHOWN = -1e9  # Logit of a class without a sample: finite, so that no loss becomes NaN.

MeansState = dict[str, tf.Tensor]  # {"sums": [W, D], "counts": [W]}, of the features' type


def check(similarity: str, owner: str) -> None:
  """Raises an error unless `similarity` is one of `SIMILARITIES`."""
  if similarity not in SIMILARITIES:
    raise ValueError(f"{owner}.similarity is {similarity!r}; allowed are "
                     f"{', '.join(SIMILARITIES)}.")


def zeros(num_classes: int, num_features: int, dtype: tf.DType = tf.float32) -> MeansState:
  """Returns the state before the first sample."""
  return {"sums": tf.zeros([num_classes, num_features], dtype),
          "counts": tf.zeros([num_classes], dtype)}


def add(state: MeansState, features: tf.Tensor, labels: tf.Tensor, *, last_set_only: bool = False
        ) -> MeansState:
  """Returns the state after a support set.

  Args:
    state: the state before it.
    features: [B, D].
    labels: int [B].
    last_set_only: whether the means of this set replace those of earlier sets.
  """
  is_class = tf.one_hot(labels, state["counts"].shape[0], dtype=features.dtype)  # [B, W]
  sums, shown = tf.matmul(is_class, features, transpose_a=True), tf.reduce_sum(is_class, axis=0)
  counts = state["counts"] + shown
  if last_set_only:
    mean = sums / tf.maximum(shown, 1.0)[:, None]
    return {"sums": tf.where(shown[:, None] > 0.0, mean, state["sums"]), "counts": counts}
  return {"sums": state["sums"] + sums, "counts": counts}


def logits(state: MeansState, features: tf.Tensor, similarity: str,
           scale: tf.Tensor | None = None) -> tf.Tensor:
  """Returns logits [B, W] of features [B, D]; `NOT_SHOWN` for classes without a sample.

  Args:
    state: after all support sets.
    features: [B, D].
    similarity: "euclidean" (minus squared distances to the means), "cosine" or "dot".
    scale: multiplies the similarities; None: 1.
  """
  if similarity == "cosine":  # A mean and its sum have the same direction.
    found = tf.matmul(tf.math.l2_normalize(features, axis=1),
                      tf.math.l2_normalize(state["sums"], axis=1), transpose_b=True)
  else:
    means = state["sums"] / tf.maximum(state["counts"], 1.0)[:, None]  # [W, D]
    found = tf.matmul(features, means, transpose_b=True)
    if similarity == "euclidean":
      squares = [tf.reduce_sum(x ** 2, axis=1) for x in (features, means)]  # [B], [W]
      found = 2.0 * found - squares[0][:, None] - squares[1]
  return tf.where(state["counts"] > 0.0, found if scale is None else scale * found, NOT_SHOWN)
