# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Meta-training of a net on the first data that a learner of tasks or sequences is delivered."""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
from typing import Any

import numpy as np
import tensorflow as tf

from suite.compute import distribution as distribution_lib
from suite.contracts import learner as learner_lib
from suite.contracts import rehearsal
from suite.contracts import tasks
from suite.contracts import transform as transform_lib
from suite.data.images import example_arrays
from suite.models.episodic import film as film_lib
from suite.state import context as context_lib
from suite.training.episodic import base_episodes
from suite.training.episodic import episode_graphs


class MetricNet(learner_lib.EpisodicLearner):
  """A learner that answers by class means of its codes [B, D].

  Attributes:
    similarity: one of `running_centroids.SIMILARITIES`.
    scale: a trained factor of the logits; None: 1.
  """

  similarity: str
  scale: tf.Tensor | None


class FilmedNet(learner_lib.EpisodicLearner):
  """A learner that makes FiLM layers of images, and features by them.

  Attributes:
    num_features, num_channels: D and F, once begun.
    ridge: the multiple of the identity in every covariance.
  """

  num_features: int
  num_channels: int
  ridge: float

  def embed(self, images: tf.Tensor) -> tf.Tensor:
    """Embeddings [B, Z] of images [B, H, W, C]; their mean is the embedding of a task."""
    raise NotImplementedError

  def film(self, z: tf.Tensor) -> film_lib.Film:
    """FiLM layers [F] of a task with embedding z [Z]."""
    raise NotImplementedError

  def features(self, images: tf.Tensor, film: film_lib.Film) -> tf.Tensor:
    """Features [B, D] of images [B, H, W, C] with FiLM layers [F]."""
    raise NotImplementedError


def check_images(transform: transform_lib.Transform, owner: str, instead: str) -> None:
  """Raises an error for a transform that makes feature vectors.

  Args:
    transform: of the learner.
    owner: the learner's name.
    instead: a learner that takes feature vectors.
  """
  shape = example_arrays.shape(transform)
  if len(shape) != 3:
    raise ValueError(
        f"{owner}.transform makes feature vectors {shape}, but its net is meta-trained on images. "
        f"Give it a transform of images, or take {instead} on the features.")


def begin(net: learner_lib.EpisodicLearner, episodes: base_episodes.BaseEpisodes,
          context: context_lib.Context) -> None:
  """Makes the net's variables on one device: an update has one episode, which is not shared."""
  alone = dataclasses.replace(context, distribution=distribution_lib.build())
  net.begin(tasks.Task("episodes", tasks.SINGLE_LABEL, episodes.way), alone)


def train(net: learner_lib.EpisodicLearner, episodes: base_episodes.BaseEpisodes,
          delivered: example_arrays.Examples, transform: transform_lib.Transform,
          context: context_lib.Context) -> dict[str, Any]:
  """Meta-trains a net that has begun; returns values for the record.

  Args:
    net: a learner that can be meta-trained.
    episodes: the episodes and their schedule.
    delivered: the images to train on, as `transform` prepares them, unless `episodes` has others.
    transform: of the learner.
    context: charged.
  """
  read = episodes.examples(delivered, transform)
  graphs = episode_graphs.Graphs(net, episodes.way)
  return episodes.run(graphs.update, read.images, read.labels, context)


def base_images(base: example_arrays.Examples | None, known: np.ndarray,
                transform: transform_lib.Transform, *, owner: Any, instead: str, batch_size: int
                ) -> example_arrays.Examples:
  """Returns prepared images of a sequence's base classes, which come without examples.

  Args:
    base: images as the transform stores them, and labels; None: an error.
    known: bool [C], the base classes.
    transform: of the learner.
    owner: the learner.
    instead: a learner that needs no images of the base classes.
    batch_size: images that are prepared at once.
  """
  if base is None:
    raise ValueError(
        f"{type(owner).__name__} is meta-trained on images, but the {int(np.sum(known))} base "
        "classes of the sequence come without any. Give it base = Examples(images, labels), as "
        f"BASE_IMAGES does for published sequences, or take {instead}.")
  images = by_batches(owner, "prepare", transform.evaluate, base.images, batch_size)
  return example_arrays.Examples(images, base.labels)


def by_batches(owner: Any, name: str, fn: Callable[[tf.Tensor], tf.Tensor], values: np.ndarray,
               batch_size: int) -> np.ndarray:
  """Returns fn(values) [N, ...], computed for some rows at a time."""
  return rehearsal.rows(owner, name, len(values), batch_size, lambda num: np.concatenate([
      fn(tf.constant(values[i:min(i + batch_size, num)])) for i in range(0, num, batch_size)]))
