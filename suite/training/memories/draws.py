# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Random numbers by position: draw number p is a pure function of (seed, purpose, p).

So a memory that keeps its count continues after a checkpoint as without one, and examples
get the same draws whether they come one at a time or many.
"""

from __future__ import annotations

from typing import Tuple, Union

import tensorflow as tf

from suite.data.images import sampling

Number = Union[int, tf.Tensor, tf.Variable]


def integers(seed: Tuple[int, int], purpose: int, first: Number, num: Number) -> tf.Tensor:
  """Draws first..first + num - 1: int64 [num], uniform over 0..2^62 - 1.

  62 bits: two of a million keys are hardly ever the same, as those of float32 often would be.
  """
  positions = tf.cast(first, tf.int64) + tf.range(tf.cast(num, tf.int64))
  bits = sampling.derive(sampling.root_seed(seed, purpose), positions)
  return tf.cast(tf.bitwise.right_shift(bits, tf.constant(2, tf.uint64)), tf.int64)


def uniforms(seed: Tuple[int, int], purpose: int, first: Number, num: Number) -> tf.Tensor:
  """As `integers`, but float64 [num] in [0, 1)."""
  return tf.cast(integers(seed, purpose, first, num), tf.float64) * 2.0**-62


def at(seed: Tuple[int, int], purpose: int, position: Number, num: Number) -> tf.Tensor:
  """`num` draws that all belong to one position: int64 [num], uniform over 0..2^62 - 1."""
  root = sampling.derive(sampling.root_seed(seed, purpose), tf.cast(position, tf.int64))
  bits = sampling.derive(root, tf.range(tf.cast(num, tf.int64)))
  return tf.cast(tf.bitwise.right_shift(bits, tf.constant(2, tf.uint64)), tf.int64)
