# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""CWR*: the last layer's weights, consolidated class by class (Maltoni & Lomonaco, 2019).

  before a bucket   w[c] = cw[c] for its classes c, 0 for all others
  after it          m = mean of all w of its classes;  p = sqrt(past[c] / now[c])
                    cw[c] = (cw[c] * p + w[c] - m) / (p + 1);  past[c] += now[c];  w = cw

`now` counts the bucket's examples by class, `past` those of earlier buckets. The bias is trained
like any other. Everything below the last layer is frozen after the first bucket.
"""

from __future__ import annotations

from typing import List, Sequence

import numpy as np
import tensorflow as tf


class Consolidation(tf.Module):
  """The consolidated weights of one dense layer.

  Args:
    counts_first: whether `past` counts the bucket in which a class first came. The library behind
      CLEAR's table left it out (False), so that a class's second bucket replaces its first.
  """

  def __init__(self, counts_first: bool = True):
    super().__init__()
    self.counts_first = counts_first

  def build(self, layer: tf.keras.layers.Layer) -> None:
    """Makes the variables for a dense layer: kernel [D, C], and a bias or none."""
    self._layer = layer
    self.kernel = tf.Variable(
        tf.zeros_like(layer.kernel), trainable=False, name="consolidated_kernel")
    zeros = tf.zeros(layer.kernel.shape[1:], tf.float32)
    self.past = tf.Variable(zeros, trainable=False, name="past_counts")
    self.known = tf.Variable(tf.cast(zeros, tf.bool), trainable=False, name="known_classes")
    self.buckets = tf.Variable(0, trainable=False, name="consolidated_buckets")

  def trainable(self, variables: Sequence[tf.Variable]) -> List[tf.Variable]:
    """The trainable variables that this bucket trains: all in the first, then the head's.

    Batch norms below must run as in evaluation from then on, too.
    """
    if not self.is_frozen:
      return list(variables)
    own = {v.ref() for v in self._layer.trainable_variables}
    return [v for v in variables if v.ref() in own]

  @property
  def is_frozen(self) -> bool:
    """Whether what lies below the layer is frozen: from the second bucket on."""
    return int(self.buckets) > 0

  def before_bucket(self, counts: np.ndarray) -> None:
    """Sets the weights for a bucket; counts [C]: its examples of each class."""
    here = self._checked(counts) > 0
    self._layer.kernel.assign(tf.where(here, self.kernel, 0.0))

  def after_bucket(self, counts: np.ndarray) -> None:
    """Consolidates the weights; counts [C]: as before the bucket."""
    now = self._checked(counts)
    here = now > 0
    weights = tf.convert_to_tensor(self._layer.kernel)
    mean = tf.reduce_mean(tf.boolean_mask(weights, here, axis=1))
    share = tf.sqrt(tf.math.divide_no_nan(self.past, now))
    mixed = (self.kernel * share + weights - mean) / (share + 1.0)
    self.kernel.assign(tf.where(here, mixed, self.kernel))
    counted = here if self.counts_first else here & self.known
    self.past.assign_add(tf.where(counted, now, 0.0))
    self.known.assign(self.known | here)
    self._layer.kernel.assign(self.kernel)
    self.buckets.assign_add(1)

  def _checked(self, counts: np.ndarray) -> tf.Tensor:
    counts = np.asarray(counts)
    if counts.shape != self.past.shape or not counts.sum() > 0:
      raise ValueError(f"The counts of a bucket's classes are {counts.tolist()}; give "
                       f"{self.past.shape[0]} of them, one for each class, not all of them 0.")
    return tf.constant(counts, tf.float32)
