# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Training images of earlier tasks in bounded memory.

The contract:

  what      training images, never those of dev; as the data sets hold them, encoded or as pixels
  bound     max_bytes for all tasks together. Of T tasks each may have max_bytes / 2^ceil(log2 T).
            A set that takes more is represented by as many of its images, drawn at random, as fit.
            While a data set is read, its own memory comes on top
  order     which images are drawn depends on the run's seed, the task and its bytes alone
  disk      nothing. A process that resumes a run reads the same images again from the data sets,
            which a stream delivers as often as they are asked for
  scope     NEVIS'22 lets a learner store all data that it was given; a past task's training set was
"""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

from absl import logging

from suite.compute import seeds
from suite.contracts import deliveries
from suite.contracts import examples

DEFAULT_BYTES = 2 * 2**30


class _Held(NamedTuple):
  """Images of a task, for which there are `share` bytes: its whole training set, or some of it."""

  share: int
  images: examples.ExampleSet
  is_whole: bool


class DataCache:
  """The cache of one learner; see the module.

  Args:
    max_bytes: the bound.
  """

  def __init__(self, max_bytes: int = DEFAULT_BYTES):
    if max_bytes < 1:
      raise ValueError(f"DataCache.max_bytes is {max_bytes}; give the bytes that training images "
                       "of earlier tasks may take.")
    self._max_bytes = max_bytes
    # By task. Those that the latest event does not need are dropped.
    self._held: dict[str, _Held] = {}

  def sets(self, history: deliveries.History, keys: Sequence[str], seed: int
           ) -> dict[str, examples.ExampleSet]:
    """The images of past tasks.

    Args:
      history: the tasks delivered so far.
      keys: of the tasks that are needed.
      seed: of the run, not of an event.

    Raises:
      ValueError: a task has no data, or the cache cannot hold one image of it.
    """
    share = self._max_bytes >> max(0, (len(keys) - 1).bit_length())
    held, self._held = self._held, {}
    for key in keys:
      known = held.pop(key, None)
      if known is None or known.share != share:
        whole = known.images if known is not None and known.is_whole else None
        known = self._read(history, key, share, seed, whole)
      self._held[key] = known
    return {key: known.images for key, known in self._held.items()}

  def num_bytes(self) -> int:
    """The memory that the images in use take."""
    return sum(held.images.num_bytes()  # type: ignore[attr-defined]
               for held in self._held.values())

  def _read(self, history: deliveries.History, key: str, share: int, seed: int,
            images: Any = None) -> _Held:
    """Reads a task, unless its whole training set is given, and holds the images that fit."""
    try:
      images = history.train(key) if images is None else images
    except deliveries.NotDeliveredError as error:
      raise ValueError(f"Auxiliary task {key!r} has no data: {error} Take its model out of the "
                       "weights of this run, or start again in a new work directory.") from error
    if images.size < 1:
      raise ValueError(f"Auxiliary task {key!r} has no data: its training set {images.name!r} is "
                       "empty. Leave the task out of the stream.")
    if not hasattr(images, "within"):
      raise ValueError(f"Auxiliary task {key!r} is of {type(images).__name__}, whose memory is not "
                       "known; the cache holds sets of images.")
    try:
      found = images.within(share, seed=seeds.derive(seed, "data cache", key))
    except ValueError as error:
      raise ValueError(f"DataCache.max_bytes={self._max_bytes} leaves {share} to auxiliary task "
                       f"{key!r}: {error}") from error
    if found.size < images.size:
      logging.info("%s: %d of %d images are kept as auxiliary data", key, found.size, images.size)
    return _Held(share, found, found.size == images.size)
