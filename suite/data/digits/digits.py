# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Small real benchmarks without a download: scikit-learn's 1,797 handwritten digits, 8 x 8 pixels.

An image belongs to train (.45), dev (.10), validation (.15) or test (.30) by a hash of its number,
the same in all tasks: no image is trained on in one task and tested on in another, in whatever
form. Benchmarks other than NEVIS'22 have train and dev as one split. Years are invented.

The pixels of scikit-learn's handwritten digits, and the changes of the embedded benchmarks.

Every function takes and returns uint8 [N, H, W, 1], white ink on black unless it says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import functools
import hashlib
import pathlib

import numpy as np
from PIL import Image

from suite.contracts import tasks
from suite.data.episodes import episode_conventions
from suite.data.episodes import episodes as episodes_lib
from suite.data.episodes import task_types
from suite.data.images import feature_set
from suite.data.images import image_set
from suite.data.sequences import sequences
from suite.data.streams import buckets as buckets_lib
from suite.data.streams import partly_labelled
from suite.data.streams import streams

NUM_IMAGES = 1797
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_GREATEST = 16  # The greatest value of a pixel in the source.
_SPLITS = (("train", 0.45), ("dev", 0.10), ("validation", 0.15), ("test", 0.30))
_ALL = tuple(range(10))
_MOSAICS = {"train": 500, "dev": 100, "validation": 150, "test": 300}


@functools.cache
def load() -> tuple[np.ndarray, np.ndarray]:
  """(images uint8 [1797, 8, 8, 1], labels int64 [1797]), read-only."""
  from sklearn import datasets  # pylint: disable=import-outside-toplevel  # Half a second.
  source = datasets.load_digits()
  images = np.round(source.images * (255 / _GREATEST)).astype(np.uint8)[..., None]
  labels = source.target.astype(np.int64)
  for array in (images, labels):
    array.setflags(write=False)
  return images, labels


def write(folder: pathlib.Path) -> None:
  """Writes all images as FOLDER/CLASS/NUMBER.png; the folder is there."""
  images, labels = load()
  for place, (image, label) in enumerate(zip(images, labels)):
    inner = folder / WORDS[label]
    inner.mkdir(exist_ok=True)
    Image.fromarray(image[..., 0]).save(inner / f"{place:04d}.png")


def unchanged(images: np.ndarray) -> np.ndarray:
  """The images as they are."""
  return images


def quarter_turn(images: np.ndarray) -> np.ndarray:
  """Turned by 90 degrees, counter-clockwise."""
  return np.rot90(images, axes=(1, 2))


def noisy_negative(images: np.ndarray) -> np.ndarray:
  """Black ink on white, under noise of a standard deviation of 48; the same noise each time."""
  noise = np.random.default_rng(2007).normal(0.0, 48.0, images.shape)
  return np.clip(np.round(255.0 - images + noise), 0, 255).astype(np.uint8)


def lean_and_fade(images: np.ndarray, *, degrees: float, fade: float) -> np.ndarray:
  """Turned by `degrees` and scaled towards black by the share `fade`."""
  from scipy import ndimage  # pylint: disable=import-outside-toplevel
  turned = ndimage.rotate(images.astype(np.float64), degrees, axes=(1, 2), reshape=False, order=1)
  return np.clip(np.round(turned * (1.0 - fade)), 0, 255).astype(np.uint8)


def mosaics(parts: np.ndarray) -> np.ndarray:
  """[N, 4, H, W, C] -> [N, 2H, 2W, C]: parts 0 1 above parts 2 3."""
  top, bottom = (np.concatenate([parts[:, i], parts[:, i + 1]], axis=2) for i in (0, 2))
  return np.concatenate([top, bottom], axis=1)


def nevis_stream(max_train_images: int | None = None, *, num_tasks: int | None = None
                 ) -> streams.Stream:
  """A stream of 8 tasks as NEVIS'22 has 106: 5 to develop on, 3 meta-test, two of them repeated.

  Args:
    max_train_images: greatest number of training images a task, for tests; None: all.
    num_tasks: only the first tasks, without a meta-test task if fewer than 6; None: all.

  Returns:
    The stream.
  """
  make = functools.partial(_entry, max_train_images=max_train_images)
  entries = [
      make("digits_0_4", 2001, streams.META_TRAIN, classes=_ALL[:5]),
      make("digits_rotated", 2002, streams.META_TRAIN, change=quarter_turn),
      make("digits", 2003, streams.META_TRAIN),
      make("digits_mosaic", 2004, streams.META_TRAIN, kind=tasks.MULTI_LABEL),
      make("digits", 2005, streams.META_TRAIN, occurrence=2),
      make("digits_5_9", 2006, streams.META_TEST, classes=_ALL[5:]),
      make("digits_noisy", 2007, streams.META_TEST, change=noisy_negative),
      make("digits_rotated", 2008, streams.META_TEST, change=quarter_turn,
           occurrence=2),
  ]
  if num_tasks is not None and not 1 <= num_tasks <= len(entries):
    raise ValueError(f"num_tasks={num_tasks}; the digits make 1 to {len(entries)} tasks, None is "
                     "all of them.")
  if num_tasks is not None:
    return streams.Stream(f"digits, first {num_tasks}", entries[:num_tasks])
  return streams.Stream("digits", entries,
                        expected={streams.META_TRAIN: 5, streams.META_TEST: 3})


