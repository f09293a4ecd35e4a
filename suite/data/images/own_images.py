# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The decoder of a user's own images: any file or Pillow image to upright pixels of 8 bits.

  orientation     turned as EXIF or XMP say
  several frames  the first frame of GIF, WebP, PNG and AVIF, the first page of TIFF
  gray            1-bit, gray, and gray with alpha are [H, W, 1], all others [H, W, 3]
  palettes        their colors
  alpha           dropped: the stored colors count, as for TensorFlow and for Pillow's
                  convert("RGB"). A picture of one stored color, whose shape is in its alpha alone,
                  is put on white, or on black if the color is light.
  16 bits         the high 8 bits of the file's depth: white is 65535, or 4095 in a 12-bit TIFF
  32 bits, float  files declare no range: 0..1 (float) and 0..255 are taken as such, 0..65535
                  (integers) as 16 bits; others go from the least to the greatest value of the image
  CMYK, YCbCr, LAB, HSV    as Pillow converts them; color profiles are ignored

A file is normalized once, when it is read: `normalized` returns JPEG or PNG bytes that TensorFlow
decodes to these pixels. Images of published data sets do not come here: they are decoded as their
papers' code does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
import contextlib
import io
import struct
import threading
from typing import Any
import warnings
import zlib

from absl import logging
import numpy as np
from PIL import Image
from PIL import ImageOps

# Endings of image files, in lower case, and the formats that are read, whatever the ending.
ENDINGS = (".png", ".apng", ".jpg", ".jpeg", ".jpe", ".jfif", ".bmp", ".dib", ".gif", ".webp",
           ".tif", ".tiff", ".pgm", ".ppm", ".pbm", ".pnm", ".jp2", ".avif")
FORMATS = ("JPEG", "PNG", "GIF", "BMP", "DIB", "WEBP", "TIFF", "PPM", "JPEG2000", "AVIF")
MAX_PIXELS = 1 << 27

_JPEG, _PNG = b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"
_ORIENTATION = 0x0112
_BITS, _PHOTOMETRIC, _SAMPLE_FORMAT = 258, 262, 339  # Tags of TIFF.
_WHITE_IS_ZERO, _SIGNED = 0, 2
_ONE_COLOR = 8  # Stored colors that differ by less are one.
_TEXT_KEYS = (b"Raw profile type exif", b"XML:com.adobe.xmp")
_WARNINGS = threading.Lock()  # Filters of warnings belong to the process.
_ERRORS = (OSError, ValueError, SyntaxError, EOFError, struct.error, zlib.error, LookupError,
           TypeError, AttributeError, ArithmeticError, MemoryError, ImportError,
           Image.DecompressionBombError)
# Start-of-frame markers C0..CF without DHT (C4), JPG (C8) and DAC (CC).
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_APP1, _SCAN = 0xE1, 0xDA


class _Refused(ValueError):
  """An error whose message is complete."""


def png(pixels: np.ndarray) -> bytes:
  """A PNG of uint8 [H, W] or [H, W, 1 or 3]."""
  data = io.BytesIO()
  Image.fromarray(pixels[..., 0] if pixels.shape[2:] == (1,) else pixels).save(data, "PNG")
  return data.getvalue()


def normalized(data: bytes, where: str, *, png: Callable[[np.ndarray], bytes] = png) -> bytes:
  """JPEG or PNG bytes that TensorFlow decodes to the pixels described above.

  A JPEG or PNG that needs no change is returned as it is; all others become PNG. That holds for a
  turned JPEG, too: written as JPEG again, even with quality 100, it is up to 30 of 255 off.

  Args:
    data: an image file.
    where: its name, for messages.
    png: an encoder of uint8 [H, W, 1 or 3].

  Raises:
    ValueError: it cannot be decoded; the message names it.
  """
  if is_plain(data):
    return data
  with _named(where), _opened(data) as image:
    image.load()
    if _orientation(image) == 1:
      if image.format == "PNG" and not _is_shape_in_alpha(image):
        _deep_pixels(image)  # Logs a dark one.
        return data
      if image.format in ("JPEG", "MPO") and image.mode in ("L", "RGB"):
        return data
    return png(_pixels(image))


