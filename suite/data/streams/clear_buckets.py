# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""CLEAR-10, CLEAR-100 and timelines as buckets: images or features, in the paper's three protocols.

  iid         train and test are the released 70/30 split of each bucket, by its seed 0 to 4; of a
              timeline, one of the five that were drawn when it was made
  streaming   both are all of a bucket; `protocols.clear` in its streaming mode never tests on a
              bucket that was trained on
  challenge   train is all of a bucket, test the archive of test images that was released later
"""

from __future__ import annotations

from collections.abc import Iterator
import re
import typing
from typing import Any, Literal, NamedTuple

from absl import logging
import numpy as np

from suite.contracts import rehearsal
from suite.contracts import tasks
from suite.data.images import class_lists
from suite.data.images import feature_set
from suite.data.images import image_set
from suite.data.images import tfds_source
from suite.data.streams import buckets
from suite.data.streams import class_coverage

Mode = Literal["iid", "streaming", "challenge"]
PROTOCOLS = typing.get_args(Mode)
SEEDS = (0, 1, 2, 3, 4)
LAST = 10
_BATCH = 1024
_BUCKET = re.compile(r"bucket_(\d+)")
_FEATURE = "feature"


class _Records(NamedTuple):
  """The records of a split: encoded images or features; is_test is the released split's mask."""

  inputs: Any
  labels: np.ndarray
  ids: list[str]
  is_test: np.ndarray | None


def load(name: str = "clear10/images", *, protocol: Mode = "iid", seed: int = 0, first: int = 1,
         last: int | None = LAST, test_name: str | None = None,
         data_dir: str | None = None) -> buckets.Buckets:
  """Reads a prepared data set; buckets are called "bucket_01" to "bucket_10", as its splits are.

  Args:
    name: "clear10/images", "clear10/moco_b0", "clear100/images", ...
    protocol: one of `PROTOCOLS`.
    seed: of the released iid split; the other protocols have none.
    first: 1; 0 where bucket 0 is labeled, too.
    last: number of the last bucket; None: all labeled buckets that the data set has.
    test_name: "challenge" only: the data set of the test images, if it is another one.
    data_dir: of the prepared data sets.
  """
  if protocol not in PROTOCOLS:
    raise ValueError(f"Unknown protocol {protocol!r}; allowed are {', '.join(PROTOCOLS)}.")
  if seed not in SEEDS:
    raise ValueError(f"seed={seed}; the released iid splits have the seeds "
                     f"{', '.join(map(str, SEEDS))}.")
  return rehearsal.shared(
      __name__, (name, protocol, seed, first, last, test_name, data_dir),
      lambda: _read(name, protocol, seed, first, last, test_name, data_dir))


def _read(name: str, protocol: str, seed: int, first: int, last: int | None,
          test_name: str | None, data_dir: str | None) -> buckets.Buckets:
  numbers = (list(range(first, last + 1)) if last is not None else
             [i for i in bucket_numbers(name, data_dir=data_dir) if i >= first])
  train = _Splits(name, [f"bucket_{i:02d}" for i in numbers], data_dir)
  tests = train
  if protocol == "challenge":
    tests = _Splits(test_name or name, [f"test_bucket_{i:02d}" for i in numbers], data_dir)
    _check_classes(train, tests)
  found = []
  names = [f"bucket_{i:02d}" for i in numbers]
  read = train.read(names, f"iid_test_{seed}" if protocol == "iid" else None)
  read_tests = (tests.read([f"test_{bucket}" for bucket in names], None)
                if protocol == "challenge" else iter(()))
  for bucket, records in zip(names, read):
    if protocol == "iid":
      assert records.is_test is not None
      parts = (train.make(bucket, "train", records, ~records.is_test),
               train.make(bucket, "test", records, records.is_test))
    else:
      whole = train.make(bucket, "train", records)
      parts = (whole, whole if protocol == "streaming" else
               tests.make(f"test_{bucket}", "", next(read_tests)))
    found.append(buckets.Bucket(bucket, *parts))
  if name.startswith(tfds_source.TIMELINE):
    if protocol != "streaming":
      class_coverage.check_trained(name, [b.train for b in found], [b.test for b in found])
    class_coverage.warn_of_gaps(
        name, [b.name for b in found], [b.train for b in found], "to train on")
  task = tasks.Task(name, tasks.SINGLE_LABEL, train.num_classes)
  return buckets.Buckets(task, tuple(found), tuple(train.class_names))


def bucket_numbers(name: str, *, data_dir: str | None = None) -> list[int]:
  """The numbers of the buckets of a prepared data set that have labels, ascending."""
  splits = tfds_source.num_examples(name, data_dir=data_dir)
  if not splits:
    tfds_source.open_split(name, "bucket_01", data_dir=data_dir)  # Says how to prepare it.
  found = sorted(int(match[1]) for match in map(_BUCKET.fullmatch, splits) if match)
  unlabelled = tfds_source.metadata(name, data_dir=data_dir).get("unlabelled_buckets", [])
  labeled = [i for i in found if i not in unlabelled]
  if not labeled:
    raise ValueError(f"Data set {name!r} has no labeled buckets, but {', '.join(sorted(splits))}. "
                     "A run needs labels: give a table with the column 'label', or curate one "
                     "(suite curate).")
  if len(labeled) < len(found):
    logging.info("%s: buckets %s have no labels and take no part.", name,
                 ", ".join(map(str, unlabelled)))
  return labeled


