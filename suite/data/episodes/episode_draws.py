# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Draws the images of many episodes at once, by integer arithmetic on hashes: no state, no floats.

All draws are derived from 64-bit keys by `derive` (SplitMix64, as in sampling.py):

  class key of (episode, pool p) = derive(derive(class root, episode), p)
  image key of (episode, row g)  = derive(derive(image root, episode), g)
  rank j of a draw of n things   = (derive(key, j) >> 32) * (n - j) >> 32        0 ... n - j - 1

Rank j is the index of the drawn thing among the n - j that remain, so that one number is computed
for each thing drawn. Ranks become indices by going back through the draws: before thing i was
removed, everything from its rank on was one place higher.

The steps are written once; they run on NumPy arrays and, in a graph, on tensors, with equal
results.
M episodes, P pools of k classes, G rows of m images, L places.
"""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

import numpy as np
import tensorflow as tf

from suite.data.episodes import episode_layout
from suite.data.images import sampling

_GOLDEN, _MIX_1, _MIX_2 = (np.uint64(n) for n in (
    0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


class EpisodeSource(NamedTuple):
  """The images of a split in the order of their classes, and the roots of its episodes' keys.

  Arrays, or tensors of them.

  Attributes:
    order: int32 [N], example numbers, class after class.
    first: int32 [C], the start of each class in `order`.
    counts: int32 [C], the images of each class.
    class_root: uint64 scalar.
    image_root: uint64 scalar.
  """

  order: Any
  first: Any
  counts: Any
  class_root: Any
  image_root: Any


class Operations(NamedTuple):
  """The functions that differ between NumPy and TensorFlow."""

  derive: Callable
  distinct: Callable
  take: Callable
  reshape: Callable
  transpose: Callable
  length: Callable


def draw(ops: Operations, source: EpisodeSource, layout: episode_layout.Draws, numbers) -> Any:
  """The example numbers of the given episodes: int64 [M] -> int32 [M, L]."""
  num, pools, rows = numbers.shape[0], layout.num_pools, layout.num_rows
  keys = ops.derive(ops.derive(source.class_root, numbers)[:, None], np.arange(pools)[None])
  classes = ops.distinct(ops.reshape(keys, [-1]), ops.length(source.counts), layout.pool_size)
  # [k, M * P] -> [M, P * k], then the class of each row.
  classes = ops.reshape(ops.transpose(classes), [num, pools * layout.pool_size])
  classes = ops.reshape(ops.take(classes, layout.row_slot, axis=1), [-1])
  keys = ops.derive(ops.derive(source.image_root, numbers)[:, None], np.arange(rows)[None])
  images = ops.distinct(ops.reshape(keys, [-1]), ops.take(source.counts, classes), layout.row_size)
  images = images + ops.take(source.first, classes)
  # [m, M * G] -> [M, G * m], then the image of each place.
  images = ops.reshape(ops.transpose(images), [num, rows * layout.row_size])
  return ops.take(source.order, ops.take(images, layout.place, axis=1))


def _derive_numpy(seeds, values) -> np.ndarray:
  """`sampling.derive` on arrays."""
  bits = seeds + (np.asarray(values).astype(np.uint64) * _GOLDEN + _GOLDEN)
  for shift, factor in ((30, _MIX_1), (27, _MIX_2)):
    bits = (bits ^ (bits >> np.uint64(shift))) * factor
  return bits ^ (bits >> np.uint64(31))


def _distinct_numpy(keys: np.ndarray, sizes, num: int) -> np.ndarray:
  """`num` different numbers below `sizes` for each key, in order: uint64 [R] -> int32 [num, R]."""
  draws, half = np.arange(num, dtype=np.int64)[:, None], np.uint64(32)
  left = (np.asarray(sizes, np.int64)[None] - draws if np.ndim(sizes) else sizes - draws)
  bits = _derive_numpy(keys[None], draws) >> half
  ranks = (bits * left.astype(np.uint64) >> half).astype(np.int32)
  for i in range(num - 2, -1, -1):
    ranks[i + 1:] += ranks[i + 1:] >= ranks[i]
  return ranks


def _derive_graph(seeds, values) -> tf.Tensor:
  return sampling.derive(tf.convert_to_tensor(seeds), values)


def _distinct_graph(keys: tf.Tensor, sizes, num: int) -> tf.Tensor:
  """As `_distinct_numpy`, on tensors."""
  draws, half = tf.range(num, dtype=tf.int64)[:, None], tf.constant(32, tf.uint64)
  left = tf.cast(tf.cast(sizes, tf.int64) - draws, tf.uint64)
  bits = tf.bitwise.right_shift(sampling.derive(keys[None], draws), half)
  ranks = tf.cast(tf.bitwise.right_shift(bits * left, half), tf.int32)
  done = ranks[num - 1:]
  for i in range(num - 2, -1, -1):
    done = tf.concat([ranks[i:i + 1], done + tf.cast(done >= ranks[i], tf.int32)], axis=0)
  return done


NUMPY = Operations(_derive_numpy, _distinct_numpy, np.take, np.reshape, np.transpose, len)
GRAPH = Operations(_derive_graph, _distinct_graph, tf.gather, tf.reshape, tf.transpose,
                   lambda tensor: tf.shape(tensor, tf.int64)[0])
