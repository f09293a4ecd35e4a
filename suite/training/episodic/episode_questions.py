# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Evaluates models on the first N episodes of a source, the same ones for every model.

Where a learner encodes images (`EpisodicLearner.encode`), each image that occurs is encoded once
for a model, and episodes are formed from codes.

B episodes of a batch, S support sets of N images, T targets, W classes; U images that occur.
"""

from __future__ import annotations

from collections.abc import Iterator
import time
from typing import Any

import numpy as np
import tensorflow as tf

from suite.compute import flops
from suite.compute import user_code
from suite.contracts import examples
from suite.contracts import rehearsal
from suite.data.episodes import episodes as episodes_lib
from suite.data.pipelines import traced_maps
from suite.state import context as context_lib
from suite.training.episodic import episode_graphs

_BATCH = 8  # Episodes of one call, which run at once.
_LARGE_BATCH = 50  # The same where images are encoded before, or episodes are grouped.
_IMAGES = 256  # Images encoded by one call.
# Graphs of at most 10 sets are unrolled, a second of tracing for each set, where this many sets of
# all episodes are learned.
_UNROLLED_SETS, _SETS_TO_UNROLL = 10, 3000


class EpisodeQuestions:
  """The targets of the first episodes.

  Args:
    graphs: of the learner.
    episodes: the source.
    num_episodes: N.
    at_once: B, of one call; None: 8, or 50 where images are encoded before or episodes are grouped.
  """

  def __init__(self, graphs: episode_graphs.Graphs, episodes: episodes_lib.Episodes,
               num_episodes: int, at_once: int | None = None):
    self._graphs, self._episodes = graphs, episodes
    self._num, self._encodes = num_episodes, graphs.learner.can_encode
    is_large = self._encodes or graphs.batching == episode_graphs.GROUPED
    self._size = min(at_once or (_LARGE_BATCH if is_large else _BATCH), num_episodes)
    self._num_batches = -(-num_episodes // self._size)
    self._spec: Any = None
    labels = np.tile(episodes.labels, [self._size, 1])
    setting = episodes.setting
    self._support_labels = tf.constant(labels[:, :episodes.num_support].reshape(
        [self._size, setting.num_support_sets, -1]))
    self._labels = np.tile(episodes.labels[episodes.num_support:], [num_episodes, 1])
    self._unrolled = (setting.num_support_sets <= _UNROLLED_SETS
                      and num_episodes * setting.num_support_sets >= _SETS_TO_UNROLL)
    if self._encodes:
      drawn = episodes.indices(0, self._num_batches * self._size)
      self._used, places = np.unique(drawn, return_inverse=True)
      self._rows = places.reshape(self._num_batches, self._size, -1).astype(np.int32)

  def ask(self, context: context_lib.Context, phase: str) -> tuple[np.ndarray, np.ndarray]:
    """Logits [N, T, W] and labels [N, T]; charged to the phase.

    The last batch is filled up with further episodes, which are computed, charged and dropped.
    """
    began = time.monotonic()

    def first(num: int) -> list[np.ndarray]:
      # Read at the end: reading the logits of a batch waits for it.
      unread = list(self._encoded(num)) if self._encodes else [
          self._graphs.answer(batch, self._unrolled) for batch in self._batches().take(num)]
      return [logits.numpy() for logits in unread]

    found = rehearsal.few(self, "batch", self._num_batches, first, blank=lambda: [np.zeros(
        [self._size, self._labels.shape[1], self._graphs.num_classes], np.float32)])
    answers = [found[i % len(found)] for i in range(self._num_batches)]  # [B, T, W] each.
    cost = self._answer_cost() * self._num_batches
    if self._encodes:
      num, size = self._encoding_rows().shape
      cost += self._cost_of_encoding(size) * num
    context.charge(cost, phase=phase, began=began,
                   examples=self._num_batches * self._size * len(self._episodes.labels))
    return np.concatenate(answers)[:self._num], self._labels

  def macs_per_task(self) -> float | None:
    """MACs of learning one task and answering it; None if they cannot be counted.

    Meta-training is not included; the encoding of the task's own images is.
    """
    macs = self._answer_cost().macs
    if not self._encodes:
      return None if macs is None else macs / self._size
    one = self._cost_of_encoding(1).macs
    if macs is None or one is None:
      return None
    return macs / self._size + len(self._episodes.labels) * one

  def _batches(self) -> tf.data.Dataset:
    """Batches of episodes without the labels of their targets."""
    batches = prepared(self._episodes.batches(self._size), self._graphs.learner.transform)
    return batches.map(user_code.mapped(lambda batch: tuple(batch[:3])))

  def _encoded(self, num_batches: int) -> Iterator[tf.Tensor]:
    """Logits [B, T, W] of the first batches, one by one, from codes."""
    images, rows_of = self._episodes.images, self._encoding_rows()

    def encode(num: int) -> list[tf.Tensor]:
      return [self._graphs.encode(tf.gather(images, rows)) for rows in rows_of[:num]]

    codes = rehearsal.few(self, "encode", len(rows_of), encode)
    codes += codes[:1] * (len(rows_of) - len(codes))
    together = tf.concat(codes, 0)[:len(self._used)]
    for rows in self._rows[:num_batches]:
      yield self._graphs.answer_encoded(
          together, tf.constant(rows), self._support_labels, self._unrolled)

  def _encoding_rows(self) -> np.ndarray:
    """Indices of the images that occur, in batches; the last one is filled up."""
    size = min(_IMAGES, len(self._used))
    return np.resize(self._used, [-(-len(self._used) // size), size])

  def _answer_cost(self) -> flops.Cost:
    # A loop of sets costs as much as its sets one by one, and is traced in a fraction of the time.
    unrolled, used = self._unrolled, 0 if not self._encodes else len(self._used)
    if rehearsal.counts_only():
      unrolled, used = False, 1  # Taking codes is free, however many there are.

    def count() -> flops.Cost:
      if not self._encodes:
        if self._spec is None:  # Making a dataset takes longer than a small event.
          self._spec = self._batches().element_spec
        return self._graphs.cost(self._graphs.answer, self._spec, unrolled)
      shape = self._graphs.encode.get_concrete_function(self._images_spec(1)).output_shapes
      return self._graphs.cost(
          self._graphs.answer_encoded, tf.TensorSpec([used, *shape[1:]]),
          tf.TensorSpec(self._rows.shape[1:], tf.int32),
          tf.TensorSpec(self._support_labels.shape, tf.int64), unrolled)

    return self._graphs.cost_of_episodes(
        ("answer", self._size, unrolled, used), self._episodes, count)

  def _cost_of_encoding(self, num_images: int) -> flops.Cost:
    spec = self._images_spec(num_images)
    return rehearsal.counted(("encode", tuple(spec.shape[1:])), (1, num_images),
                             lambda: self._graphs.cost(self._graphs.encode, spec))

  def _images_spec(self, num_images: int) -> tf.TensorSpec:
    images = self._episodes.images
    return tf.TensorSpec([num_images, *images.shape[1:]], images.dtype)


def prepared(batches: tf.data.Dataset, transform: examples.Transform) -> tf.data.Dataset:
  """Batches of episodes with images that the transform has prepared."""
  return traced_maps.mapped(batches, _prepared_episode, static=(transform,))


def _prepared_episode(transform: examples.Transform, episode: Any) -> Any:
  return prepared_episode(episode, transform)


def prepared_episode(episode: Any, transform: examples.Transform) -> Any:
  """A batch of episodes with images that the transform has prepared."""
  def prepare(images: tf.Tensor) -> tf.Tensor:
    shape = images.shape
    flat = transform.evaluate(tf.reshape(images, [-1, *shape[-3:]]))
    return tf.reshape(flat, [*shape[:-3], *flat.shape[1:]])

  return episode._replace(support_images=prepare(episode.support_images),
                          target_images=prepare(episode.target_images))
