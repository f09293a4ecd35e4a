# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Buckets of any data set that has them, by its name: a timeline, CLEAR, or a drifting series.

Of each, all buckets are used, however many there are. The numbers that methods are given for a
series, of buckets and of images in one, are those of the data.
"""

from __future__ import annotations

from collections.abc import Sequence

from suite.data.images import tfds_source
from suite.data.streams import buckets
from suite.data.streams import clear_buckets
from suite.data.streams import drifting_buckets

_IID: clear_buckets.Mode = "iid"
_TEST_SHARE = 0.3


def load(name: str, *, protocol: clear_buckets.Mode = _IID, seed: int = 0,
         data_dir: str | None = None) -> buckets.Buckets:
  """Reads the buckets of a prepared data set.

  Args:
    name: "timeline/mine", "clear10/images", "drifting/cifar10", ...
    protocol: one of `clear_buckets.PROTOCOLS`; a drifting series has no "challenge".
    seed: of the iid split, 0 to 4.
    data_dir: of the prepared data sets.
  """
  if name in drifting_buckets.SERIES:
    return drifting_buckets.load(name, protocol=protocol, seed=seed, data_dir=data_dir)
  return clear_buckets.load(name, protocol=protocol, seed=seed, data_dir=data_dir,
                            last=None if is_own(name) else clear_buckets.LAST)


def is_own(name: str) -> bool:
  """Whether a name is that of a timeline."""
  return name.startswith(tfds_source.TIMELINE)


def num_buckets(name: str, *, data_dir: str | None = None) -> int:
  """The number of buckets that `load` returns, without reading images."""
  if name in drifting_buckets.SERIES:
    return drifting_buckets.find(name).num_buckets
  return len(_numbers(name, data_dir))


def _numbers(name: str, data_dir: str | None) -> Sequence[int]:
  """The labeled buckets of a prepared data set that `load` reads."""
  if is_own(name):
    return clear_buckets.bucket_numbers(name, data_dir=data_dir)
  return range(1, clear_buckets.LAST + 1)


def bucket_size(name: str, *, protocol: str = _IID, size: int | None = None,
                data_dir: str | None = None) -> int:
  """The mean number of training images of a bucket, rounded, without reading images.

  CLEAR gives all methods a memory of one bucket.

  Args:
    name, protocol, data_dir: as of `load`.
    size: the number, where it is known.
  """
  if size is not None:
    return size
  if name in drifting_buckets.SERIES:
    mean: float = drifting_buckets.find(name).bucket_size
  else:
    sizes = tfds_source.num_examples(name, data_dir=data_dir)
    numbers = _numbers(name, data_dir)
    mean = sum(sizes[f"bucket_{i:02d}"] for i in numbers) / len(numbers)
  share = tfds_source.metadata(name, data_dir=data_dir).get(
      "test_share", _TEST_SHARE) if is_own(name) else _TEST_SHARE
  return max(1, round(mean * (1 - share if protocol == _IID else 1)))