def buckets(num_buckets: int = 3, *, as_features: bool = False,
            labelled_share: float | None = None) -> buckets_lib.Buckets:
  """A domain-incremental series like CLEAR's: the digits lean over and fade from bucket to bucket.

  Each bucket has its own images; .7 of them are for training. From the first to the last bucket
  digits turn by 60 degrees and lose half their contrast. `as_features`: each image is given as its
  64 pixels from 0 to 1, for learners on features. `labelled_share`: of the training images of each
  bucket, all others of which are unlabelled (see `partly_labelled.withheld`); None: all.
  """
  if not 1 <= num_buckets <= 10:
    raise ValueError(f"num_buckets={num_buckets}; the 1,797 digits make 1 to 10 buckets.")
  _, labels = load()
  changed, home, is_train = _leaning(num_buckets)
  made = []
  for t in range(num_buckets):
    make = _feature_set if as_features else _image_set
    parts = [make(f"digits bucket_{t + 1:02d} {name}", changed, labels,
                  np.flatnonzero((home == t) & chosen))
             for name, chosen in (("train", is_train), ("test", ~is_train))]
    made.append(buckets_lib.Bucket(f"bucket_{t + 1:02d}", *parts))
  found = buckets_lib.Buckets(tasks.Task("digits", tasks.SINGLE_LABEL, 10), tuple(made))
  return found if labelled_share is None else partly_labelled.withheld(found, labelled_share)


