# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The tables of an archive of CLEAR: its images and their order.

Two editions exist. The present one has `labeled_images/<bucket>/<class>/<id>.<ext>`, metadata
beside it, and features by class; the first one (NeurIPS 2021, CVPR 2022) has `training_folder` with
a list of the images of each bucket and the released splits. Buckets are identified by the names
of their folders: archives begin at bucket 0 or at 1.
"""

from __future__ import annotations

from collections.abc import Mapping
import itertools
import json
import pathlib
import re
from typing import Any, NamedTuple

from absl import logging

from tfds_builders import clear_splits
from tfds_builders import errors
from tfds_builders.parsers import archives

PRESENT, FIRST = "present", "first"
NUM_BUCKETS = 11
ANY_NUMBER = 10_000  # `num_buckets` of archives in CLEAR's layout that are not CLEAR's.

_IMAGE = re.compile(
    r"(?:^|/)labeled_images/(?P<bucket>\d+)/(?P<label>[^/]+)/(?P<id>[^/]+)\.(?:jpe?g|png)$", re.I)
_METADATA = re.compile(
    r"(?:^|/)labeled_metadata/(?P<bucket>\d+)/(?P<label>[^/]+)\.json$")
_LIST = re.compile(r"(?:^|/)training_folder/filelists/(?P<bucket>\d+)/all\.txt$")
_TEST_PLACES = re.compile(
    r"(?:^|/)training_folder/testset_ratio_0\.3/split_(?P<seed>\d+)/(?P<bucket>\d+)/"
    r"test_indices\.json$")
_CLASS_NAMES = re.compile(r"(?:^|/)class_names\.txt$")
_TABLE_BYTES = 64 << 20


class ClearImage(NamedTuple):
  """One labeled image: its bucket, its class and its Flickr id."""

  bucket: int
  label: str
  id: str


class Listing(NamedTuple):
  """The labeled images of an archive.

  Attributes:
    buckets: bucket -> its images in the order in which the iid splits are drawn.
    features: image -> the features of its record that give its iid splits.
    metadata: image -> its metadata; {} in the first edition.
  """

  buckets: Mapping[int, list[ClearImage]]
  features: Mapping[ClearImage, dict[str, Any]]
  metadata: Mapping[ClearImage, Mapping[str, Any]]


def split_name(bucket: int, is_test: bool) -> str:
  """Returns "bucket_03" or "test_bucket_03"."""
  return f"{'test_' if is_test else ''}bucket_{bucket:02d}"


def key(entry: ClearImage, is_test: bool) -> str:
  return f"{'test/' if is_test else ''}{entry.bucket:02d}/{entry.label}/{entry.id}"


def image_entry(name: str, num_buckets: int = NUM_BUCKETS) -> Any:
  """Returns the `ClearImage` of a member that is a labeled image; None for any other."""
  return _entry(_IMAGE.search(name), name, num_buckets)


def read(path: pathlib.Path, edition: str, num_buckets: int = NUM_BUCKETS) -> Listing:
  """Reads the tables of an archive of this edition; DataError if it is of the other edition."""
  found = _first(path) if edition == FIRST else _present(path, num_buckets)
  if not found.buckets:
    inside = list(itertools.islice(archives.names(path), 3))
    raise errors.DataError(
        f"{path} holds no buckets of CLEAR in the {edition} edition: its first files are {inside}. "
        "Get the file of this name from the publisher; own images lie in "
        "labeled_images/BUCKET/CLASS/NAME.jpg, or outside of an archive beside a table.")
  return found


def check_class_names(path: pathlib.Path, data: bytes) -> list[str]:
  """Returns the lines of class_names.txt, which give the classes their ids."""
  names = data.decode("utf-8", "replace").split()
  if names != sorted(names):
    raise errors.DataError(f"{path}: class_names.txt is not sorted, so labels would differ "
                           f"from the published ones: {names[:4]}, ... It is another edition.")
  return names


def _entry(match: Any, name: str, num_buckets: int) -> Any:
  if match is None:
    return None
  bucket = int(match["bucket"])
  if bucket >= num_buckets:
    raise errors.DataError(f"Member {name!r} is of bucket {bucket}; CLEAR has 0 to "
                           f"{num_buckets - 1}.")
  return ClearImage(bucket, match["label"], match["id"])


def _present(path: pathlib.Path, num_buckets: int) -> Listing:
  def wanted(name: str) -> bool:
    return bool(_METADATA.search(name) or _CLASS_NAMES.search(name))

  names: list[str] = []
  metadata: dict[ClearImage, Mapping[str, Any]] = {}
  for name, data in archives.members(path, wanted, _TABLE_BYTES):
    match = _METADATA.search(name)
    if match is None:
      names = check_class_names(path, data)
      continue
    bucket, label = int(match["bucket"]), match["label"]
    for identity, facts in _object(path, name, data).items():
      metadata[ClearImage(bucket, label, str(identity))] = facts
  entries = list(metadata)
  if not entries:
    logging.warning("%s has no metadata: its iid splits are drawn from the sorted names, and may "
                    "differ from the released ones.", path)
    entries = sorted(filter(None, (image_entry(name, num_buckets)
                                   for name in archives.names(path))))
  _check_labels(path, names, entries)
  # The order of the classes is that of class_names.txt; within a class that of the metadata.
  entries.sort(key=lambda one: (one.bucket, one.label))
  return _listing(entries, {}, metadata)


def _first(path: pathlib.Path) -> Listing:
  def wanted(name: str) -> bool:
    return bool(_LIST.search(name) or _TEST_PLACES.search(name) or _CLASS_NAMES.search(name))

  names: list[str] = []
  entries: list[ClearImage] = []
  tests: dict[tuple[int, int], list[int]] = {}
  for name, data in archives.members(path, wanted, _TABLE_BYTES):
    listed, places = _LIST.search(name), _TEST_PLACES.search(name)
    if listed:
      entries += _listed(path, name, int(listed["bucket"]), data)
    elif places:
      tests[int(places["bucket"]), int(places["seed"])] = _places(path, name, data)
    else:
      names = check_class_names(path, data)
  _check_labels(path, names, entries)
  return _listing(entries, tests, {})


def _listing(entries: list[ClearImage], tests: Mapping[tuple[int, int], list[int]],
             metadata: Mapping[ClearImage, Mapping[str, Any]]) -> Listing:
  buckets: dict[int, list[ClearImage]] = {}
  for one in entries:
    buckets.setdefault(one.bucket, []).append(one)
  features: dict[ClearImage, dict[str, Any]] = {}
  for bucket, members in buckets.items():
    found = clear_splits.features(len(members))
    for seed in clear_splits.SEEDS:
      if (bucket, seed) in tests:  # The released list takes precedence over our draw.
        chosen = set(tests[bucket, seed])
        for place, facts in enumerate(found):
          facts[f"iid_test_{seed}"] = place in chosen
    features.update(zip(members, found))
  return Listing(buckets, features, metadata)


def _listed(path: pathlib.Path, name: str, bucket: int, data: bytes) -> list[ClearImage]:
  """Returns the lines "labeled_images/<bucket>/<class>/<id>.jpg <class id>" of one list."""
  found = []
  for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
    if not line.strip():
      continue
    place = line.rsplit(None, 1)[0]
    entry = image_entry(place)
    if entry is None or entry.bucket != bucket:
      raise errors.DataError(f"{path}, member {name!r}, line {number} is {line!r}; a labeled "
                             f"image of bucket {bucket} and a class number were expected.")
    found.append(entry)
  return found


def _places(path: pathlib.Path, name: str, data: bytes) -> list[int]:
  found = _json(path, name, data)
  if not isinstance(found, list) or not all(isinstance(place, int) for place in found):
    raise errors.DataError(f"{path}, member {name!r} is not a list of positions.")
  return found


def _object(path: pathlib.Path, name: str, data: bytes) -> Mapping[str, Any]:
  found = _json(path, name, data)
  if not isinstance(found, dict) or not all(isinstance(one, dict) for one in found.values()):
    raise errors.DataError(f"{path}, member {name!r} does not hold facts by Flickr id.")
  return found


def _json(path: pathlib.Path, name: str, data: bytes) -> Any:
  try:
    return json.loads(data)
  except (ValueError, RecursionError) as error:
    raise errors.DataError(f"{path}, member {name!r} is not JSON: {error}. Get the archive again."
                           ) from error


def _check_labels(path: pathlib.Path, names: list[str], entries: list[ClearImage]) -> None:
  unknown = sorted({one.label for one in entries} - set(names)) if names else []
  if unknown:
    raise errors.DataError(f"{path}: classes {unknown[:5]} are not in its class_names.txt. It is "
                           "damaged or mixed from two editions: get it again.")
