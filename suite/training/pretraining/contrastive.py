# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Contrastive losses, MoCo's queue and momentum, and their communication between replicas.

Embeddings are unit vectors [B, D], so a product of two is their cosine. B is the global batch, b a
replica's rows, R the number of replicas.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from suite.compute import distribution as distribution_lib
from suite.data.images import sampling
from suite.training.objectives import losses as losses_lib

_FAR = -1e9  # exp of it is 0 in float32.


def normalized(embeddings: tf.Tensor) -> tf.Tensor:
  """Returns embeddings [B, D] as unit vectors."""
  return tf.math.l2_normalize(tf.cast(embeddings, tf.float32), axis=1)


def info_nce(queries: tf.Tensor, keys: tf.Tensor, queue: tf.Tensor, temperature: float
             ) -> tf.Tensor:
  """Returns MoCo's loss [b] (He et al., 2020, eq. 1) of queries [b, D] and keys [b, D].

  The positive of row i is key i; its negatives are the K keys of the queue [K, D].
  """
  positive = tf.reduce_sum(queries * keys, axis=1, keepdims=True)
  negative = tf.matmul(queries, queue, transpose_b=True)
  logits = tf.concat([positive, negative], axis=1) / temperature
  return tf.reduce_logsumexp(logits, axis=1) - logits[:, 0]


def nt_xent(first: tf.Tensor, second: tf.Tensor, temperature: float, *,
            all_first: tf.Tensor, all_second: tf.Tensor, offset: Any = 0) -> tf.Tensor:
  """Returns SimCLR's loss [b] (Chen et al., 2020, eq. 1), the mean over both directions.

  Each of the 2b views has one positive, the other view of its image, and 2B - 2 negatives, the
  views of all other images.

  Args:
    first, second: embeddings [b, D] of two views of this replica's images.
    temperature: divides the cosines.
    all_first, all_second: those of all replicas, [B, D]; equal to the first two on one replica.
    offset: the first row of this replica in them.
  """
  rows, everyone = tf.shape(first)[0], tf.shape(all_first)[0]
  views = tf.concat([first, second], axis=0)
  logits = tf.matmul(
      views, tf.concat([all_first, all_second], axis=0), transpose_b=True) / temperature
  places = offset + tf.range(rows)
  itself = tf.concat([places, places + everyone], axis=0)
  other = tf.concat([places + everyone, places], axis=0)
  logits += _FAR * tf.one_hot(itself, 2 * everyone)
  losses = losses_lib.hard_cross_entropy(other, logits)
  return (losses[:rows] + losses[rows:]) / 2.0


class Queue(tf.Module):
  """The keys of the last K / B batches, first in, first out; at first random unit vectors.

  Args:
    size: K, a multiple of the batch.
    dim: D.
    seed: seed of the first keys.
  """

  def __init__(self, size: int, dim: int, seed: tuple[int, int]):
    super().__init__()
    first = np.random.default_rng(seed).normal(size=[size, dim]).astype(np.float32)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    self.keys = tf.Variable(first, trainable=False, name="queue")
    self.place = tf.Variable(0, dtype=tf.int64, trainable=False, name="queue_place")

  def check_batch(self, batch_size: int) -> None:
    """Raises an error unless whole batches fill the queue."""
    if self.keys.shape[0] % batch_size:
      raise ValueError(f"A queue of {self.keys.shape[0]} keys is no multiple of the batch size "
                       f"{batch_size}. Choose one that is, 65536 in the paper.")

  def push(self, keys: tf.Tensor, strategy: tf.distribute.Strategy) -> None:
    """Replaces the B oldest keys by keys [B, D]; called outside of replicas."""
    num = keys.shape[0]
    places = self.place.read_value() + tf.range(num, dtype=tf.int64)

    def write(queue: tf.Variable, keys: tf.Tensor, places: tf.Tensor) -> None:
      queue.scatter_update(tf.IndexedSlices(keys, places))

    def move(place: tf.Variable) -> None:
      place.assign((place + num) % self.keys.shape[0])

    strategy.extended.update(self.keys, write, args=(keys, places))
    strategy.extended.update(self.place, move)


def follow(followers: Sequence[tf.Variable], leaders: Sequence[tf.Variable], momentum: float,
           strategy: tf.distribute.Strategy) -> None:
  """Moves followers towards leaders on every replica; called outside of replicas.

  follower = momentum * follower + (1 - momentum) * leader (He et al., eq. 2)
  """
  def move(follower: tf.Variable, leader: tf.Variable) -> None:
    follower.assign(momentum * follower + (1.0 - momentum) * leader)

  for follower, leader in zip(followers, leaders):
    strategy.extended.update(follower, move, args=(leader,))


def gathered(rows: tf.Tensor) -> tf.Tensor:
  """Returns the rows [B, ...] of all replicas' rows [b, ...], in order; differentiable."""
  context = tf.distribute.get_replica_context()
  if context.num_replicas_in_sync == 1:
    return rows
  # Bytes cannot be gathered; half floats hold 0..255 exactly.
  sent = tf.cast(rows, tf.float16) if rows.dtype == tf.uint8 else rows
  found = tf.cast(context.all_gather(sent, axis=0), rows.dtype)
  return tf.ensure_shape(
      found, [rows.shape[0] * context.num_replicas_in_sync, *rows.shape[1:]])


def own_rows(everyone: tf.Tensor, num: int) -> tf.Tensor:
  """Returns the `num` rows of this replica out of the rows [B, ...] of all."""
  place = _replica() * num
  return tf.ensure_shape(everyone[place:place + num], [num, *everyone.shape[1:]])


def offset(num: int) -> tf.Tensor:
  """Returns the first row of this replica in the global batch, for `num` rows a replica."""
  return _replica() * num


def order_of(step: tf.Tensor, size: int, seed: tuple[int, int]) -> tf.Tensor:
  """Returns a permutation of 0..size-1, int64 [size], a pure function of (seed, step)."""
  key = sampling.derive(sampling.root_seed(seed, 0), step)
  return sampling.permutation(key[None], size)[0]


def results_of_one(per_replica: Any, distribution: distribution_lib.Distribution) -> tf.Tensor:
  """Returns the result of one replica, for results that are equal on all."""
  return distribution.strategy.experimental_local_results(per_replica)[0]


def _replica() -> tf.Tensor:
  context = tf.distribute.get_replica_context()
  return tf.cast(context.replica_id_in_sync_group, tf.int32)
