# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Which images are the same: digests of their stored bytes.

Sources that hold raw pixels are all encoded by `parsers.images.png`, so equal pixels of them are
equal bytes; of sources that hold JPEG or PNG, copies of one file are found, and images that were
encoded twice are not.
"""

from __future__ import annotations

import hashlib
import pathlib
from typing import Sequence

import numpy as np

FILE = "content_digests.npz"


def digest(image: bytes) -> int:
  """64 bits of the image's sha256: two of 1e7 images collide with a probability of 3e-6."""
  return int.from_bytes(hashlib.sha256(image).digest()[:8], "big")


class Digests:
  """Counts of every image by split; of several splits that hold one image, the last keeps it.

  Splits come in the order train, validation, test: what is tested on is never trained on.
  """

  def __init__(self, split_names: Sequence[str]):
    self._rank = {name: rank for rank, name in enumerate(split_names)}
    self._last: dict[int, int] = {}
    self._removed: dict[str, int] = dict.fromkeys(split_names, 0)
    self._copies: dict[int, int] = {}  # Of images that occur more than once in their last split.

  def add(self, image: bytes, split: str) -> None:
    """Takes one image of a split in."""
    key, rank = digest(image), self._rank[split]
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

  def held_by_later(self, image: bytes, split: str) -> bool:
    """Whether a later split holds this image."""
    return self._last.get(digest(image), -1) > self._rank[split]

  @property
  def removed(self) -> dict[str, int]:
    """How many images of each split are left out because a later one holds them."""
    return dict(self._removed)

  def save(self, directory, kept: Sequence[str]) -> None:
    """Writes the sorted digests of each of the `kept` splits beside the records."""
    names: list[str] = list(self._rank)
    arrays = {name: np.array(sorted(key for key, rank in self._last.items()
                                    if names[rank] == name), np.uint64) for name in kept}
    np.savez(pathlib.Path(directory) / FILE, **arrays)
