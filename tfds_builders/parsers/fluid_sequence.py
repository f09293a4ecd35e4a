# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A published FLUID sequence: an array of image paths, one of labels, and the images.

`sequenceN.npy` holds relative paths in the order of delivery, `all_labelsN.npy` the label of each.
Base classes are in a folder `1k_res`. The third published file, `class_mapN.npy`, is a pickle: it
is neither read nor needed, because a path's base name begins with its class's WordNet id.

Images are found by their base names (`n01440764_10026.JPEG`) in tar or zip archives, also in tars
within a tar, as ImageNet is distributed.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator, Mapping, Sequence
import io
import pathlib
import re
import tarfile
from typing import NamedTuple

import numpy as np

from tfds_builders import errors
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import image_arrays
from tfds_builders.parsers import images
from tfds_builders.parsers import tar_headers

STREAM = "stream"
_BASE_FOLDER = "1k_res"
_CLASS_TAR_BYTES = 1 << 30  # The largest class of ImageNet-22K has about 300 MB.


class Step(NamedTuple):
  """A delivery of an image: its place in the sequence, published label, and class."""

  position: int
  label: int
  wnid: str
  novel: bool


def parse(paths: Mapping[str, pathlib.Path], *, sequence_file: str, label_file: str
          ) -> Iterator[example.Example]:
  """Yields the samples in the order of the archives; the feature "position" is that of delivery.

  Args:
    paths: file name -> path; all but the next two are archives of images.
    sequence_file: the file of the paths.
    label_file: the file of the labels.
  """
  steps = read_steps(paths[sequence_file], paths[label_file])
  wanted = set(steps)
  for file, path in paths.items():
    if file in (sequence_file, label_file):
      continue
    for name, data in _images(path, wanted):
      base = archives.base_name(name)
      if base not in wanted:  # A second copy.
        continue
      wanted.discard(base)
      where = f"{path}, member {name!r}"
      image = images.encoded(data, where)
      for step in steps[base]:
        yield example.Example(
            STREAM, f"{step.position:06d}/{base.rsplit('.', 1)[0]}", step.label, image, where,
            extra={"position": step.position, "novel": step.novel, "wnid": step.wnid})
  if wanted:
    raise errors.DataError(
        f"{len(wanted)} of the {len(steps)} images of {sequence_file} are in none of the archives, "
        f"such as {sorted(wanted)[:3]}. The sequence must be complete: add the missing images.")


def read_steps(sequence_path: pathlib.Path, label_path: pathlib.Path) -> dict[str, list[Step]]:
  """Reads the published files: base name -> the steps at which this image is delivered."""
  names = image_arrays.load(archives.read_content(sequence_path), f"{sequence_path}")
  if names.ndim != 1 or names.dtype.kind != "U":
    raise errors.DataError(f"{sequence_path} holds {names.dtype} {names.shape}; one text per "
                           "sample was expected.")
  labels = image_arrays.check_labels(
      image_arrays.load(archives.read_content(label_path), f"{label_path}"), len(names),
      f"{label_path}")
  steps: dict[str, list[Step]] = collections.defaultdict(list)
  label_of: dict[str, int] = {}
  for position, (name, label) in enumerate(zip(names.tolist(), labels.tolist())):
    *folders, base = name.split("/")
    match = re.match(r"(n\d+)_", base)
    if match is None:
      raise errors.DataError(f"{sequence_path}, sample {position} is {name!r}; a name like "
                             "n01440764_10026.JPEG was expected.")
    if label_of.setdefault(match[1], label) != label:
      raise errors.DataError(f"{label_path}: class {match[1]} has labels {label_of[match[1]]} and "
                             f"{label} (sample {position}). It belongs to another sequence.")
    steps[base].append(Step(position, label, match[1], _BASE_FOLDER not in folders))
  if len(set(label_of.values())) != len(label_of):
    raise errors.DataError(f"{label_path} gives one label to several classes. It belongs to "
                           "another sequence.")
  return steps


def _images(path: pathlib.Path, wanted: set[str]) -> Iterator[tuple[str, bytes]]:
  """Yields members whose base name is wanted, also those in the tars of wanted classes."""
  wnids = {name.split("_", 1)[0] for name in wanted}

  def reads(name: str) -> bool:
    base = archives.base_name(name)
    return base in wanted or (base.endswith(".tar") and base[:-len(".tar")] in wnids)

  for name, data in archives.members(path, reads, _CLASS_TAR_BYTES):
    if name.endswith(".tar"):
      yield from _nested(path, name, data, wanted)
    else:
      yield name, data


def _nested(path: pathlib.Path, name: str, data: bytes, wanted: set[str]
            ) -> Iterator[tuple[str, bytes]]:
  with archives.named_errors(path, name), tarfile.open(
      fileobj=io.BytesIO(data), mode="r:", tarinfo=tar_headers.Info) as tar:
    for info in tar:
      if info.isfile() and archives.base_name(info.name) in wanted:
        stream = tar.extractfile(info)
        assert stream is not None
        yield f"{name}/{info.name.rsplit('/', 1)[-1]}", stream.read()


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, sequence_file: str, label_file: str) -> Mapping[str, int]:
  """Writes a tiny sequence, a quarter of its classes base classes; returns its size."""
  labels = np.random.Generator(np.random.PCG64(0)).permutation(
      np.repeat(np.arange(len(class_names)), per_class))
  places: list[str] = []
  members: dict[str, dict[str, bytes]] = collections.defaultdict(dict)
  for position, label in enumerate(labels.tolist()):
    wnid, base = f"n{10**7 + label:08d}", f"n{10**7 + label:08d}_{position}.JPEG"
    places.append(f"{_BASE_FOLDER if label % 4 == 0 else 'S9/sequence9'}/{wnid}/{base}")
    members[wnid][base] = images.png(fixtures.pixels((4, 4, 3), position))
  np.save(directory / sequence_file, np.array(places))
  np.save(directory / label_file, labels.astype(np.int64))
  archive, = (name for name in file_names if name not in (sequence_file, label_file))
  packed = {f"{wnid}.tar": fixtures.tar_bytes({**found, f"{wnid}_x.JPEG": b"not of the sequence"})
            for wnid, found in members.items()}
  fixtures.write_archive(directory / archive, packed)
  return {STREAM: len(labels)}
