# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A set as two arrays, for learners that gather their batches inside the graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from suite.contracts import examples
from suite.contracts import rehearsal
from suite.contracts import tasks
from suite.data.images import feature_set
from suite.data.images import image_ops

_BATCH = 256


class Examples(NamedTuple):
  """images: uint8 [N, S, S, 3], or as stored, such as numbers int64 [N]; or features float32
  [N, D]. labels: [N].
  """

  images: np.ndarray
  labels: np.ndarray


def shape(transform: examples.Transform) -> tuple[int, ...]:
  """Shape of one example, (S, S, 3) or (D,)."""
  return tuple(transform.shape)


def dtype(transform: examples.Transform) -> tf.DType:
  """Type of examples: float32 for features, uint8 for images."""
  return tf.float32 if len(shape(transform)) == 1 else tf.uint8


def read(sets: Sequence[examples.ExampleSet], task: tasks.Task,
         transform: examples.Transform, storage: examples.Storage | None = None
         ) -> Examples:
  """The examples of image or feature sets of a task, one set after the other.

  They are as `transform.evaluate` makes them, or as `storage` keeps them, if given. A storage on
  disk writes all batches [n, ...]; the examples are then their numbers, int64 [N].
  """
  prepare = transform if storage is None else image_ops.Storing(
      storage.kept_form())
  for part in sets:
    if (part.kind, part.num_classes) != (task.kind, task.num_classes):
      raise ValueError(f"{part.name!r} is {part.kind} with {part.num_classes} classes, but task "
                       f"{task.key!r} is {task.kind} with {task.num_classes}. All buckets share "
                       "one list of classes; map the labels to it.")
  batches = (batch for part in sets for batch in _images(part, transform, prepare))
  images: np.ndarray
  if storage is not None and storage.is_on_disk:
    images = storage.keep(batches)
  else:
    parts = list(batches)
    joined = np.concatenate if parts[0].dtype == np.int64 else rehearsal.concatenated
    images = parts[0] if len(parts) == 1 else joined(parts)
  return Examples(images, np.concatenate([part.labels for part in sets]))


def _images(part: examples.ExampleSet, transform: examples.Transform,
            prepare: examples.Transform) -> Iterator[np.ndarray]:
  """The examples of a set in batches, as `prepare` evaluates them."""
  if isinstance(part, feature_set.FeatureSet):
    part.check_transform(transform)
    yield part.features
    return
  if rehearsal.counts_only():  # Memory that is taken when it is read.
    blank = rehearsal.zeros([part.size, *shape(prepare)], np.uint8)
    rehearsal.holds(blank.nbytes)
    yield blank
    return
  for batch in part.eval_batches(min(_BATCH, part.size), transform=prepare):
    images = batch["image"].numpy()
    if images.dtype != np.uint8 or images.shape[1:] != shape(prepare):
      raise ValueError(f"{part.name!r} became {images.dtype} {images.shape[1:]}, but uint8 "
                       f"{shape(prepare)} was expected. Use a transform of image_ops.")
    yield images[batch["mask"].numpy()]
