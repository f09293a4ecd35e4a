# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The form in which a learner keeps examples that it will train on; see `transform.Storage`."""

from __future__ import annotations

import dataclasses

import tensorflow as tf

from suite.contracts import transform as transform_lib


@dataclasses.dataclass(frozen=True)
class AsEvaluated:
  """Keeps examples as they are evaluated; training augments these."""

  transform: transform_lib.Transform

  @property
  def shape(self) -> tuple[int, ...]:
    """That of prepared examples."""
    return tuple(self.transform.shape)

  def store(self, images: tf.Tensor) -> tf.Tensor:
    """Images [B, H, W, C] -> examples [B, S, S, 3]."""
    return self.transform.evaluate(images)

  def train(self, rows: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """Examples [B, S, S, 3], uint64 [B] -> augmented examples."""
    return self.transform.train(rows, seeds)

  def evaluate(self, rows: tf.Tensor) -> tf.Tensor:
    """Examples [B, S, S, 3] -> the same."""
    return rows


def of(transform: transform_lib.Transform, *, as_evaluated: bool = False) -> transform_lib.Storage:
  """The form in which a transform's examples are kept: its own, or as they are evaluated."""
  own = None if as_evaluated else getattr(transform, "storage", None)
  return own or AsEvaluated(transform)


@dataclasses.dataclass(frozen=True)
class Storing:
  """A transform whose `evaluate` stores, for the batches of a set."""

  storage: transform_lib.Storage

  @property
  def size(self) -> int:
    """The number of lines of a row."""
    return self.shape[0]

  @property
  def shape(self) -> tuple[int, ...]:
    """That of stored examples."""
    return tuple(self.storage.shape)

  def train(self, images: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """Images [B, H, W, C] -> stored [B, ...]; nothing is random."""
    del seeds
    return self.storage.store(images)

  def evaluate(self, images: tf.Tensor) -> tf.Tensor:
    """Images [B, H, W, C] -> stored [B, ...]."""
    return self.storage.store(images)
