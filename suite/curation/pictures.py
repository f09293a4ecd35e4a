# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Image files as pixels and as thumbnails."""

from __future__ import annotations

import base64
from collections.abc import Iterator
import contextlib
import io
import pathlib

import numpy as np
from PIL import Image
from PIL import ImageOps

from suite.curation import errors

_MAX_PIXELS = 1 << 27
_UNREADABLE = (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError)


@contextlib.contextmanager
def opened(path: pathlib.Path) -> Iterator[Image.Image]:
  """Opens an image in RGB, rotated by its EXIF data; raises an error that names an invalid file."""
  try:
    with Image.open(path) as image:
      if image.width * image.height > _MAX_PIXELS:
        raise errors.CurationError(f"{path} has {image.width} x {image.height} pixels; at most "
                                   f"{_MAX_PIXELS} are read. Make it smaller.")
      found = ImageOps.exif_transpose(image).convert("RGB")
  except _UNREADABLE as error:
    if isinstance(error, errors.CurationError):
      raise
    raise errors.CurationError(f"{path} is no image that can be read: {error}. Get it again, or "
                               "leave it out of the table and the features.") from error
  yield found


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
