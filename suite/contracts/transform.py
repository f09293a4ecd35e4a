# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The contract between image sets and learners: how a learner wants its examples."""

from __future__ import annotations

from typing import Protocol

import tensorflow as tf


class Transform(Protocol):
  """Prepares examples, inside input pipelines and inside compiled steps.

  It is immutable and hashable, since batches are kept by their transform. Images come with B = 1
  from a pipeline whose images differ in size. A transform whose training examples show more of an
  image than `evaluate` does has a property `storage`, too, a `Storage`.
  """

  @property
  def size(self) -> int:
    """S, the height and width of prepared images; D for features."""

  @property
  def shape(self) -> tuple[int, ...]:
    """Shape of one prepared example: (S, S, 3), or (D,) for features."""

  def train(self, images: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """Training examples [B, S, S, 3] from images [B, H, W, 3]; random draws follow seeds [B]."""

  def evaluate(self, images: tf.Tensor) -> tf.Tensor:
    """Examples [B, S, S, 3] as they are validated, tested and stored."""


class Storage(Protocol):
  """How a learner keeps the examples that its compiled steps gather; immutable and hashable.

  One whose examples are numbers, int64 [], of what it keeps elsewhere has `holds_numbers`.
  """

  @property
  def shape(self) -> tuple[int, ...]:
    """Shape of one stored example."""

  def store(self, images: tf.Tensor) -> tf.Tensor:
    """Stored examples [B, ...] from images [B, H, W, 3], of the type of prepared ones."""

  def train(self, rows: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """Augments stored examples, with seeds [B], as the transform's `train` does images."""

  def evaluate(self, rows: tf.Tensor) -> tf.Tensor:
    """Prepares stored examples as the transform's `evaluate` does images."""


class TwoViews(Transform, Protocol):
  """A transform that augments an image in several ways, as contrastive pretraining needs it."""

  def view(self, number: int) -> Transform:
    """The transform with the random draws of one view."""
