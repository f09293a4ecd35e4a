# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Detection of equal images by digests of their stored bytes.

Raw pixels are always encoded by `parsers.images.png`, so equal pixels are equal bytes. For sources
of JPEG or PNG files, copies of a file are found; the same image encoded twice is not.
"""

from __future__ import annotations

from collections.abc import Sequence
import hashlib
import io
import pathlib

import numpy as np

FILE = "content_digests.npz"


def digest(image: bytes) -> int:
  """Returns 64 bits of the image's sha256; 1e7 images collide with a probability of 3e-6."""
  return int.from_bytes(hashlib.sha256(image).digest()[:8], "big")


class Digests:
  """Counts images by split; an image that occurs in several splits is kept in the last one.

  Splits are ordered train, dev, validation, test, so no test image is trained on.
  """

  def __init__(self, split_names: Sequence[str]):
    self._rank = {name: rank for rank, name in enumerate(split_names)}
    self._last: dict[int, int] = {}
    self._removed: dict[str, int] = dict.fromkeys(split_names, 0)
    self._copies: dict[int, int] = {}  # Of images that occur more than once in their last split.

  def add(self, key: int, split: str) -> None:
    """Adds one image of a split, by its digest."""
    rank = self._rank[split]
    last = self._last.get(key)
    if last is None:
      self._last[key] = rank
    elif rank < last:
      self._removed[split] += 1
    elif rank > last:
      self._removed[list(self._rank)[last]] += self._copies.pop(key, 1)
      self._last[key] = rank
    else:
      self._copies[key] = self._copies.get(key, 1) + 1

  def held_by_later(self, key: int, split: str) -> bool:
    """Returns whether a later split holds the image of this digest."""
    return self._last.get(key, -1) > self._rank[split]

  @property
  def removed(self) -> dict[str, int]:
    """The number of images of each split that are left out because a later split holds them."""
    return dict(self._removed)

  def save(self, directory: str | pathlib.Path, kept: Sequence[str]) -> None:
    """Writes the sorted digests of each of the `kept` splits beside the records."""
    names: list[str] = list(self._rank)
    arrays = {name: np.array(sorted(key for key, rank in self._last.items()
                                    if names[rank] == name), np.uint64) for name in kept}
    # In memory first: numpy leaves an archive open where the disk is full, and Python prints that.
    archive = io.BytesIO()
    np.savez(archive, **arrays)
    (pathlib.Path(directory) / FILE).write_bytes(archive.getbuffer())
