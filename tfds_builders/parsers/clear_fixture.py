# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Tiny archives of CLEAR in the layouts of both editions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import io
import json
import pathlib
import struct
from typing import Any
import zipfile

import numpy as np

from tfds_builders import clear_splits
from tfds_builders.parsers import clear_listing
from tfds_builders.parsers import fixtures

_BUCKETS = range(1, clear_listing.NUM_BUCKETS)
_FEATURE_SIZE = 2048


def write_images(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                 per_class: int, edition: str, tests: Sequence[str] = (),
                 unlabeled: Sequence[str] = ()) -> Mapping[str, int]:
  """Writes the archives; returns the number of examples by source split."""
  del per_class  # One image of each class and bucket is enough.
  counts: dict[str, int] = {}
  for name in file_names:
    if name in unlabeled:
      members: dict[str, bytes] = {f"all_images/0/{item}.jpg": fixtures.jpeg((4, 4, 3), seed=item)
                                   for item in (11, 12, 13)}
      counts[clear_listing.split_name(0, False)] = len(members)
    else:
      members = _members(name, class_names, edition)
      counts.update(_counts(class_names, name in tests))
    fixtures.write_archive(directory / name, members)
  return counts


def write_metadata(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str],
                   *, per_class: int, edition: str, tests: Sequence[str] = ()) -> Mapping[str, int]:
  return write_images(directory, file_names, class_names, per_class=per_class, edition=edition,
                      tests=tests)


def write_features(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str],
                   *, per_class: int, edition: str, kind: str) -> Mapping[str, int]:
  """Writes one archive with features; returns the number of examples by source split."""
  del per_class
  name, = file_names
  fixtures.write_archive(directory / name, {**_members(name, class_names, edition),
                                            **_features(class_names, edition, kind)})
  return _counts(class_names, False)


def _names(class_names: Sequence[str]) -> list[str]:
  """Returns the class names in sorted order, as in class_names.txt."""
  return sorted(f"class_{name}" for name in class_names)


def _counts(class_names: Sequence[str], is_test: bool) -> dict[str, int]:
  return {clear_listing.split_name(bucket, is_test): len(class_names) for bucket in _BUCKETS}


def _identity(bucket: int, label: str) -> str:
  return f"{bucket}{sum(map(ord, label))}{label.rsplit('_', 1)[-1]}"


def _members(file: str, class_names: Sequence[str], edition: str) -> dict[str, bytes]:
  top = "" if edition == clear_listing.FIRST else f"{'test' if 'test' in file else 'train'}/"
  names = _names(class_names)
  members = {f"{top}class_names.txt": "\n".join(names).encode(), f"{top}README.md": b"no image"}
  for bucket in _BUCKETS:
    places = []
    for number, label in enumerate(names):
      identity = _identity(bucket, label)
      place = f"labeled_images/{bucket}/{label}/{identity}.jpg"
      places.append(f"{place} {number}")
      members[top + place] = fixtures.jpeg(
          (4, 4, 3), seed=number + 1000 * bucket + 99991 * ("test" in file))
      if edition == clear_listing.PRESENT:
        members[f"{top}labeled_metadata/{bucket}/{label}.json"] = json.dumps({identity: {
            "DATE_UPLOADED": f"{1.2e9 + bucket:.0f}", "TITLE": f"{label}, \u00e9"}}).encode()
    if edition == clear_listing.FIRST:
      members.update(_lists(bucket, places))
  return members


def _lists(bucket: int, places: Sequence[str]) -> dict[str, bytes]:
  """Returns the list of a bucket and its five released splits."""
  folder = "training_folder"
  members = {f"{folder}/filelists/{bucket}/all.txt": "\n".join(places).encode()}
  for seed in clear_splits.SEEDS:
    members[f"{folder}/testset_ratio_0.3/split_{seed}/{bucket}/test_indices.json"] = json.dumps(
        clear_splits.iid(len(places), seed)[1]).encode()
  return members


def _features(class_names: Sequence[str], edition: str, kind: str) -> dict[str, bytes]:
  names = _names(class_names)
  members = {}
  for bucket in _BUCKETS:
    vectors = np.arange(len(names) * _FEATURE_SIZE, dtype=np.float32).reshape(len(names), -1)
    if edition == clear_listing.FIRST:
      members[f"training_folder/features/{kind}/{bucket}/all.pth"] = torch_zip(
          (vectors, list(range(len(names)))))
      continue
    for label, vector in zip(names, vectors):
      members[f"train/features/{kind}/{bucket}/{label}.pth"] = torch_zip(
          {_identity(bucket, label): vector})
  return members


def torch_zip(value: Any) -> bytes:
  """Returns the file of `torch.save` of dictionaries, tuples, lists, texts, numbers and arrays."""
  storages: list[bytes] = []
  body = b"\x80\x02" + _pickled(value, storages) + b"."
  stream = io.BytesIO()
  with zipfile.ZipFile(stream, "w") as archive:
    archive.writestr("archive/data.pkl", body)
    for key, data in enumerate(storages):
      archive.writestr(f"archive/data/{key}", data)
    archive.writestr("archive/version", b"3\n")
  return stream.getvalue()


def _pickled(value: Any, storages: list[bytes]) -> bytes:
  """Returns the opcodes, written directly: this project does not depend on torch."""
  def text(string: str) -> bytes:
    data = string.encode()
    return b"X" + struct.pack("<I", len(data)) + data

  def numbers(values: Sequence[int]) -> bytes:
    return b"(" + b"".join(b"J" + struct.pack("<i", one) for one in values) + b"t"

  if isinstance(value, np.ndarray):
    storages.append(np.ascontiguousarray(value, "<f4").tobytes())
    strides = [step // value.itemsize for step in np.ascontiguousarray(value).strides]
    storage = (b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text(str(len(storages) - 1))
               + text("cpu") + b"J" + struct.pack("<i", value.size) + b"tQ")
    return (b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + b"K\x00" + numbers(value.shape)
            + numbers(strides) + b"\x89ccollections\nOrderedDict\n)RtR")
  if isinstance(value, dict):
    items = b"".join(text(key) + _pickled(part, storages) for key, part in value.items())
    return b"}(" + items + b"u"
  if isinstance(value, (tuple, list)):
    parts = b"".join(_pickled(part, storages) for part in value)
    return b"(" + parts + b"t" if isinstance(value, tuple) else b"](" + parts + b"e"
  return b"J" + struct.pack("<i", value)
