# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The contract of labeled sets: what learners and protocols may ask of images or features.

`suite.data.images` implements it for images in memory, images on disk and feature vectors.
"""

from __future__ import annotations

from typing import Any, Iterator, Protocol

import numpy as np
import tensorflow as tf

from suite.contracts import transform as transform_lib


class Batches(Protocol):
  """A finite iterable of batches, such as a `tf.data.Dataset`; it can be iterated again."""

  @property
  def element_spec(self) -> Any:
    """The `tf.TensorSpec` of each entry of a batch."""

  def __iter__(self) -> Iterator[dict[str, tf.Tensor]]:
    """Batches {"image", "label", "mask", "id"}."""


class TrainableSet(Protocol):
  """N examples to be trained on, labeled or not."""

  @property
  def name(self) -> str:
    """For messages."""

  @property
  def size(self) -> int:
    """N."""

  def train_batches(self, batch_size: int, *, seed: tuple[int, int],
                    transform: transform_lib.Transform, first_step: int = 0, shard_index: int = 0,
                    num_shards: int = 1, shards_here: int = 1) -> tf.data.Dataset:
    """Endless shuffled batches; see `suite.data.images.image_set.ImageSet.train_batches`."""


class ExampleSet(TrainableSet, Protocol):
  """N labeled examples of C classes."""

  @property
  def kind(self) -> str:
    """One of `tasks.KINDS`."""

  @property
  def num_classes(self) -> int:
    """C."""

  @property
  def labels(self) -> np.ndarray:
    """int64 [N], or uint8 [N, C] multi-hot."""

  @property
  def ids(self) -> np.ndarray:
    """str [N], all different."""

  def eval_batches(self, batch_size: int, *, transform: transform_lib.Transform) -> Batches:
    """All examples once, in order; the last batch is padded and its mask says so."""

  def take(self, num: int, *, seed: Any) -> ExampleSet:
    """A random subset of `num` examples; the set itself if it is not larger."""

  def split(self, share: float, *, seed: Any) -> tuple[ExampleSet, ExampleSet]:
    """(the rest, a `share` of the examples); no example is in both."""

  def subset(self, indices: Any) -> ExampleSet:
    """The examples at the given indices, in that order."""
