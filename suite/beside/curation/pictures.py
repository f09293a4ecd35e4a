# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Image files as pixels and as thumbnails."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
import contextlib
import io
import pathlib

import numpy as np
from PIL import Image

from suite.beside.curation import errors
from suite.data.images import own_images


@contextlib.contextmanager
def opened(path: pathlib.Path) -> Iterator[Image.Image]:
  """Opens an image in RGB as `own_images` decodes it; an error names a file that it cannot."""
  with _read(path) as data:
    image = own_images.opened(data, str(path))
  yield image


def packed(path: pathlib.Path, png: Callable[[np.ndarray], bytes]) -> bytes:
  """JPEG or PNG bytes that decode to what `opened` shows; `png` encodes uint8 [H, W, 1 or 3]."""
  with _read(path) as data:
    return own_images.normalized(data, str(path), png=png)


def is_linkable(path: pathlib.Path) -> bool:
  """Whether browsers show a file as `opened` does: a JPEG or PNG, which they turn by its EXIF."""
  with _read(path) as data:
    return data.startswith((b"\xff\xd8\xff", b"\x89PNG"))


@contextlib.contextmanager
def _read(path: pathlib.Path) -> Iterator[bytes]:
  try:
    data = path.read_bytes()
  except OSError as error:
    raise errors.CurationError(f"{path} cannot be read: {error.strerror}.") from error
  try:
    yield data
  except ValueError as error:
    raise errors.CurationError(str(error)) from error


def square(path: pathlib.Path, size: int) -> np.ndarray:
  """Resizes the shorter edge to `size` and crops the center: uint8 [S, S, 3], as CLEAR does."""
  with opened(path) as image:
    scale = size / min(image.size)
    shape = [max(size, round(edge * scale)) for edge in image.size]
    left, top = ((edge - size) // 2 for edge in shape)
    resized = image.resize(shape, Image.Resampling.BILINEAR)
    return np.asarray(resized.crop((left, top, left + size, top + size)))


def clip_square(path: pathlib.Path, size: int) -> np.ndarray:
  """Resizes the shorter edge bicubically and crops the center: uint8 [S, S, 3], as CLIP does.

  The longer edge is rounded down, and the offset of the crop to the nearest (halves to even).
  """
  with opened(path) as image:
    shape = [size * edge // min(image.size) for edge in image.size]
    left, top = (round((edge - size) / 2) for edge in shape)
    resized = image.resize(shape, Image.Resampling.BICUBIC)
    return np.asarray(resized.crop((left, top, left + size, top + size)))


def data_uri(path: pathlib.Path, size: int) -> str:
  """Thumbnail of at most `size` x `size` pixels as a JPEG data URI."""
  with opened(path) as image:
    image.thumbnail((size, size), Image.Resampling.LANCZOS)
    data = io.BytesIO()
    image.save(data, "JPEG", quality=80)
  return "data:image/jpeg;base64," + base64.b64encode(data.getvalue()).decode("ascii")
