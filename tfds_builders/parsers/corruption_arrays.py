# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""CIFAR-10-C: a tar with `labels.npy` and one `KIND.npy` for each corruption.

Each holds the test images five times, in severity 1 to 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import io
import pathlib

import numpy as np

from tfds_builders import errors
from tfds_builders import splits
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import image_arrays
from tfds_builders.parsers import images

_SEVERITIES = 5


def parse(paths: Mapping[str, pathlib.Path], *, kinds: Sequence[str], domain: str
          ) -> Iterator[example.Example]:
  """Yields the images as PNG.

  Keys are KIND/SEVERITY/PLACE, with the position of the clean image in the test set.

  Args:
    paths: file name -> path; every file is read.
    kinds: the corruptions that the archive must hold.
    domain: template of the feature "domain", with {kind}.
  """
  for path in paths.values():
    tables = [data for _, data in archives.members(path, lambda name: _base(name) == "labels")]
    if len(tables) != 1:
      raise errors.DataError(f"{path} has {len(tables)} files labels.npy; 1 was expected. It is "
                             "incomplete or another data set.")
    labels = image_arrays.load(tables[0], f"{path}, labels.npy")
    missing = set(kinds)
    for name, data in archives.members(path, lambda name: _base(name) in kinds):
      missing.discard(_base(name))
      yield from _kind(_base(name), data, labels, f"{path}, member {name!r}", domain)
    if missing:
      raise errors.DataError(f"{path} has no {sorted(missing)}: it is incomplete.")


def _kind(kind: str, data: bytes, labels: np.ndarray, where: str, domain: str
          ) -> Iterator[example.Example]:
  pixels = image_arrays.check_images(image_arrays.load(data, where), where)
  image_arrays.check_labels(labels, len(pixels), where)
  num_clean, rest = divmod(len(pixels), _SEVERITIES)
  if rest:
    raise errors.DataError(f"{where} has {len(pixels)} images, not a multiple of {_SEVERITIES} "
                           "severities.")
  for index, (image, label) in enumerate(zip(pixels, labels)):
    severity, place = index // num_clean + 1, index % num_clean
    yield example.Example(splits.TEST, f"{kind}/{severity}/{place:05d}", int(label),
                          images.png(image), f"{where}, image {index}",
                          extra={"domain": domain.format(kind=kind), "severity": severity})


def _base(name: str) -> str:
  base = archives.base_name(name)
  return base[:-len(".npy")] if base.endswith(".npy") else ""


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, kinds: Sequence[str], domain: str) -> Mapping[str, int]:
  """Writes a tiny archive of this layout, one image per class; returns the number of examples."""
  del per_class, domain
  size = len(class_names) * _SEVERITIES
  members = {"CIFAR-10-C/README.txt": b"not read"}
  arrays = {kind: fixtures.pixels((size, 4, 4, 3), seed) for seed, kind in enumerate(kinds)}
  arrays["labels"] = (np.arange(size) % len(class_names)).astype(np.uint8)
  for name, array in arrays.items():
    stream = io.BytesIO()
    np.save(stream, array)
    members[f"CIFAR-10-C/{name}.npy"] = stream.getvalue()
  fixtures.write_archive(directory / file_names[0], members)
  return {splits.TEST: size * len(kinds)}
