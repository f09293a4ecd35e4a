# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A series like CLEAR's made from any data set: disjoint buckets whose images drift in time.

Each image gets a time in [0, 1): with buckets 0..T of equal length, one of bucket b has the time
(b + u) / (T + 1), where u in [0, 1) is drawn for it. The change of an image depends only on its
time, so the drift is smooth, within a bucket and from one to the next:

  hue       turned by time * hue_turns, in the YIQ plane
  contrast  scaled by 1 - time * fade, about the image's mean gray
  blur      Gaussian, standard deviation time * blur pixels

Every class is dealt out evenly: m images to each of the buckets 1..T, in an order drawn from the
seed, and the others to bucket 0, which is for pretraining without labels.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import tensorflow as tf

from suite.compute import seeds
from suite.contracts import rehearsal
from suite.contracts import tasks
from suite.data.images import color_ops
from suite.data.images import decoding
from suite.data.images import image_set
from suite.data.images import tfds_source
from suite.data.streams import buckets

MODES = ("iid", "streaming")
_TEST_SHARE = 0.3
_CHUNK = 2048


@dataclasses.dataclass(frozen=True)
class Series:
  """The parameters of a series; equal series are equal image by image.

  Attributes:
    data: a prepared single-label data set whose images all have one shape.
    splits: the splits that are pooled.
    num_buckets: T.
    bucket_size: images of each bucket, a multiple of the number of classes.
    pretrain_size: greatest number of images of bucket 0.
    num_classes: C, to use the first C classes only; None: all.
    hue_turns, fade, blur: at time 1, see the module.
    seed: of the assignment to buckets and of the times.
  """

  data: str = "nevis/cifar10"
  splits: tuple[str, ...] = ("train", "dev", "validation")
  num_buckets: int = 10
  bucket_size: int = 3300
  pretrain_size: int = 16_000
  num_classes: int | None = None
  hue_turns: float = 0.5
  fade: float = 0.5
  blur: float = 1.0
  seed: int = 0

  def __post_init__(self) -> None:
    if self.num_buckets < 1 or self.bucket_size < 1:
      raise ValueError(f"A series of {self.num_buckets} buckets of {self.bucket_size} images; both "
                       "numbers must be at least 1.")


SERIES: dict[str, Series] = {
    "drifting/cifar10": Series(),
    "drifting/cifar10_small": Series(bucket_size=1000),
    "drifting/tiny_imagenet": Series(data="nevis/tiny_imagenet", bucket_size=6000),
    "drifting/tiny_imagenet_small": Series(data="nevis/tiny_imagenet", bucket_size=2000),
}


def find(series: str | Series) -> Series:
  """The series of a name."""
  if isinstance(series, Series):
    return series
  if series not in SERIES:
    raise ValueError(f"Unknown series {series!r}; allowed are {', '.join(SERIES)}, or a Series.")
  return SERIES[series]


def load(series: str | Series = "drifting/cifar10", *, protocol: str = "iid", seed: int = 0,
         data_dir: str | None = None) -> buckets.Buckets:
  """Buckets "bucket_01" to "bucket_10".

  Args:
    series: a `Series`, or the name of one.
    protocol: "iid": a random 70/30 split of each bucket; "streaming": both sets are all of it.
    seed: of the iid split.
    data_dir: of the prepared data sets.
  """
  if protocol not in MODES:
    raise ValueError(f"Unknown protocol {protocol!r}; allowed are {', '.join(MODES)}.")
  found, series = [], find(series)
  pool = _Pool(series, data_dir)
  for number in range(1, series.num_buckets + 1):
    whole = train = test = pool.bucket(number)
    if protocol == "iid":
      train, test = whole.split(_TEST_SHARE, seed=seeds.derive(seed, "iid split", number))
    found.append(buckets.Bucket(name(number), train, test))
  task = tasks.Task(f"drifting {series.data}", tasks.SINGLE_LABEL, pool.num_classes)
  names = tfds_source.label_names(series.data, data_dir=data_dir)[:pool.num_classes]
  return buckets.Buckets(task, tuple(found), tuple(names))


def unlabelled(series: str | Series = "drifting/cifar10", *,
               data_dir: str | None = None) -> image_set.ImageSet:
  """Bucket 0, whose images all have the label 0 of 1."""
  return bucket(series, 0, data_dir=data_dir)


def bucket(series: str | Series, number: int, *, data_dir: str | None = None
           ) -> image_set.ImageSet:
  """All images of one bucket; number 0 has no labels."""
  series = find(series)
  if not 0 <= number <= series.num_buckets:
    raise ValueError(f"A series of {series.num_buckets} buckets has none of number {number}; "
                     f"allowed are 0..{series.num_buckets}.")
  return _Pool(series, data_dir).bucket(number)


def every_bucket(series: str | Series, *, data_dir: str | None = None
                 ) -> list[image_set.ImageSet | None]:
  """All images of each bucket, by number; None for an empty bucket 0."""
  series = find(series)
  pool = _Pool(series, data_dir)
  return [pool.bucket(number) if len(pool.places(number)) else None
          for number in range(series.num_buckets + 1)]


