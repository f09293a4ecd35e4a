# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Data of continual few-shot learning as arrays: splits that have no class in common.

Features that `suite data features` has written may be in place of images.

"cfsl_omniglot", "slimagenet64" and "mini_imagenet" are divided by class as they are built. Any
other labelled data set can be divided here (`divided`): the images of all its splits go with their
classes. "blank" is no data set: its black images are for costs, which depend on shapes alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import functools
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from suite.contracts import rehearsal
from suite.contracts import tasks
from suite.data.episodes import episode_conventions
from suite.data.episodes import episodes as episodes_lib
from suite.data.episodes import task_types
from suite.data.images import decoding
from suite.data.images import image_set
from suite.data.images import prepared_features
from suite.data.images import sampling
from suite.data.images import tfds_source

SPLITS = ("train", "validation", "test")
BLANK = "blank"
# Side and channels.
_FORMS = {"cfsl_omniglot": (28, 1), "slimagenet64": (64, 3), "mini_imagenet": (84, 3)}
_CHUNK = 2048
_DIVIDE = 4  # Purpose of the seed, beside those of episodes.py.


class ClassSplit(NamedTuple):
  """Images uint8 [N, H, W, C], or features float32 [N, D]; labels int64 [N]; ids [N]; the name with
  version, and the split."""

  images: np.ndarray
  labels: np.ndarray
  ids: np.ndarray
  data: str
  split: str


def load(name: str, split: str, *, data_dir: str | None = None,
         features: prepared_features.Folder | None = None) -> ClassSplit:
  """A split of "cfsl_omniglot" (28 x 28 x 1), "slimagenet64" (64 x 64 x 3) or "mini_imagenet".

  `features` are taken in place of the images; None: the images.
  """
  family = name.split("/")[0]
  if family not in _FORMS:
    raise ValueError(f"Data set {name!r} is not divided by class, {', '.join(_FORMS)} are. "
                     "Divide it with cfsl_data.divided.")
  _check_split(split)
  side, channels = _FORMS[family]
  data = f"{name}:{tfds_source.version(name, data_dir=data_dir)}"
  return ClassSplit(*_read(name, [split], side, channels, data_dir, features=features), data, split)


def divided(name: str, split: str, *, counts: Mapping[str, int], side: int = 64,
            channels: int = 3, seed: int = 0, data_dir: str | None = None,
            features: prepared_features.Folder | None = None) -> ClassSplit:
  """The images of some of a data set's classes.

  Args:
    name: of a data set with one label for each image, as "nevis/tiny_imagenet".
    split: one of `counts`.
    counts: classes in each split, as {"train": 140, "validation": 20, "test": 40}.
    side: of the images; others are resized by nearest neighbor.
    channels: 1 or 3.
    seed: of the shuffle of the classes.
    data_dir: of TFDS.
    features: in place of the images; None: the images.
  """
  _check_split(split, tuple(counts))
  chosen = classes_of(split, counts, tfds_source.label_facts(name, data_dir=data_dir).num_classes,
                      seed=seed, name=name)
  version = tfds_source.version(name, data_dir=data_dir)
  data = f"{name}:{version} divided {dict(counts)} by seed {seed}"
  anything = tfds_source.open_split(name, "train", data_dir=data_dir)
  read = _read(name, sorted(anything.builder.info.splits), side, channels, data_dir, chosen,
               features=features)
  return ClassSplit(*read, data, split)


def classes_of(split: str, counts: Mapping[str, int], num_classes: int, *, seed: int = 0,
               name: str = "the data set") -> np.ndarray:
  """The classes of a split, ascending: a part, of the size in `counts`, of a shuffle of all."""
  if min(counts.values()) < 1 or sum(counts.values()) > num_classes:
    raise ValueError(f"{name} has {num_classes} classes, which do not make {dict(counts)}. Choose "
                     f"counts of 1 and more that add up to at most {num_classes}.")
  key = sampling.root_seed((seed, 0), _DIVIDE)
  order = sampling.permutation(key[None], num_classes)[0].numpy()
  names = list(counts)
  end = sum(counts[one] for one in names[:names.index(split) + 1])
  return np.sort(order[end - counts[split]:end])


@functools.lru_cache(maxsize=4)
def _cached(name: str, split: str, counts: tuple[tuple[str, int], ...], side: int,
            channels: int, data_dir: str | None,
            features: prepared_features.Folder | None = None) -> ClassSplit:
  if counts:
    return divided(name, split, counts=dict(counts), side=side, channels=channels,
                   data_dir=data_dir, features=features)
  return load(name, split, data_dir=data_dir, features=features)


def blank(setting: task_types.Setting, split: str, *, side: int, channels: int) -> ClassSplit:
  """Black images, just enough for a task of the setting under any convention."""
  num_classes = setting.way * setting.num_blocks
  each = setting.class_change_interval * (setting.shot + setting.targets)
  images = np.zeros([num_classes * each, side, side, channels], np.uint8)
  return ClassSplit(images, np.repeat(np.arange(num_classes), each), np.arange(len(images)),
                    f"{BLANK} {side} x {side} x {channels}", split)


def with_turns(data: ClassSplit) -> ClassSplit:
  """The images, and those of each class turned by 90, 180 and 270 degrees as three more classes.

  Few-shot learning multiplies Omniglot's classes by four in this way (Santoro et al., 2016); the
  turns of a character stay in its split.
  """
  height, width = data.images.shape[1:3]
  if height != width:
    raise ValueError(f"Images of {height}x{width} pixels cannot be turned by 90 degrees; choose "
                     "square ones, or turns=False.")
  num_labels, turns = int(data.labels.max()) + 1, range(4)
  return ClassSplit(
      np.concatenate([np.rot90(data.images, k, axes=(1, 2)) for k in turns]),
      np.concatenate([data.labels + k * num_labels for k in turns]),
      np.concatenate([[f"{one} turned {90 * k}" for one in data.ids] for k in turns]),
      f"{data.data} in four turns", data.split)