def pixels(image: Any, where: str) -> np.ndarray:
  """uint8 [H, W, 1 or 3] of a file's bytes, a Pillow image, or an array uint8 or bool [H, W, C].

  Raises:
    ValueError: it cannot be decoded; the message names it.
  """
  with _named(where):
    if isinstance(image, Image.Image):
      _check_size(*image.size)
      return _pixels(image)
    if isinstance(image, (bytes, bytearray, memoryview)):
      with _opened(bytes(image)) as opened:
        return _pixels(opened)
    array = np.asarray(image)
    if array.dtype == np.bool_:
      array = array.astype(np.uint8) * 255
    if array.dtype != np.uint8 or array.ndim not in (2, 3) or not array.size or (
        array.ndim == 3 and array.shape[2] not in (1, 2, 3, 4)):
      raise _Refused(f"{where} is an array of type {array.dtype} and shape {list(array.shape)}; "
                     "expected uint8 [H, W] or [H, W, C], C from 1 to 4.")
    return _pixels(Image.fromarray(array[..., 0] if array.shape[2:] == (1,) else array))


def opened(data: bytes, where: str) -> Image.Image:
  """A file's bytes as an upright Pillow image in RGB; ValueError as of `pixels`."""
  with _named(where), _opened(data) as image:
    return _upright(image).convert("RGB")


def file_format(data: bytes, where: str) -> str:
  """One of `FORMATS`, of a file that is decoded whole; ValueError as of `pixels`."""
  with _named(where), _opened(data) as image:
    image.load()
    return "JPEG" if image.format == "MPO" else str(image.format)


def is_plain(data: bytes) -> bool:
  """Whether bytes are a JPEG or PNG that needs no change, by its headers alone.

  False does not say that it needs one, but that Pillow has to look.
  """
  try:
    if data[:3] == _JPEG:
      return _is_plain_jpeg(data)
    return data[:8] == _PNG and _is_plain_png(data)
  except (struct.error, IndexError):
    return False


def _is_plain_jpeg(data: bytes) -> bool:
  """Whether it has one or three colors of 8 bits, and is upright."""
  place, has_frame = 2, False
  while data[place] == 0xFF:
    marker = data[place + 1]
    if marker == 0xFF:  # Fill byte.
      place += 1
      continue
    length, = struct.unpack_from(">H", data, place + 2)
    if marker == _SCAN:
      return has_frame
    if marker in _FRAMES:
      bits, height, width, colors = struct.unpack_from(">BHHB", data, place + 4)
      if bits != 8 or colors not in (1, 3) or height * width > MAX_PIXELS:
        return False
      has_frame = True
    elif marker == _APP1:
      body = data[place + 4:place + 2 + length]
      if body.startswith(b"Exif\0\0"):
        # The tag in either byte order: most files that have it say that they are upright.
        if (b"\x12\x01" in body or b"\x01\x12" in body) and _exif_orientation(body) != 1:
          return False
      elif b"Orientation" in body:  # XMP.
        return False
    place += 2 + length
  return False


def _exif_orientation(body: bytes) -> int:
  exif = Image.Exif()
  try:
    exif.load(body)
    return exif.get(_ORIENTATION, 1)
  except _ERRORS:
    return 1


def _is_plain_png(data: bytes) -> bool:
  """Whether it has neither 16 bits, alpha, nor an orientation."""
  width, height, depth, color = struct.unpack_from(">IIBB", data, 16)
  if depth > 8 or color in (4, 6) or width * height > MAX_PIXELS:
    return False
  place = 8
  while place < len(data):
    length, kind = struct.unpack_from(">I4s", data, place)
    if kind == b"IEND":
      return True
    if kind in (b"tRNS", b"eXIf") or (
        kind in (b"tEXt", b"zTXt", b"iTXt") and data.startswith(_TEXT_KEYS, place + 8)):
      return False
    place += 12 + length
  return False


@contextlib.contextmanager
def _named(where: str) -> Iterator[None]:
  """Turns errors of decoding into one line that names the image."""
  try:
    yield
  except _ERRORS as error:
    if isinstance(error, _Refused):
      raise ValueError(f"{where} {error}") from error
    raise ValueError(f"{where} cannot be decoded: {' '.join(str(error).split())}. Get it again, or "
                     "leave it out.") from error


def _opened(data: bytes) -> Image.Image:
  """Opens a file without decoding it."""
  try:
    with _WARNINGS, warnings.catch_warnings():  # Pillow's limit of pixels is lower.
      warnings.simplefilter("ignore")
      image = Image.open(io.BytesIO(data), formats=FORMATS)
  except Image.UnidentifiedImageError as error:
    kind = ("is empty" if not data else "is HEIC, which Pillow does not read" if data[4:12] in (
        b"ftypheic", b"ftypheix", b"ftypmif1", b"ftyphevc") else
            f"is no image that can be read: it begins with {data[:8]!r}")
    raise _Refused(f"{kind}. Convert it to JPEG or PNG (read are {', '.join(FORMATS)}), get it "
                   "again, or leave it out.") from error
  except Image.DecompressionBombError as error:
    raise _Refused(f"has too many pixels; at most {MAX_PIXELS} are read. Make it smaller, or leave "
                   "it out.") from error
  _check_size(*image.size)
  return image


