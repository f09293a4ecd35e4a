# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""An ensemble of trials (NEVIS'22, appendix I): a weighted mean of probabilities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from suite.contracts import tasks

TEMPERATURE = 0.1  # Appendix I.


def weights(scores: Sequence[float]) -> list[float]:
  """softmax(scores / 0.1).

  Args:
    scores: validation accuracies, top-1; of a multi-label task, on which the paper says nothing,
      mean average precisions.
  """
  scaled = np.asarray(scores, np.float64) / TEMPERATURE
  powers = np.exp(scaled - scaled.max())
  return [float(power) for power in powers / powers.sum()]


def logits(members: Sequence[tf.Tensor], shares: Sequence[float], kind: str) -> tf.Tensor:
  """Logits whose probabilities are the weighted mean of the members' probabilities.

  Args:
    members: logits [B, C] of M members.
    shares: M weights with the sum 1.
    kind: of the task. "single_label": probabilities are softmaxes, and the result is the logarithm
      of their mean. "multi_label": probabilities of each class are sigmoids, and the result is the
      logit of their mean.

  Returns:
    [B, C].
  """
  stacked = tf.cast(tf.stack(list(members)), tf.float32)
  logs = tf.math.log(tf.constant(shares, tf.float32))[:, None, None]
  if kind == tasks.MULTI_LABEL:
    present = tf.reduce_logsumexp(logs + tf.math.log_sigmoid(stacked), axis=0)
    return present - tf.reduce_logsumexp(logs + tf.math.log_sigmoid(-stacked), axis=0)
  return tf.reduce_logsumexp(logs + tf.nn.log_softmax(stacked, axis=-1), axis=0)
