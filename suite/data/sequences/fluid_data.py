# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""FLUID's sequences over any prepared data set with one label for each image.

Features that `suite data features` has written may be in place of images.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from suite.contracts import rehearsal
from suite.contracts import tasks
from suite.data.episodes import cfsl_data
from suite.data.images import decoding
from suite.data.images import feature_set
from suite.data.images import image_set
from suite.data.images import prepared_features
from suite.data.images import tfds_source
from suite.data.sequences import fluid_sequences
from suite.data.sequences import sequences

ALTERNATING = "alternating"
_CHUNK = 2048


class Encoded(NamedTuple):
  """All N images of a data set as PNG or JPEG; int64 [N] labels; ids, all different."""

  images: list[bytes]
  labels: np.ndarray
  ids: list[str]


@functools.lru_cache(maxsize=2)
def _encoded(name: str, data_dir: str | None, splits: str | None) -> Encoded:
  images: list[bytes] = []
  labels: list[np.ndarray] = []
  ids: list[str] = []
  anything = tfds_source.open_split(name, "train", data_dir=data_dir)
  for split in splits.split("+") if splits else sorted(anything.builder.info.splits):
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
def plan(name: str, spec: str, seed: int = 0, data_dir: str | None = None,
         splits: str | None = None) -> fluid_sequences.SequencePlan:
  """The pretraining set and the sequences of a data set, as a spec and a seed define them."""
  data = _encoded(name, data_dir, splits)
  return fluid_sequences.make(data.ids, data.labels.tolist(), spec_of(spec), seed)


def _planned(name: str, spec: str, part: str, seed: int, data_dir: str | None,
             splits: str | None) -> fluid_sequences.PlannedSequence:
  made = plan(name, spec, seed, data_dir, splits)
  if part == ALTERNATING:
    return fluid_sequences.alternate(made.test, spec_of(spec).segment_length)
  found = {one.name: one for one in (*made.validation, *made.test)}
  if part not in found:
    raise ValueError(f"Unknown sequence {part!r} of {name} as {spec!r}; allowed are "
                     f"{', '.join([*found, ALTERNATING])}.")
  return found[part]


def sequence(name: str = "nevis/tiny_imagenet", *, spec: str = "tiny", part: str = "test_0",
             seed: int = 0, side: int = 64, channels: int = 3, data_dir: str | None = None,
             features: str | None = None, feature_size: int | None = None,
             splits: str | None = None) -> sequences.Sequence:
  """A sequence of a data set.

  Args:
    name: of the data set.
    spec: one of `fluid_sequences.SPECS`.
    part: "validation_0", "test_2", ..., or "alternating": the non-stationary one, of all test
      sequences in turn.
    seed: of the plan. side, channels: of the images; other sizes are resized by nearest neighbor.
    data_dir: of TFDS.
    features, feature_size: a folder of `suite data features`, whose features are taken in place of
      the images, see `prepared_features.Folder`; None: the images.
    splits: of the data set, "test+validation", whose images and classes alone take part; None: all.
  """
  found, data = _planned(name, spec, part, seed, data_dir, splits), _encoded(name, data_dir, splits)
  folder = prepared_features.folder(name, features, feature_size)
  images = (_decoded(name, data, found.index, side, channels) if folder is None else
            _features(name, data, found.index, folder))
  return sequences.Sequence(images, found.labels, found.ids.tolist(), found.num_base,
                            num_classes=len(found.classes), segments=found.segments)


def base(name: str = "nevis/tiny_imagenet", *, spec: str = "tiny", part: str = "test_0",
         seed: int = 0, side: int = 64, channels: int = 3, data_dir: str | None = None,
         features: str | None = None, feature_size: int | None = None,
         splits: str | None = None) -> image_set.ImageSet:
  """The images to pretrain on of a sequence's own base classes, with its labels; see `sequence`."""
  found, data = _planned(name, spec, part, seed, data_dir, splits), _encoded(name, data_dir, splits)
  classes = found.classes[:found.num_base]
  chosen = _of_classes(data, plan(name, spec, seed, data_dir, splits), classes)
  folder = prepared_features.folder(name, features, feature_size)
  if folder is None:
    images = _decoded(name, data, chosen, side, channels)
    return _pretraining(name, data, chosen, images, classes, len(found.classes))
  return _pretraining(name, data, chosen, _features(name, data, chosen, folder), classes,
                      len(found.classes), kind=feature_set.FeatureSet)


def pretraining(name: str = "nevis/tiny_imagenet", *, spec: str = "tiny", seed: int = 0,
                side: int = 64, channels: int = 3, data_dir: str | None = None
                ) -> image_set.ImageSet:
  """The images of all classes to pretrain a backbone on; labels count these classes in order."""
  made, data = plan(name, spec, seed, data_dir), _encoded(name, data_dir, None)
  classes = made.pretrain_classes
  chosen = _of_classes(data, made, classes)
  return _pretraining(name, data, chosen, _decoded(name, data, chosen, side, channels), classes,
                      len(classes))


def _of_classes(data: Encoded, made: fluid_sequences.SequencePlan, classes: np.ndarray
                ) -> np.ndarray:
  """Indices of the images to pretrain on of some classes."""
  return made.pretrain[np.isin(data.labels[made.pretrain], classes)]


def _pretraining(name: str, data: Encoded, chosen: np.ndarray, images: np.ndarray,
                 classes: np.ndarray, num_classes: int, *,
                 kind: type[image_set.ImageSet] = image_set.ImageSet) -> image_set.ImageSet:
  """Pretraining images of some classes; the label is the place of the class in them."""
  place = {int(c): i for i, c in enumerate(classes)}
  labels = np.array([place[int(c)] for c in data.labels[chosen]])
  return kind.from_arrays(
      f"{name} base classes", images, labels, kind=tasks.SINGLE_LABEL, num_classes=num_classes,
      ids=[data.ids[i] for i in chosen])


def _features(name: str, data: Encoded, index: np.ndarray, folder: prepared_features.Folder
              ) -> np.ndarray:
  """float32 [B, D] of the images of the data set, found by split and id."""
  splits, ids = zip(*(data.ids[i].split("/", 1) for i in index))
  found: list[np.ndarray] = [np.empty(0)] * len(index)
  for split in sorted(set(splits)):
    places = [place for place, one in enumerate(splits) if one == split]
    rows = prepared_features.with_features(prepared_features.Labels(
        name, data.labels[index[places]], [ids[place] for place in places], tasks.SINGLE_LABEL,
        int(data.labels.max()) + 1), folder, split)
    for place, row in zip(places, rows.features):
      found[place] = row
  return np.stack(found)


def _decoded(name: str, data: Encoded, index: np.ndarray, side: int, channels: int) -> np.ndarray:
  """uint8 [B, side, side, channels] of the images of the data set; all have one shape there."""
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
