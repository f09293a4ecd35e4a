# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The real archives, where LIFELONG_DATA holds them; the large ones only with LIFELONG_SLOW=1."""

import collections
import os
import pathlib

import pytest
import tensorflow_datasets as tfds

import tfds_builders
from tfds_builders import mirror
from tfds_builders import splits

_DATA = pathlib.Path(os.environ.get("LIFELONG_DATA", "../shared/data"))
_slow = pytest.mark.skipif(os.environ.get("LIFELONG_SLOW") != "1",
                           reason="takes a minute; set LIFELONG_SLOW=1")

# Train, dev, validation, test. Train and dev are near the "Size" of the paper's appendix L: 288 (of
# a copy with 410 images), 1,074, 51,000 and 42,500; Tiny ImageNet has 85,099 there, of 100,000 and
# not 40,000.
_SIZES = {
    "olivetti_face": (231, 46, 43, 80),
    "semeion": (891, 193, 191, 318),
    "mnist": (41999, 9001, 9000, 10000),
    "cifar10": (35000, 7500, 7500, 10000),
    "tiny_imagenet": (27995, 6000, 5999, 10000),  # Six images are in a later split, too.
}
_LARGE = ("mnist", "cifar10", "tiny_imagenet")


@pytest.fixture(autouse=True)
def _mirror():
  if not _DATA.is_dir():
    pytest.skip(f"no real data: LIFELONG_DATA (or {_DATA}) is not a folder")
  before = mirror.state()
  mirror.use(_DATA)
  yield
  mirror.restore(before)


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=_slow if name in _LARGE else ()) for name in _SIZES])
def test_real_archive_builds_with_the_known_sizes(name, tmp_path):
  if tfds_builders.status.inspect(f"nevis/{name}", tmp_path).state != "mirrored":
    pytest.skip(f"{_DATA} does not hold the archive of {name}")
  builder = tfds_builders.build(f"nevis/{name}", tmp_path)
  sizes = tuple(builder.info.splits[split].num_examples for split in splits.NAMES)
  assert sizes == _SIZES[name]
  per_class = collections.Counter()
  ids = set()
  for split in builder.info.splits:
    dataset = builder.as_dataset(split=split, decoders={"image": tfds.decode.SkipDecoding()})
    for record in tfds.as_numpy(dataset):
      per_class[int(record["label"])] += 1
      ids.add(record["id"])
  assert len(ids) == sum(sizes)
  low, high = {"olivetti_face": (10, 10), "semeion": (155, 162), "mnist": (6313, 7877),
               "cifar10": (6000, 6000), "tiny_imagenet": (249, 250)}[name]
  assert (min(per_class.values()), max(per_class.values())) == (low, high)
