# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Image bytes: conversion to PNG where needed, and checks that they decode."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
import contextlib
import functools
import io
import re
import struct
from typing import Any
import zlib

import numpy as np

from tfds_builders import errors

JPEG = b"\xff\xd8\xff"
PNG = b"\x89PNG\r\n\x1a\n"

_BY_PILLOW = (b"GIF8", b"BM", b"II*\x00", b"MM\x00*")
_MAX_PIXELS = 1 << 27  # Larger images are refused.

_PNM_HEADER = re.compile(rb"(P[56])" + rb"(?:\s+|\s*#[^\n]*\n\s*)(\d+)" * 3 + rb"\s", re.ASCII)


def encoded(data: bytes, where: str) -> bytes:
  """Returns JPEG and PNG unchanged; binary PGM and PPM, GIF (first image), BMP and TIFF as PNG.

  Other or damaged bytes are returned unchanged; `unreadable` reports them.
  """
  try:
    if data[:2] in (b"P5", b"P6"):
      return png(read_pnm(data, where))
    if data.startswith(_BY_PILLOW):
      with pillow_image(data, where, ("GIF", "BMP", "TIFF")) as image:
        return png(np.asarray(image.convert("L" if image.mode in ("1", "L", "LA") else "RGB")))
  except errors.DataError:
    pass
  return data


@contextlib.contextmanager
def pillow_image(data: bytes, where: str, formats: Sequence[str]) -> Iterator[Any]:
  """Opens an image with Pillow; whatever is wrong with it is a DataError, bombs included."""
  from PIL import Image  # pylint: disable=g-import-not-at-top
  try:
    with Image.open(io.BytesIO(data), formats=tuple(formats)) as image:
      if image.width * image.height > _MAX_PIXELS:
        raise errors.DataError(f"{where} has {image.width} x {image.height} pixels; at most "
                               f"{_MAX_PIXELS} are read.")
      yield image
  except (OSError, ValueError, SyntaxError, EOFError, struct.error, zlib.error, LookupError,
          TypeError, AttributeError, ArithmeticError, MemoryError,
          Image.DecompressionBombError) as error:
    if isinstance(error, errors.DataError):
      raise
    raise errors.DataError(f"{where} cannot be decoded: {type(error).__name__}: {error}. Get the "
                           "source again.") from error


def png(pixels: np.ndarray) -> bytes:
  """Encodes uint8 [H, W] or [H, W, 1 or 3] by zlib only, independent of a library's defaults."""
  pixels = pixels.reshape(*pixels.shape[:2], -1)
  height, width, channels = pixels.shape
  if pixels.dtype != np.uint8 or channels not in (1, 3):
    raise ValueError(f"Got {pixels.dtype} {pixels.shape}; png() takes uint8 [H, W, 1 or 3].")
  lines = np.zeros((height, 1 + width * channels), np.uint8)
  lines[:, 0] = 2  # The filter "up": each line is stored as its difference from the one above.
  rows = pixels.reshape(height, -1)
  lines[:, 1:] = rows
  lines[1:, 1:] -= rows[:-1]
  header = struct.pack(">IIBBBBB", width, height, 8, 0 if channels == 1 else 2, 0, 0, 0)
  return PNG + b"".join(
      struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
      for kind, body in ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 6)),
                         (b"IEND", b"")))


def read_pnm(data: bytes, where: str) -> np.ndarray:
  """Decodes a binary PGM or PPM with one byte per value to uint8 [H, W, 1 or 3]."""
  match = _PNM_HEADER.match(data)
  if not match:
    raise errors.DataError(f"{where} has no valid PGM or PPM header: {data[:24]!r}.")
  width, height, maximum = (int(match.group(i)) for i in (2, 3, 4))
  channels = 1 if match.group(1) == b"P5" else 3
  body = data[match.end():]
  if maximum != 255:
    raise errors.DataError(f"{where} has values up to {maximum}; only 255 is supported.")
  if len(body) != width * height * channels or not body:
    raise errors.DataError(f"{where} is damaged: {width} x {height} x {channels} values expected, "
                           f"{len(body)} found.")
  return np.frombuffer(body, np.uint8).reshape(height, width, channels)


def unreadable(encoded_images: Sequence[tuple[bytes, str]], channels: int) -> dict[int, str]:
  """Returns the images that TensorFlow cannot decode: {index: location and reason}.

  Args:
    encoded_images: (bytes, location); checking many in one call is several times faster.
    channels: to decode to.
  """
  import tensorflow as tf  # pylint: disable=g-import-not-at-top
  found = {index: f"{where} is not a JPEG or PNG image, nor one that becomes PNG here: it begins "
                  f"with {data[:8]!r}"
           for index, (data, where) in enumerate(encoded_images)
           if not data.startswith((JPEG, PNG))}
  rest = [index for index in range(len(encoded_images)) if index not in found]
  try:
    sizes = _sizes(channels)(tf.constant([encoded_images[i][0] for i in rest], tf.string)).numpy()
  except tf.errors.InvalidArgumentError as error:
    if len(rest) == 1:
      return {**found, rest[0]: f"{encoded_images[rest[0]][1]} cannot be decoded with {channels} "
                                f"channel(s): {error.message.splitlines()[0]}"}
    for index in rest:  # At least one of them fails.
      alone = unreadable([encoded_images[index]], channels)
      if alone:
        found[index] = alone[0]
    return found
  found.update({index: f"{encoded_images[index][1]} is an image without pixels"
                for index, size in zip(rest, sizes) if not size})
  return found


@functools.cache
def _sizes(channels: int) -> Callable[[Any], Any]:
  """Returns a function from strings [N] to the number of values of each decoded image, [N]."""
  import tensorflow as tf  # pylint: disable=g-import-not-at-top

  def size(data):
    return tf.size(tf.io.decode_image(data, channels=channels, expand_animations=False))

  return tf.function(lambda batch: tf.map_fn(size, batch, fn_output_signature=tf.int32),
                     input_signature=[tf.TensorSpec([None], tf.string)], autograph=False)
