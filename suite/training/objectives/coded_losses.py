# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Losses of rows that belong to several tasks, under one head with the classes of all of them.

Each row takes part with the classes of its own task only, as if every task had a separate head.
"""

from __future__ import annotations

import tensorflow as tf

from suite.contracts import class_codes
from suite.training.objectives import losses


def cross_entropy(codes: tf.Tensor, logits: tf.Tensor, smoothing: losses.Smoothing = 0.0
                  ) -> tf.Tensor:
  """The loss of each row [B]: `losses.per_example` of the row's task, on its classes alone.

  Args:
    codes: uint8 [B, C], see `class_codes`.
    logits: [B, C]. Rows of a task need not be together.
    smoothing: of labels.
  """
  logits, smoothing = tf.cast(logits, tf.float32), tf.cast(smoothing, tf.float32)
  own = codes != class_codes.FOREIGN
  is_multi = tf.reduce_any(codes > class_codes.PRESENT, axis=-1)
  present = tf.cast((codes == class_codes.PRESENT)  # A GPU would leave int32 to the host.
                    | (codes == class_codes.PRESENT + class_codes.MULTI), tf.float32)
  member = tf.cast(own, tf.float32)
  count = tf.reduce_sum(member, axis=-1, keepdims=True)
  log_shares = tf.nn.log_softmax(losses.among(own, logits))
  single = -tf.reduce_sum(
      ((1.0 - smoothing) * present + smoothing * member / count) * log_shares, axis=-1)
  targets = member * (present * (1.0 - smoothing) + smoothing / 2.0)
  crosses = member * losses.crosses(logits, targets)
  return tf.where(is_multi, tf.reduce_sum(crosses, axis=-1) / count[:, 0], single)
