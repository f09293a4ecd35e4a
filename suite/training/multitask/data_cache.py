# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Training images of earlier tasks in bounded memory.

The contract:

  what      training images, never those of dev. A set within max_bytes is held as the data set
            holds it, encoded or as pixels. Of a larger one canvases are held: each image as it is
            evaluated, 64 x 64 pixels in NEVIS'22, which training augments
  bound     max_bytes for all tasks together, and canvas_bytes for their canvases. Of T tasks each
            may have these bytes / 2^ceil(log2 T). A set whose canvases take more is represented by
            as many of its images, drawn at random, as fit; `describe` counts the others. While a
            data set is read, its own memory comes on top
  order     which images are drawn depends on the run's seed, the task and its bytes alone
  disk      nothing. A process that resumes a run reads the same images again from the data sets,
            which a stream delivers as often as they are asked for
  scope     NEVIS'22 lets a learner store all data that it was given; a past task's training set was
"""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import Any, NamedTuple

from absl import logging
import numpy as np

from suite.compute import seeds
from suite.contracts import deliveries
from suite.contracts import examples
from suite.contracts import rehearsal
from suite.data.images import image_set
from suite.data.images import sampling
from suite.system import host_memory

DEFAULT_BYTES = 2 * 2**30
_BATCH = 256


class _Held(NamedTuple):
  """Images of a task, for which there are `share` bytes.

  Attributes:
    share: see above.
    images: the task's training set, or some of its images, or their canvases.
    is_whole: whether it is the training set itself.
    left_out: the number of images that are not represented.
    canvas: the side of canvases; None: the images are the data set's.
  """

  share: int
  images: examples.ExampleSet
  is_whole: bool
  left_out: int = 0
  canvas: int | None = None


class DataCache:
  """The cache of one learner; see the module.

  Args:
    max_bytes: the bound of images as they are.
    canvas_bytes: the bound of canvases; None: half of the machine's memory.
  """

  def __init__(self, max_bytes: int = DEFAULT_BYTES, canvas_bytes: int | None = None):
    if max_bytes < 1:
      raise ValueError(f"DataCache.max_bytes is {max_bytes}; give the bytes that training images "
                       "of earlier tasks may take.")
    if canvas_bytes is not None and canvas_bytes < 0:
      raise ValueError(f"DataCache.canvas_bytes is {canvas_bytes}; give the bytes that prepared "
                       "images of larger sets may take; 0: they are held in part, as they are.")
    self._max_bytes = max_bytes
    self._canvas_bytes = host_memory.total_bytes() // 2 if canvas_bytes is None else canvas_bytes
    # By task. Those that the latest event does not need are dropped.
    self._held: dict[str, _Held] = {}

  def sets(self, history: deliveries.History, keys: Sequence[str], seed: int,
           transform: examples.Transform | None = None) -> dict[str, examples.ExampleSet]:
    """The images of past tasks.

    Args:
      history: the tasks delivered so far.
      keys: of the tasks that are needed.
      seed: of the run, not of an event.
      transform: of canvases; None: there are none.

    Raises:
      ValueError: a task has no data, or the cache cannot hold one image of it.
    """
    halvings = max(0, (len(keys) - 1).bit_length())
    share = self._max_bytes >> halvings
    held, self._held = self._held, {}
    for key in keys:
      known = held.pop(key, None)
      if known is None or known.share != share:
        whole = known.images if known is not None and known.is_whole else None
        known = self._read(history, key, halvings, seed, transform, whole)
      self._held[key] = known
    return {key: known.images for key, known in self._held.items()}

  def num_bytes(self) -> int:
    """The memory that the images in use take."""
    return sum(held.images.num_bytes()  # type: ignore[attr-defined]
               for held in self._held.values())

  def describe(self) -> dict[str, Any]:
    """For records: tasks held as canvases with their side, and images left out; {} if none are."""
    canvases = {key: held.canvas for key, held in self._held.items() if held.canvas}
    left_out = {key: held.left_out for key, held in self._held.items() if held.left_out}
    return {**({"canvases": canvases} if canvases else {}),
            **({"left_out": left_out} if left_out else {})}

  def _read(self, history: deliveries.History, key: str, halvings: int, seed: int,
            transform: examples.Transform | None, images: Any = None) -> _Held:
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
    share, drawn = self._max_bytes >> halvings, seeds.derive(seed, "data cache", key)
    whole_bytes = images.num_bytes()
    if whole_bytes > share and transform is not None and rehearsal.current() is None:
      room = (self._canvas_bytes >> halvings) // math.prod(transform.shape)
      if min(room, images.size) > share * images.size // whole_bytes:
        found = _canvases(images, transform, min(room, images.size), drawn)
        logging.info("%s: %d of %d images are kept at %d pixels as auxiliary data", key, found.size,
                     images.size, transform.size)
        return _Held(share, found, False, images.size - found.size, transform.size)
    try:
      found = images.within(share, seed=drawn)
    except ValueError as error:
      raise ValueError(f"DataCache.max_bytes={self._max_bytes} leaves {share} to auxiliary task "
                       f"{key!r}: {error}") from error
    if found.size < images.size:
      logging.info("%s: %d of %d images are kept as auxiliary data", key, found.size, images.size)
    return _Held(share, found, found.size == images.size, images.size - found.size)


def _canvases(images: Any, transform: examples.Transform, num: int, seed: Any
              ) -> image_set.ImageSet:
  """`num` images of a set, drawn at random, as they are evaluated; read once, batch by batch."""
  chosen = np.zeros([images.size], bool)
  chosen[sampling.draw_without_replacement(images.size, num, seed)] = True
  pixels, labels, ids, first, done = np.empty([num, *transform.shape], np.uint8), [], [], 0, 0
  for batch in images.eval_batches(min(_BATCH, images.size), transform=transform):
    here = np.flatnonzero(chosen[first:first + _BATCH])
    pixels[done:done + len(here)] = batch["image"].numpy()[here]
    labels.append(batch["label"].numpy()[here])
    ids += [name.decode() for name in batch["id"].numpy()[here]]
    first, done = first + _BATCH, done + len(here)
  return image_set.ImageSet.from_arrays(
      images.name, pixels, np.concatenate(labels), kind=images.kind,
      num_classes=images.num_classes, ids=ids, class_names=images.class_names)
