# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Buckets with unlabelled images, for continual semi-supervised learning (figure 5 of CLEAR).

  withheld   of each class and bucket a share of the training images keeps its label; all others
             become unlabelled images. Test images stay as they are.
  beside     the unlabelled images of another prepared data set, or of the same timeline, bucket by
             bucket, beside all labeled ones.

Unlabelled images have the label 0 of 1 class, and ids that say nothing.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import tensorflow as tf

from suite.compute import seeds
from suite.contracts import tasks
from suite.data.images import feature_set
from suite.data.images import image_set
from suite.data.images import image_store
from suite.data.images import prepared_sets
from suite.data.images import tfds_source
from suite.data.streams import buckets as buckets_lib

_OWN = "unlabelled_"  # Begins the name of the split beside a bucket's labeled images.


def withheld(buckets: buckets_lib.Buckets, labelled_share: float = 0.1, *, seed: int = 0
             ) -> buckets_lib.Buckets:
  """Returns the buckets with most labels of their training images withheld.

  Args:
    buckets: of images or of features.
    labelled_share: share of each class that keeps its labels, rounded; at least one image.
    seed: of the draw.
  """
  if not 0 < labelled_share < 1:
    raise ValueError(f"labelled_share={labelled_share}; it must be between 0 and 1. Without it all "
                     "images have labels.")
  found = []
  for number, bucket in enumerate(buckets):
    own = seeds.derive(seed, "labels", number)[0]
    if bucket.unlabelled is not None:
      raise ValueError(f"{bucket.name} of {buckets.task.key!r} has unlabelled images already; "
                       "withhold no labels.")
    rest, labelled = image_set.stratified_split(bucket.train, labelled_share, seed=own)
    if not isinstance(rest, image_set.ImageSet):
      raise ValueError(f"{bucket.train.name!r} is no set in memory; take one that is.")
    unlabelled = _maker(rest)(
        f"{rest.name}, unlabelled", rest.store, np.zeros(rest.size, np.int64),
        kind=tasks.SINGLE_LABEL, num_classes=1)
    found.append(dataclasses.replace(bucket, train=labelled, unlabelled=unlabelled))
  return dataclasses.replace(buckets, buckets=tuple(found))


def beside(buckets: buckets_lib.Buckets, name: str | None = None, *, most: int | None = None,
           data_dir: str | None = None) -> buckets_lib.Buckets:
  """Returns the buckets with unlabelled images of a prepared data set beside them.

  Args:
    buckets: of images.
    name: "timeline/mine", whose splits "unlabelled_bucket_03", or else "bucket_03", are the images
      of bucket_03; None: the data set of the buckets.
    most: images of a bucket; None: all. More than 4 GiB of them stay on disk, which serves
      pretraining, but no pseudo-labels.
    data_dir: of the prepared data sets.
  """
  name = buckets.task.name if name is None else name
  splits = tfds_source.num_examples(name, data_dir=data_dir)
  if not splits:
    tfds_source.check_prepared(name, data_dir=data_dir)  # Says how to prepare it.
  # A bucket with labels is one of labeled images, unless it is another data set's.
  own = [_OWN + bucket.name if _OWN + bucket.name in splits or name == buckets.task.name
         else bucket.name for bucket in buckets]
  missing = [split for split in own if not splits.get(split)]
  if missing:
    raise ValueError(
        f"Data set {name!r} has no unlabelled images in {', '.join(missing)}; it has "
        f"{', '.join(sorted(splits))}. Give unlabelled images of every bucket: lines without a "
        "label in the table of a timeline (suite data timeline).")
  return dataclasses.replace(buckets, buckets=tuple(
      dataclasses.replace(bucket, unlabelled=unlabelled(name, split, most=most, data_dir=data_dir))
      for bucket, split in zip(buckets, own)))


def unlabelled(name: str, split: str, *, most: int | None = None,
               data_dir: str | None = None
               ) -> image_set.ImageSet | prepared_sets.StreamedSet:
  """The images of one split of a prepared data set, without labels, such as bucket_00 of CLEAR."""
  # TFDS stores examples in a random order.
  part = split if most is None else f"{split}[:{most}]"
  source = tfds_source.open_split(name, part, data_dir=data_dir)
  if source.num_bytes > image_set.DEFAULT_MEMORY_LIMIT_BYTES:
    return prepared_sets.StreamedSet(source)
  encoded, _, _ = source.read()
  return image_set.ImageSet.from_encoded(
      f"{source.title}, unlabelled", encoded, np.zeros(len(encoded), np.int64),
      kind=tasks.SINGLE_LABEL, num_classes=1)


def with_guesses(train: image_set.ImageSet, images: image_set.ImageSet, places: np.ndarray,
                 labels: np.ndarray) -> image_set.ImageSet:
  """Returns labeled images, followed by unlabelled ones with labels that a learner gave them.

  Args:
    train: the labeled images or features, in memory.
    images: N unlabelled ones, in memory.
    places: int64 [n] of N. labels: int64 [n], their classes.
  """
  stores = train.store, images.store.take(np.asarray(places, np.int64))
  features = [one.features for one in stores if isinstance(one, feature_set.FeatureStore)]
  raw = [one.pixels for one in stores if isinstance(one, image_store.RawStore)]
  store: image_store.Store
  if len(features) == 2:
    store = feature_set.FeatureStore(train.name, np.concatenate(features))
  elif len(raw) == 2 and raw[0].shape[1:] == raw[1].shape[1:]:
    store = image_store.RawStore(np.concatenate(raw))
  else:  # Images of different shapes are encoded without loss.
    store = image_store.EncodedStore(
        [*_encoded(stores[0]), *_encoded(stores[1])], name=train.name)
  ids = [*train.ids, *(f"unlabelled/{images.ids[place]}" for place in places)]
  return _maker(train)(f"{train.name} and pseudo-labels", store,
                       np.concatenate([train.labels, labels]), kind=train.kind,
                       num_classes=train.num_classes, ids=ids, class_names=train.class_names)


def _encoded(store: image_store.Store) -> list[bytes]:
  if isinstance(store, image_store.EncodedStore):
    return store.encoded.numpy().tolist()
  assert isinstance(store, image_store.RawStore), "features beside images"
  return [tf.io.encode_png(image).numpy() for image in store.pixels]


def _maker(images: image_set.ImageSet) -> type[image_set.ImageSet]:
  is_features = isinstance(images, feature_set.FeatureSet)
  return feature_set.FeatureSet if is_features else image_set.ImageSet