def name(number: int) -> str:
  """The name of a bucket."""
  return f"bucket_{number:02d}"


def deal(labels: np.ndarray, series: Series) -> list[np.ndarray]:
  """Places of the images of buckets 0..T, ascending; labels int64 [N]."""
  classes = np.unique(labels)
  share, rest = divmod(series.bucket_size, len(classes))
  if rest or not share:
    raise ValueError(f"{series.bucket_size} images a bucket are no multiple of the {len(classes)} "
                     f"classes of {series.data!r}; choose one, or num_classes.")
  hands: list[list[np.ndarray]] = [[] for _ in range(series.num_buckets + 1)]
  for label in classes:
    own = np.flatnonzero(labels == label)
    if len(own) < share * series.num_buckets:
      raise ValueError(
          f"Class {label} of {series.data!r} has {len(own)} images; {series.num_buckets} buckets "
          f"with {share} each take {share * series.num_buckets}. Choose smaller buckets.")
    own = seeds.generator(series.seed, "deal", int(label)).permutation(own)
    for number in range(series.num_buckets):
      hands[number + 1].append(own[number * share:(number + 1) * share])
    hands[0].append(own[series.num_buckets * share:])
  first = seeds.generator(series.seed, "deal").permutation(np.concatenate(hands[0]))
  hands[0] = [first[:series.pretrain_size]]
  return [np.sort(np.concatenate(hand)) for hand in hands]


def drifted(images: np.ndarray, times: np.ndarray, series: Series) -> np.ndarray:
  """Images uint8 [N, H, W, 3], changed as of times float64 [N] in [0, 1]."""
  parts = []
  with tf.device("CPU:0"):
    for i in range(0, len(images), _CHUNK):
      part, when = tf.constant(images[i:i + _CHUNK]), tf.constant(times[i:i + _CHUNK])
      turned = color_ops.hue(series.hue_turns * when)
      means = color_ops.transformed(turned, color_ops.mean_colors(part))
      faded = color_ops.then(turned, color_ops.contrast(1.0 - series.fade * when, means))
      found = color_ops.recolored(part, faded)
      if series.blur:
        radius = min(max(1, math.ceil(3.0 * series.blur)), *part.shape[1:3])
        found = color_ops.blurred(found, series.blur * when, radius=radius)
      parts.append(tf.cast(tf.round(found), tf.uint8).numpy())
  return np.concatenate(parts)


class _Pool:
  """All images of the series' data, assigned to buckets."""

  def __init__(self, series: Series, data_dir: str | None):
    self._series, self._data_dir = series, data_dir
    sources = [tfds_source.open_split(series.data, s, data_dir=data_dir) for s in series.splits]
    if sources[0].kind != tasks.SINGLE_LABEL:
      raise ValueError(f"{series.data!r} is {sources[0].kind}; a series is made of "
                       f"{tasks.SINGLE_LABEL} data.")
    encoded: list[bytes] = []
    labels: list[np.ndarray] = []
    ids: list[str] = []
    for source in sources:
      some, some_labels, some_ids = source.read()
      encoded += some
      labels.append(some_labels)
      ids += [f"{source.split}/{i}" for i in some_ids]
    self.num_classes = series.num_classes or sources[0].num_classes
    self._class_names = sources[0].class_names and sources[0].class_names[:self.num_classes]
    self._labels = np.concatenate(labels)
    kept = np.flatnonzero(self._labels < self.num_classes)
    self._labels = self._labels[kept]
    self._encoded, self._ids = [encoded[i] for i in kept], np.asarray(ids)[kept]
    self._hands = deal(self._labels, series)
    self._times = seeds.generator(series.seed, "times").random(len(kept))

  def places(self, number: int) -> np.ndarray:
    """Indices of the images of a bucket, ascending."""
    return self._hands[number]

  def bucket(self, number: int) -> image_set.ImageSet:
    chosen = self._hands[number]
    title = f"drifting {self._series.data} {name(number)}"
    if not len(chosen):
      raise ValueError(f"{title!r} is empty: the other buckets take all images. Choose smaller "
                       "buckets.")
    times = (number + self._times[chosen]) / (self._series.num_buckets + 1)
    encoded = [self._encoded[i] for i in chosen]
    sizes = {shape and shape[:2] for shape in map(decoding.shape, encoded)}
    size = sizes.pop()
    if sizes or size is None:
      raise ValueError(f"The images of {self._series.data!r} are not all of one size; a series "
                       "drifts images of one size only, as those of nevis/cifar10.")
    if rehearsal.counts_only() and "/stand-in/" in self._ids[chosen[0]]:  # Black images.
      images = rehearsal.zeros((len(chosen), *size, 3), np.uint8)
      rehearsal.holds(images.nbytes)
    else:
      images = drifted(decoding.decode_all(
          encoded, (*size, 3), name=title, ids=self._ids[chosen]), times, self._series)
    labels = self._labels[chosen] if number else np.zeros(len(chosen), np.int64)
    return image_set.ImageSet.from_arrays(
        title, images, labels, kind=tasks.SINGLE_LABEL,
        num_classes=self.num_classes if number else 1, ids=self._ids[chosen].tolist(),
        class_names=self._class_names if number else None)
