# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Learning without forgetting (Li & Hoiem, 2016): stay near the answers of the previous model.

  loss = alpha * mean over the batch of KL(softmax(previous logits / T) || softmax(logits / T))

The previous model is a frozen copy made after each bucket. There is no factor T^2. In CLEAR's
experiments T = 1, and alpha rises from bucket to bucket: linspace(0, 2, number of buckets), so that
the first bucket, which has no previous model, has no penalty.
"""

from __future__ import annotations

from typing import List, Optional, Sequence, Tuple

import numpy as np
import tensorflow as tf

from suite.training.memories import memory as memory_lib
from suite.training.penalties import penalty


def ramp(num_buckets: int, end: float = 2.0) -> List[float]:
  """CLEAR's alphas: from 0 to `end` in equal steps."""
  if num_buckets < 1:
    raise ValueError(f"A ramp over {num_buckets} buckets; there must be at least 1.")
  return [float(a) for a in np.linspace(0.0, end, num_buckets)]


class Lwf(penalty.Penalty):
  """See the module.

  Args:
    alphas: one for each bucket, the first of them 0 (there is nothing to stay near to).
    temperature: T.
  """

  def __init__(self, alphas: Sequence[float], temperature: float = 1.0):
    super().__init__()
    self.alphas, self.temperature = tuple(float(a) for a in alphas), temperature
    if not self.alphas or self.alphas[0]:
      raise ValueError(f"Lwf.alphas begin with {list(self.alphas[:1])}; the first must be 0, since "
                       "the first bucket has no previous model. See `lwf.ramp`.")
    if not temperature > 0:
      raise ValueError(f"Lwf.temperature is {temperature}; it must be above 0.")

  def build(self, model: tf.keras.Model, *, losses_of: Optional[penalty.LossesFn] = None,
            memory: Optional[memory_lib.Memory] = None, seed: Tuple[int, int] = (0, 0)) -> None:
    del losses_of, memory, seed
    self.previous = tf.keras.models.clone_model(model)
    # Paired before freezing, which changes the order of a model's variables.
    self._pairs = list(zip(self.previous.variables, model.variables))
    self.previous.trainable = False
    self._copy()
    self.bucket = tf.Variable(0, trainable=False, name="lwf_bucket")
    self.alpha = tf.Variable(0.0, trainable=False, name="lwf_alpha")

  def before_bucket(self) -> None:
    bucket = int(self.bucket)
    if bucket >= len(self.alphas):
      raise ValueError(f"Bucket {bucket + 1} begins, but Lwf.alphas has {len(self.alphas)} values; "
                       "give one for each bucket.")
    self.alpha.assign(self.alphas[bucket])

  def loss(self, images: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    previous = tf.stop_gradient(self.previous(images, training=False))
    return self.alpha * divergence(previous, logits, self.temperature)

  def after_bucket(self) -> None:
    self._copy()
    self.bucket.assign_add(1)

  def _copy(self) -> None:
    for copy, variable in self._pairs:
      copy.assign(variable)


def divergence(previous: tf.Tensor, logits: tf.Tensor, temperature: float = 1.0) -> tf.Tensor:
  """Mean over the batch of KL(previous || present), from logits [B, C]; []."""
  old = tf.nn.log_softmax(tf.cast(previous, tf.float32) / temperature)
  new = tf.nn.log_softmax(tf.cast(logits, tf.float32) / temperature)
  return tf.reduce_mean(tf.reduce_sum(tf.exp(old) * (old - new), axis=-1))