@functools.cache
def _leaning(num_buckets: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
  """The images as `buckets` changes them; the bucket of each, and whether it is to train on."""
  images, _ = load()
  home = (_unit_hashes("bucket") * num_buckets).astype(np.int64)
  changed = np.zeros_like(images)
  for t in range(num_buckets):
    progress = t / max(1, num_buckets - 1)
    changed[home == t] = lean_and_fade(
        images[home == t], degrees=60.0 * progress, fade=0.5 * progress)
  return changed, home, _unit_hashes("bucket train") < 0.7


def class_buckets(num_tasks: int = 5, *, seed: int | None = None,
                  class_order: buckets_lib.ClassOrder | None = None, as_features: bool = False
                  ) -> buckets_lib.Buckets:
  """A class-incremental series like Split-MNIST: two of the ten digits with each of five tasks.

  `num_tasks`, `seed` and `class_order` are as of `buckets.of_classes`, `as_features` as of
  `buckets`.
  """
  return buckets_lib.of_classes(
      train_and_test(as_features), num_tasks=num_tasks, seed=seed, class_order=class_order)


def train_and_test(as_features: bool = False) -> tuple[image_set.ImageSet, image_set.ImageSet]:
  """The images of train and dev, and those of test, for `buckets.of_classes`, say."""
  images, labels = load()
  make = _feature_set if as_features else _image_set
  train, test = (make(f"digits {name}", images, labels, _with_dev(name))
                 for name in ("train", "test"))
  return train, test


def episodes(split: str = "train", *, classes: Sequence[int] | None = None, way: int = 5,
             shot: int = 1, targets: int = 5, num_support_sets: int = 1,
             class_change_interval: int = 1, overwrite: bool = False, seed: int = 0,
             convention: episode_conventions.Convention = episode_conventions.SPEC,
             with_classes: bool = False) -> episodes_lib.Episodes:
  """Few-shot episodes over the digits of one split, 8 x 8 x 3; of `classes` only, if given.

  `with_classes` is as of `Episodes`.
  """
  setting = task_types.Setting(way, shot, targets, num_support_sets, class_change_interval,
                               overwrite)
  images, labels = load()
  chosen, data = _with_dev(split), "embedded/digits"
  if classes is not None:
    chosen = chosen[np.isin(labels[chosen], classes)]
    data += f" of the classes {', '.join(map(str, sorted(classes)))}"
  return episodes_lib.Episodes(
      np.repeat(images[chosen], 3, axis=-1), labels[chosen], setting, ids=[str(i) for i in chosen],
      data=data, split=split, seed=seed, convention=convention, with_classes=with_classes)


def sequence(num_samples: int = 300, *, seed: int = 0) -> sequences.Sequence:
  """A long-tailed sequence like FLUID's: digits 0-3 are base classes, 4-9 are novel.

  Samples come from the validation and test splits, so `sequence_base` shares none of them.
  """
  images, labels = load()
  pool = np.concatenate([_indices("validation"), _indices("test")])
  chosen = pool[sequences.long_tailed(labels[pool], num_samples, seed=seed)]
  return sequences.Sequence(np.repeat(images[chosen], 3, axis=-1), labels[chosen],
                            ids=[str(i) for i in chosen], num_base_classes=4, num_classes=10)


def sequence_base() -> image_set.ImageSet:
  """The base classes' training images, to pretrain on before `sequence`: labels 0-3 of 10."""
  images, labels = load()
  chosen = _with_dev("train")
  return _image_set("digits base", images, labels, chosen[labels[chosen] < 4])


def _entry(name: str, year: int, role: str, *, classes: Sequence[int] = _ALL, occurrence: int = 1,
           change: Callable = unchanged, kind: str = tasks.SINGLE_LABEL,
           max_train_images: int | None = None) -> streams.StreamEntry:

  def load() -> streams.Splits:
    make = _mosaic_set if kind == tasks.MULTI_LABEL else _changed_set
    sets: dict[str, image_set.ImageSet] = {
        split: make(f"{name} {split}", split, classes=classes, change=change)
        for split, _ in _SPLITS}
    if max_train_images is not None:
      sets["train"] = sets["train"].take(max_train_images, seed=0)
    return streams.Splits(sets["train"], sets["dev"], sets["validation"], sets["test"])

  return streams.StreamEntry(tasks.Task(name, kind, len(classes), occurrence), year, role, load,
                       f"embedded/{name}")


def _changed_set(name: str, split: str, *, classes: Sequence[int],
                 change: Callable) -> image_set.ImageSet:
  images, labels = load()
  chosen = _indices(split)
  chosen = chosen[np.isin(labels[chosen], classes)]
  new_labels = np.searchsorted(classes, labels)
  return _image_set(name, change(images), new_labels, chosen, num_classes=len(classes))


def _mosaic_set(name: str, split: str, *, classes: Sequence[int],
                change: Callable) -> image_set.ImageSet:
  """2 x 2 mosaics of a split's own digits; the label says which digits are in it."""
  images, labels = load()
  rng = np.random.default_rng([2004, [part for part, _ in _SPLITS].index(split)])
  parts = _indices(split)[rng.integers(0, len(_indices(split)), [_MOSAICS[split], 4])]
  multi_hot = np.zeros([len(parts), len(classes)], np.uint8)
  multi_hot[np.arange(len(parts))[:, None], labels[parts]] = 1
  ids = [f"{number}:{'+'.join(map(str, row))}" for number, row in enumerate(parts)]
  return image_set.ImageSet.from_arrays(
      name, mosaics(change(images)[parts]), multi_hot, kind=tasks.MULTI_LABEL,
      num_classes=len(classes), ids=ids)


def _image_set(name: str, images: np.ndarray, labels: np.ndarray, chosen: np.ndarray, *,
               num_classes: int = 10) -> image_set.ImageSet:
  return image_set.ImageSet.from_arrays(
      name, images[chosen], labels[chosen], kind=tasks.SINGLE_LABEL, num_classes=num_classes,
      ids=[str(i) for i in chosen])


def _feature_set(name: str, images: np.ndarray, labels: np.ndarray, chosen: np.ndarray
                 ) -> feature_set.FeatureSet:
  pixels = images[chosen].reshape([len(chosen), -1]).astype(np.float32) / 255.0
  return feature_set.FeatureSet.from_arrays(
      name, pixels, labels[chosen], kind=tasks.SINGLE_LABEL, num_classes=10,
      ids=[str(i) for i in chosen])


def _with_dev(split: str) -> np.ndarray:
  """The numbers of the images of "train", dev included, "validation" or "test", ascending."""
  parts = {"train": ("train", "dev"), "validation": ("validation",), "test": ("test",)}
  if split not in parts:
    raise ValueError(f"Unknown split {split!r} of the digits; allowed are {', '.join(parts)}.")
  return np.sort(np.concatenate([_indices(part) for part in parts[split]]))


@functools.cache
def _indices(split: str) -> np.ndarray:
  """The numbers of the images of one of _SPLITS, ascending."""
  names = [name for name, _ in _SPLITS]
  edges: tuple[float, ...] = tuple(np.cumsum([share for _, share in _SPLITS])[:-1])
  places = np.searchsorted(edges, _unit_hashes("split"), side="right")
  return np.flatnonzero(places == names.index(split))


def _unit_hashes(purpose: str) -> np.ndarray:
  """A number in [0, 1) for each image that depends only on the purpose and the image's number."""
  digests = [hashlib.sha256(f"digits/{purpose}/{i}".encode()).digest() for i in range(NUM_IMAGES)]
  return np.asarray([int.from_bytes(digest[:6], "big") / 2**48 for digest in digests])