def episodes(name: str = "cfsl_omniglot", split: str = "train", *,
             task_type: task_types.TaskType = task_types.FSL,
             num_support_sets: int = 1, way: int = 5, shot: int = 1, targets: int = 5,
             convention: episode_conventions.Convention = "spec", seed: int = 0,
             data_dir: str | None = None,
             counts: Mapping[str, int] | None = None, side: int = 64, channels: int = 3,
             turns: bool = False, class_change_interval: int | None = None,
             with_classes: bool = False, features: str | None = None,
             feature_size: int | None = None, subset: bool = False) -> episodes_lib.Episodes:
  """Episodes of a task type over a split.

  Args:
    name: that `load` knows; with `counts` any data set with one label for each image; or "blank".
    split: one of SPLITS.
    task_type, num_support_sets, way, shot, targets, class_change_interval: of `task_types.named`.
    convention, seed, with_classes: as of `Episodes`.
    data_dir: of TFDS.
    counts: classes by split, as of `divided`; None: the data set's own splits.
    side, channels: of the images of `divided` and of "blank".
    turns: whether each class is four, see `with_turns`.
    features, feature_size, subset: a folder of `suite data features`, whose features are taken in
      place of the images, see `prepared_features.Folder`; None: the images.
  """
  setting = task_types.named(task_type, num_support_sets, way=way, shot=shot, targets=targets,
                             class_change_interval=class_change_interval)
  if name == BLANK:
    data = blank(setting, split, side=side, channels=channels)
  else:
    data = _cached(name, split, tuple((counts or {}).items()), side, channels, data_dir,
                   prepared_features.folder(name, features, feature_size, subset))
  if turns and features is not None:
    raise ValueError(f"turns=True turns images, and {features} has features. Set turns=False, or "
                     "leave features out.")
  if turns:
    data = with_turns(data)
  return episodes_lib.Episodes(data.images, data.labels, setting, ids=data.ids.tolist(),
                               data=data.data, split=data.split, seed=seed, convention=convention,
                               with_classes=with_classes)


def pretraining(name: str = "cfsl_omniglot", *, data_dir: str | None = None,
                counts: Mapping[str, int] | None = None, side: int = 64, channels: int = 3
                ) -> image_set.ImageSet:
  """The images that training episodes are drawn from, to pretrain an encoder on.

  Labels count the classes of the split in ascending order; arguments are as of `episodes`.
  """
  data = _cached(name, "train", tuple((counts or {}).items()), side, channels, data_dir)
  classes, labels = np.unique(data.labels, return_inverse=True)
  return image_set.ImageSet.from_arrays(
      f"{data.data} train", data.images, labels, kind=tasks.SINGLE_LABEL,
      num_classes=len(classes), ids=data.ids)


def nearest(images: np.ndarray, side: int) -> np.ndarray:
  """[N, H, W, C] -> [N, side, side, C] as Pillow's NEAREST: row (i + 1/2) * H / side, cut off."""
  if images.shape[1:3] == (side, side):
    return images
  rows, columns = ((2 * np.arange(side) + 1) * size // (2 * side) for size in images.shape[1:3])
  return images[:, rows[:, None], columns]


def _read(name: str, splits: Sequence[str], side: int, channels: int, data_dir: str | None,
          classes: np.ndarray | None = None,
          features: prepared_features.Folder | None = None
          ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
  """(images or features, labels, ids) of the splits, or of some classes.

  A split's images have one shape.
  """
  images: list[np.ndarray] = []
  labels: list[np.ndarray] = []
  ids: list[str] = []
  are_black = True
  for split in splits:
    source = tfds_source.open_split(name, split, data_dir=data_dir)
    if source.kind != tasks.SINGLE_LABEL:
      raise ValueError(f"{source.title} has several labels for an image; few-shot classes need "
                       "one. Choose another data set.")
    encoded, found, names = source.read()
    keep = np.arange(len(found)) if classes is None else np.flatnonzero(np.isin(found, classes))
    if features is not None:
      if not keep.size:
        continue
      rows = prepared_features.with_features(prepared_features.Labels(
          source.title, found[keep], np.asarray(names)[keep], source.kind, source.num_classes),
                                             features, split)
      images.append(rows.features)
      labels.append(rows.labels)
      ids.extend(rows.ids if classes is None else [f"{split}/{one}" for one in rows.ids])
      continue
    stored = tf.io.decode_image(encoded[0], expand_animations=False).shape[:2]
    labels.append(found[keep])
    names = [names[i] if classes is None else f"{split}/{names[i]}" for i in keep]
    are_black &= source.is_stand_in
    if source.is_stand_in:  # This memory is taken when it is written.
      images.append(rehearsal.zeros([len(keep), side, side, channels], np.uint8))
      ids.extend(names)
      continue
    for start in range(0, len(keep), _CHUNK):
      part = keep[start:start + _CHUNK]
      images.append(nearest(decoding.decode_all(
          [encoded[i] for i in part], (stored[0], stored[1], channels), name=source.title,
          ids=np.asarray(names[start:start + _CHUNK])), side))
    ids.extend(names)
  joined = rehearsal.concatenated if are_black else np.concatenate
  return (images[0] if len(images) == 1 else joined(images), np.concatenate(labels),
          np.asarray(ids))


def _check_split(split: str, allowed: Sequence[str] = SPLITS) -> None:
  if split not in allowed:
    raise ValueError(f"Unknown split {split!r}; allowed are {', '.join(allowed)}.")
