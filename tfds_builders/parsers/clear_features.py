# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The features that CLEAR's authors published with the images, from archives of both editions.

They are files of `torch.save`, which hold pickles; `torch_file` reads them without unpickling.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
import pathlib
import re
from typing import Any

import numpy as np

from tfds_builders import errors
from tfds_builders.parsers import archives
from tfds_builders.parsers import clear_fixture
from tfds_builders.parsers import clear_listing
from tfds_builders.parsers import example
from tfds_builders.parsers import torch_file

_MAX_BYTES = 512 << 20
_PLACES = {
    clear_listing.PRESENT: r"(?:^|/)features/{kind}/(?P<bucket>\d+)/(?P<label>[^/]+)\.pth$",
    clear_listing.FIRST: r"(?:^|/)training_folder/features/{kind}/(?P<bucket>\d+)/all\.pth$"}


def parse(paths: Mapping[str, pathlib.Path], *, edition: str, kind: str
          ) -> Iterator[example.Example]:
  """Yields the vectors, float32, as bytes.

  Args:
    paths: file name -> path.
    edition: `clear_listing.PRESENT` or `FIRST`.
    kind: the features' folder, such as "moco_b0".
  """
  pattern = re.compile(_PLACES[edition].format(kind=re.escape(kind)))
  for path in paths.values():
    listing = clear_listing.read(path, edition)
    num = 0
    for name, data in archives.members(path, lambda name: pattern.search(name) is not None,
                                       _MAX_BYTES):
      match = pattern.search(name)
      assert match is not None
      where = f"{path}, member {name!r}"
      content = torch_file.load(data, where)
      rows = (_by_id(content, match, where) if edition == clear_listing.PRESENT else
              _by_place(content, listing.buckets.get(int(match["bucket"]), []), where))
      for entry, vector in rows:
        if entry not in listing.features:
          raise errors.DataError(f"{where} has a vector of {entry.id}, which is not in the "
                                 "archive's own tables. Get the archive again.")
        num += 1
        yield example.Example(
            clear_listing.split_name(entry.bucket, False), clear_listing.key(entry, False),
            entry.label, np.ascontiguousarray(vector, "<f4").tobytes(), where,
            extra=listing.features[entry])
    if num != len(listing.features):
      raise errors.DataError(f"{path} has {num} vectors of {kind} for {len(listing.features)} "
                             "images. Get the archive again; the smaller ones hold images only.")


def _by_id(content: Any, match: Any,
           where: str) -> list[tuple[clear_listing.ClearImage, np.ndarray]]:
  if not isinstance(content, dict):
    raise errors.DataError(f"{where} holds a {type(content).__name__}; vectors by id were "
                           "expected.")
  return [(clear_listing.ClearImage(int(match["bucket"]), match["label"], str(identity)),
           _vector(value, where)) for identity, value in content.items()]


def _by_place(content: Any, entries: list[clear_listing.ClearImage], where: str
              ) -> list[tuple[clear_listing.ClearImage, np.ndarray]]:
  try:
    vectors, labels = content
    fits = vectors.ndim == 2 and len(vectors) == len(labels) == len(entries)
  except (TypeError, ValueError, AttributeError):
    fits = False
  if not fits:
    raise errors.DataError(f"{where} does not hold a vector and a class for each of the "
                           f"{len(entries)} images that are listed for its bucket.")
  return list(zip(entries, vectors))


def _vector(value: Any, where: str) -> np.ndarray:
  vector = np.squeeze(np.asarray(value))
  if vector.ndim != 1 or not np.issubdtype(vector.dtype, np.floating):
    raise errors.DataError(f"{where} holds {vector.dtype} {vector.shape} for an image; a vector "
                           "was expected.")
  return vector


write_fixture = clear_fixture.write_features
