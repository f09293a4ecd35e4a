# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""FLUID's sequences over any prepared data set with one label for each image."""

from __future__ import annotations

import functools
from typing import List, NamedTuple, Optional

import numpy as np
import tensorflow as tf

from suite.contracts import rehearsal
from suite.contracts import tasks
from suite.data.episodes import cfsl_data
from suite.data.images import decoding
from suite.data.images import image_set
from suite.data.images import tfds_source
from suite.data.sequences import fluid_sequences
from suite.data.sequences import sequences

ALTERNATING = "alternating"
_CHUNK = 2048


class Encoded(NamedTuple):
  """All N images of a data set as PNG or JPEG; int64 [N] labels; ids, all different."""

  images: List[bytes]
  labels: np.ndarray
  ids: List[str]


@functools.lru_cache(maxsize=2)
def _encoded(name: str, data_dir: Optional[str]) -> Encoded:
  images: List[bytes] = []
  labels: List[np.ndarray] = []
  ids: List[str] = []
  anything = tfds_source.open_split(name, "train", data_dir=data_dir)
  for split in sorted(anything.builder.info.splits):
    source = tfds_source.open_split(name, split, data_dir=data_dir)
    if source.kind != tasks.SINGLE_LABEL:
      raise ValueError(f"{source.title} has several labels for an image; a sequence has one. "
                       "Choose another data set.")
    encoded, found, names = source.read()
    images.extend(encoded)
    labels.append(found)
    ids.extend(f"{split}/{one}" for one in names)
  return Encoded(images, np.concatenate(labels), ids)


def spec_of(spec: str) -> fluid_sequences.Spec:
  """One of `fluid_sequences.SPECS`."""
  if spec not in fluid_sequences.SPECS:
    raise ValueError(f"Unknown spec {spec!r} of FLUID sequences; allowed are "
                     f"{', '.join(fluid_sequences.SPECS)}.")
  return fluid_sequences.SPECS[spec]


@functools.lru_cache(maxsize=2)
def plan(name: str, spec: str, seed: int = 0, data_dir: Optional[str] = None
         ) -> fluid_sequences.SequencePlan:
  """The pretraining set and the sequences of a data set, as a spec and a seed define them."""
  data = _encoded(name, data_dir)
  return fluid_sequences.make(data.ids, data.labels.tolist(), spec_of(spec), seed)


def _planned(name: str, spec: str, part: str, seed: int, data_dir: Optional[str]
            ) -> fluid_sequences.PlannedSequence:
  made = plan(name, spec, seed, data_dir)
  if part == ALTERNATING:
    return fluid_sequences.alternate(made.test, spec_of(spec).segment_length)
  found = {one.name: one for one in (*made.validation, *made.test)}
  if part not in found:
    raise ValueError(f"Unknown sequence {part!r} of {name} as {spec!r}; allowed are "
                     f"{', '.join([*found, ALTERNATING])}.")
  return found[part]


def sequence(name: str = "nevis/tiny_imagenet", *, spec: str = "tiny", part: str = "test_0",
             seed: int = 0, side: int = 64, channels: int = 3, data_dir: Optional[str] = None
             ) -> sequences.Sequence:
  """A sequence of a data set.

  Args:
    name: of the data set.
    spec: one of `fluid_sequences.SPECS`.
    part: "validation_0", "test_2", ..., or "alternating": the non-stationary one, of all test
      sequences in turn.
    seed: of the plan. side, channels: of the images; other sizes are resized by nearest neighbor.
    data_dir: of TFDS.
  """
  found = _planned(name, spec, part, seed, data_dir)
  images = _decoded(name, found.index, side, channels, data_dir)
  return sequences.Sequence(images, found.labels, found.ids.tolist(), found.num_base,
                            num_classes=len(found.classes), segments=found.segments)


def base(name: str = "nevis/tiny_imagenet", *, spec: str = "tiny", part: str = "test_0",
         seed: int = 0, side: int = 64, channels: int = 3, data_dir: Optional[str] = None
         ) -> image_set.ImageSet:
  """The images to pretrain on of a sequence's own base classes, with its labels; see `sequence`."""
  found = _planned(name, spec, part, seed, data_dir)
  classes = found.classes[:found.num_base]
  return _pretraining(name, spec, seed, side, channels, data_dir, classes, len(found.classes))


def pretraining(name: str = "nevis/tiny_imagenet", *, spec: str = "tiny", seed: int = 0,
                side: int = 64, channels: int = 3, data_dir: Optional[str] = None
                ) -> image_set.ImageSet:
  """The images of all classes to pretrain a backbone on; labels count these classes in order."""
  classes = plan(name, spec, seed, data_dir).pretrain_classes
  return _pretraining(name, spec, seed, side, channels, data_dir, classes, len(classes))


def _pretraining(name: str, spec: str, seed: int, side: int, channels: int,
                 data_dir: Optional[str], classes: np.ndarray, num_classes: int
                 ) -> image_set.ImageSet:
  """Pretraining images of some classes; the label is the place of the class in them."""
  data, made = _encoded(name, data_dir), plan(name, spec, seed, data_dir)
  chosen = made.pretrain[np.isin(data.labels[made.pretrain], classes)]
  place = {int(c): i for i, c in enumerate(classes)}
  labels = np.array([place[int(c)] for c in data.labels[chosen]])
  return image_set.ImageSet.from_arrays(
      f"{name} base classes", _decoded(name, chosen, side, channels, data_dir), labels,
      kind=tasks.SINGLE_LABEL, num_classes=num_classes, ids=[data.ids[i] for i in chosen])


def _decoded(name: str, index: np.ndarray, side: int, channels: int, data_dir: Optional[str]
             ) -> np.ndarray:
  """uint8 [B, side, side, channels] of the images of the data set; all have one shape there."""
  data = _encoded(name, data_dir)
  height, width = tf.io.decode_image(data.images[index[0]], expand_animations=False).shape[:2]
  if rehearsal.counts_only() and "/stand-in/" in data.ids[index[0]]:  # Black images.
    return rehearsal.zeros([len(index), side, side, channels], np.uint8)
  parts = []
  for start in range(0, len(index), _CHUNK):
    part = index[start:start + _CHUNK]
    images = decoding.decode_all([data.images[i] for i in part], (height, width, channels),
                                 name=name, ids=np.array([data.ids[i] for i in part]))
    parts.append(cfsl_data.nearest(images, side))
  return np.concatenate(parts)