def _check_size(width: int, height: int) -> None:
  if width * height > MAX_PIXELS:
    raise _Refused(f"has {width} x {height} pixels; at most {MAX_PIXELS} are read. Make it "
                   "smaller, or leave it out.")


def _orientation(image: Image.Image) -> int:
  """1 (upright) to 8; 1 if the data that say so are damaged."""
  try:
    found = image.getexif().get(_ORIENTATION, 1)
  except _ERRORS:
    return 1
  return found if found in range(1, 9) else 1


def _pixels(image: Image.Image) -> np.ndarray:
  found = np.asarray(_upright(image))
  return found[..., None] if found.ndim == 2 else found


def _upright(image: Image.Image) -> Image.Image:
  """The image in mode L or RGB, turned."""
  image.load()
  deep = _deep_pixels(image)
  if deep is not None:
    found = Image.fromarray(deep)
  elif _is_shape_in_alpha(image):
    rgba = image.convert("RGBA")
    is_dark = np.asarray(rgba)[..., :3].mean() < 128
    background = Image.new("RGBA", rgba.size, "white" if is_dark else "black")
    found = Image.alpha_composite(background, rgba).convert(
        "L" if image.mode in ("1", "L", "LA", "La") else "RGB")
  elif image.mode in ("1", "L", "LA", "La"):
    found = (image.convert("LA") if image.mode == "La" else image).convert("L")
  else:
    # Pillow has no way from these modes to RGB but another one.
    through = {"PA": "RGBA", "RGBa": "RGBA"}.get(image.mode)
    found = (image.convert(through) if through else image).convert("RGB")
  orientation = _orientation(image)
  if orientation == 1:
    return found
  exif = Image.Exif()
  exif[_ORIENTATION] = orientation
  found.info = {"exif": exif.tobytes()}
  return ImageOps.exif_transpose(found)


def _is_shape_in_alpha(image: Image.Image) -> bool:
  """Whether an image has one stored color, and an alpha that varies."""
  if not image.has_transparency_data or image.mode in ("I", "F") or image.mode.startswith("I;"):
    return False
  rgba = np.asarray(image.convert("RGBA")).reshape(-1, 4)
  low, high = rgba.min(axis=0).astype(int), rgba.max(axis=0).astype(int)
  return bool((high - low)[:3].max() < _ONE_COLOR and high[3] > low[3])


def _deep_pixels(image: Image.Image) -> np.ndarray | None:
  """uint8 [H, W] of an image of more than 8 bits; None of others."""
  if image.mode not in ("I", "F") and not image.mode.startswith("I;"):
    return None
  tags = getattr(image, "tag_v2", {})
  values = np.asarray(image)
  if image.mode == "F":
    values = values.astype(np.float64)
    if not np.isfinite(values).all():
      raise _Refused("has pixels that are no finite numbers. Fill them in, or leave it out.")
  low, high = values.min(), values.max()
  if image.mode.startswith("I;") or (
      image.mode == "I" and image.format in ("PPM", "PNG")):
    bits = int(np.max(tags.get(_BITS, 16)))
    if 0 < high < 1 << (bits - 3):
      logging.log_first_n(
          logging.WARNING, "An image of %d bits has values up to %d of %d and becomes almost "
          "black. If its values have fewer bits, scale them first.", 3, bits, high,
          (1 << bits) - 1)
    found = values.astype(np.uint32) >> (bits - 8)
  elif low >= 0 and high <= 1 and image.mode == "F":
    found = np.rint(values * 255)
  elif low >= 0 and high <= 255:
    found = np.rint(values)
  elif low >= 0 and high <= 65535 and image.mode == "I" and tags.get(_SAMPLE_FORMAT) != _SIGNED:
    found = values >> 8
  else:
    logging.log_first_n(
        logging.WARNING, "An image has values from %g to %g, of which the file does not say the "
        "range; they are scaled to 0..255. Scale all images alike if they must compare.", 3, low,
        high)
    found = np.rint((values - float(low)) * (255 / max(float(high) - float(low), 1e-30)))
  found = np.clip(found, 0, 255).astype(np.uint8)
  return 255 - found if tags.get(_PHOTOMETRIC) == _WHITE_IS_ZERO else found
