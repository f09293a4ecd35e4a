# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Examples, which parsers yield, and keys for examples without a name in their source."""

from __future__ import annotations

import collections
from collections.abc import Mapping
import hashlib
from typing import Any, NamedTuple

import numpy as np

Label = int | str


class Example(NamedTuple):
  """One labeled image of a source.

  Attributes:
    split: its split in the source ("train", "test", or splits.POOL).
    key: unique in the data set and the same on every machine: its name in the source if it has
      one, else `PixelKeys`. Becomes its id.
    label: a class id or a class name; a tuple of them in a multi-label set.
    image: JPEG or PNG bytes.
    where: its file and member, for messages.
    group: examples of a group are assigned to the same split; None: the example has no group.
    extra: further features of the record, as its row declares them.
    problem: why the image cannot be decoded, with its location, where the parser knows it.
  """

  split: str
  key: str
  label: Label | tuple[Label, ...]
  image: bytes
  where: str
  group: str | None = None
  extra: Mapping[str, Any] | None = None
  problem: str = ""


class PixelKeys:
  """Keys made of the pixels, for sources that give their images no names.

  An idx file, a binary batch and TFDS's copy of them hold the same images in different orders; a
  digest of the pixels is the same in all. Copies of an image are numbered and share a group, so an
  image is never in two splits drawn from the same source split.
  """

  def __init__(self) -> None:
    self._seen: dict[str, int] = collections.Counter()

  def __call__(self, split: str, pixels: np.ndarray) -> tuple[str, str]:
    """Returns (key, group) of pixels, uint8 [H, W] or [H, W, C]."""
    pixels = pixels.reshape(*pixels.shape[:2], -1)
    digest = hashlib.sha256(f"{pixels.shape}".encode() + pixels.tobytes()).hexdigest()[:16]
    group = f"{split}/{digest}"
    self._seen[group] += 1
    copies = self._seen[group]
    return (group if copies == 1 else f"{group}-{copies}"), group