class _Splits:
  """The splits of a prepared data set; an error if one of `wanted` is missing or empty."""

  def __init__(self, name: str, wanted: list[str], data_dir: str | None):
    self.name = name
    splits = sorted(tfds_source.num_examples(name, data_dir=data_dir))
    # Opened by any split that the data set has.
    self._source = tfds_source.open_split(
        name, splits[0] if splits else "bucket_01", data_dir=data_dir)
    info = self._source.builder.info
    missing = [split for split in wanted
               if split not in info.splits or not info.splits[split].num_examples]
    if missing:
      if not all(split.startswith("test_") for split in missing):
        advice = f"Build it again: suite data build {name}"
      elif name.startswith(tfds_source.TIMELINE):
        advice = ("Make it again with test images of every bucket (suite data timeline --test), or "
                  "run with MODE='iid' or 'streaming', which need none.")
      else:
        advice = ("No features of test images were published; give test_name, a data set that has "
                  "them.")
      raise ValueError(f"Data set {name!r} has nothing of {', '.join(missing)}; it has "
                       f"{', '.join(sorted(info.splits))}. {advice}")
    self.num_classes = info.features["label"].num_classes
    self.class_names = list(info.features["label"].names)
    self._features = info.features
    self._is_images = "image" in info.features
    if not self._is_images and _FEATURE not in info.features:
      raise ValueError(f"Data set {name!r} has neither images nor features, but "
                       f"{', '.join(sorted(info.features))}. Name one that has: clear10/images, "
                       "clear10/moco_b0.")

  def read(self, splits: list[str], flag: str | None) -> Iterator[_Records]:
    """All records of each split in the order in which they are stored, by one pipeline.

    Args:
      splits: in which order they come.
      flag: name of a boolean feature.
    """
    import tensorflow_datasets as tfds  # pylint: disable=import-outside-toplevel
    key = "image" if self._is_images else _FEATURE
    dataset = self._source.builder.as_dataset(
        split="+".join(splits), decoders=self._source.decoders if self._is_images else None,
        shuffle_files=False,
        read_config=tfds.ReadConfig(interleave_cycle_length=1, try_autocache=False))
    keys = (key, "label", "id", *([flag] if flag else []))
    sizes = [self._source.builder.info.splits[split].num_examples for split in splits]
    places = np.repeat(np.arange(len(splits)), sizes)  # The split of each record.
    columns: list[dict[str, list[Any]]] = [{k: [] for k in keys} for _ in splits]
    for batch in dataset.map(lambda e: {k: e[k] for k in keys}).batch(_BATCH).as_numpy_iterator():
      here, places = np.split(places, [len(batch["label"])])
      for place in np.unique(here):
        for k in keys:
          columns[place][k].append(batch[k][here == place])
    for split in splits:  # What was read of it is freed then.
      whole = {k: np.concatenate(parts) for k, parts in columns.pop(0).items()}
      if (whole["label"] < 0).any():
        raise ValueError(
            f"{self.name} {split} holds images without a label. Leave it out: first=1.")
      yield _Records(list(whole[key]) if self._is_images else whole[key], whole["label"],
                     [i.decode() for i in whole["id"]], whole[flag] if flag else None)

  def make(self, split: str, part: str, records: _Records, chosen: np.ndarray | None = None
           ) -> image_set.ImageSet:
    """An image or feature set of the chosen records, bool [N]; all if not given."""
    places = np.arange(len(records.ids)) if chosen is None else np.flatnonzero(chosen)
    title = f"{self.name} {split} {part}".strip()
    if not len(places):
      advice = ("Make the timeline of larger buckets (suite data timeline --num N), or run with "
                "MODE='streaming'." if self.name.startswith(tfds_source.TIMELINE) else
                "Build the data set again from the whole archive.")
      raise ValueError(f"{title!r} is empty: none of the {len(records.ids)} images of {split} is "
                       f"of this part. {advice}")
    facts: dict[str, Any] = dict(kind=tasks.SINGLE_LABEL, num_classes=self.num_classes,
                                 ids=[records.ids[i] for i in places],
                                 class_names=class_lists.known(self.class_names))
    labels = records.labels[places]
    if self._is_images:
      return image_set.ImageSet.from_encoded(
          title, [records.inputs[i] for i in places], labels, **facts)
    return feature_set.FeatureSet.from_arrays(title, records.inputs[places], labels, **facts)


def _check_classes(train: _Splits, tests: _Splits) -> None:
  if train.class_names != tests.class_names:
    only = sorted(set(train.class_names) ^ set(tests.class_names))
    what = f"only one of them has {', '.join(only[:5])}" if only else "they stand in other orders"
    raise ValueError(
        f"The classes of {train.name!r} and {tests.name!r} differ: {what}. Build both from archives"
        " of the same edition.")
