# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Losses by example, [B]; `scaled_sum` makes them the mean of a global batch.

Label smoothing may be a tensor or variable, so that a search changes it without a new graph.

`coded` losses are of rows that belong to several tasks, under one head with the classes of all of
them: each row takes part with the classes of its own task only, as if every task had its own head.
"""

from __future__ import annotations

from typing import TypeAlias

import tensorflow as tf

from suite.compute import own_gradients
from suite.contracts import tasks

Smoothing: TypeAlias = float | tf.Tensor | tf.Variable

# The logit of a class that does not take part: finite, so that no difference of two is NaN.
LOW = -1e9


def per_example(kind: str, labels: tf.Tensor, logits: tf.Tensor,
                smoothing: Smoothing = 0.0) -> tf.Tensor:
  """The loss of a task's kind: labels [B] or [B, C], logits [B, C] -> [B]."""
  if kind == tasks.SINGLE_LABEL:
    return softmax_cross_entropy(labels, logits, smoothing)
  if kind == tasks.MULTI_LABEL:
    return sigmoid_cross_entropy(labels, logits, smoothing)
  raise ValueError(f"Unknown kind of task {kind!r}; allowed are {', '.join(tasks.KINDS)}.")


def among(allowed: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
  """Logits [B, C] of allowed classes, bool [C] or [B, C]; near `LOW` for all others.

  `LOW` is added: behind a product that costs nothing, a choice would go over [B, C] twice more.
  """
  return tf.cast(logits, tf.float32) + tf.where(allowed, 0.0, LOW)


def hard_cross_entropy(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
  """labels [B] class indices, logits [B, C] -> [B], without smoothing; in float32 or more."""
  logits = tf.convert_to_tensor(logits)
  if logits.dtype.size < tf.float32.size:
    logits = tf.cast(logits, tf.float32)
  return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)


def softmax_cross_entropy(labels: tf.Tensor, logits: tf.Tensor,
                          smoothing: Smoothing = 0.0) -> tf.Tensor:
  """labels [B] class indices, logits [B, C] -> [B].

  The target is one-hot * (1 - e) + e / C with e = smoothing (NEVIS'22).
  """
  logits, smoothing = tf.cast(logits, tf.float32), tf.cast(smoothing, tf.float32)
  hard = hard_cross_entropy(labels, logits)
  # Against the uniform target: the mean over classes of -log p.
  uniform = tf.reduce_logsumexp(logits, axis=-1) - tf.reduce_mean(logits, axis=-1)
  return (1.0 - smoothing) * hard + smoothing * uniform


def sigmoid_cross_entropy(labels: tf.Tensor, logits: tf.Tensor,
                          smoothing: Smoothing = 0.0) -> tf.Tensor:
  """labels [B, C] multi-hot, logits [B, C] -> [B], the *mean* over classes.

  The target is label * (1 - e) + e / 2 with e = smoothing. NEVIS'22 averages over classes and
  examples, so one learning rate suits few and many classes alike.
  """
  logits, smoothing = tf.cast(logits, tf.float32), tf.cast(smoothing, tf.float32)
  targets = tf.cast(labels, tf.float32) * (1.0 - smoothing) + smoothing / 2.0
  return tf.reduce_mean(crosses(logits, targets), axis=-1)


def sigmoid(logits: tf.Tensor) -> tf.Tensor:
  """The sigmoid of logits of any shape, with the same bits on every TensorFlow; see `crosses`."""
  return tf.exp(tf.minimum(logits, 0.0)) / (1.0 + tf.exp(-tf.abs(logits)))


def crosses(logits: tf.Tensor, targets: tf.Tensor) -> tf.Tensor:
  """Binary cross-entropies, all [B, C], with the same gradient on every TensorFlow.

  TensorFlow's own gradient takes a reciprocal, whose approximation on CPUs with AVX-512 is another
  one in each release, and so does its sigmoid. In a graph 1 / y becomes a reciprocal, too; so the
  numerator below is computed.
  """
  @own_gradients.custom_gradient
  def of(logits):
    def gradient(upstream):
      return upstream * (sigmoid(logits) - targets)

    return tf.nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits), gradient

  return of(logits)


def scaled_sum(losses: tf.Tensor, global_batch_size: int | tf.Tensor,
               mask: tf.Tensor | None = None) -> tf.Tensor:
  """losses [B], mask [B] -> scalar: the sum over real examples / global batch size.

  Summed over replicas (as gradients are) this is the mean over the global batch, on any number of
  replicas.
  """
  if mask is not None:
    losses = tf.where(mask, losses, tf.zeros_like(losses))
  return tf.reduce_sum(losses) / tf.cast(global_batch_size, losses.dtype)


def cross_entropy(codes: tf.Tensor, logits: tf.Tensor, smoothing: Smoothing = 0.0
                  ) -> tf.Tensor:
  """The loss of each row [B]: `losses.per_example` of the row's task, on its classes alone.

  Args:
    codes: uint8 [B, C], see `class_codes`.
    logits: [B, C]. Rows of a task need not be together.
    smoothing: of labels.
  """
  logits, smoothing = tf.cast(logits, tf.float32), tf.cast(smoothing, tf.float32)
  own = codes != tasks.FOREIGN
  is_multi = tf.reduce_any(codes > tasks.PRESENT, axis=-1)
  present = tf.cast((codes == tasks.PRESENT)  # A GPU would leave int32 to the host.
                    | (codes == tasks.PRESENT + tasks.MULTI), tf.float32)
  member = tf.cast(own, tf.float32)
  count = tf.reduce_sum(member, axis=-1, keepdims=True)
  log_shares = tf.nn.log_softmax(among(own, logits))
  single = -tf.reduce_sum(
      ((1.0 - smoothing) * present + smoothing * member / count) * log_shares, axis=-1)
  targets = member * (present * (1.0 - smoothing) + smoothing / 2.0)
  of_classes = member * crosses(logits, targets)
  return tf.where(is_multi, tf.reduce_sum(of_classes, axis=-1) / count[:, 0], single)






