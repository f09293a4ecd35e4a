# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Whether an image file is whole: its header, its size and its end, without decoding it.

A file that was cut off has a valid header, so that a reader of headers takes it for good, and the
run that decodes it stops hours later. What is checked, by the first bytes and not by the ending:

  JPEG   a frame header with a size, and an end marker after the start of the pixels
  PNG    the chunks, one after the other, to IEND; their checksums are left to a decoder
  GIF    the blocks, one after the other, to the trailer
  BMP    as many bytes as the header says that the pixels take
  WebP   as many bytes as the RIFF header says
  TIFF   the directories, and as many bytes as the strips or tiles of the first one need

Anything else that Pillow opens is taken for whole. A flipped byte in the pixels is found only by
decoding: `suite data check`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import io
import struct

from PIL import Image

_SHOWN = 5
_CUT = "it is cut off"
# Start-of-frame markers C0..CF without DHT (C4), JPG (C8) and DAC (CC); markers without a length.
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_BARE = frozenset([0x01, *range(0xD0, 0xD8)])
_START_OF_SCAN, _END_OF_IMAGE = 0xDA, 0xD9


def problem(data: bytes) -> str:
  """What is wrong with the bytes of an image file; "" if nothing is."""
  if not data:
    return "it is empty (0 bytes)"
  if not data.strip(b"\0"):
    return f"all its {len(data):,} bytes are zero"
  try:
    for magic, check in _CHECKS:
      if data.startswith(magic):
        return check(data)
    if data[8:12] == b"WEBP" and data.startswith(b"RIFF"):
      return _CUT if len(data) < 8 + struct.unpack_from("<I", data, 4)[0] else ""
  except (struct.error, IndexError):
    return _CUT
  text = data[:200].lstrip().lower()
  if text.startswith((b"<!doctype", b"<html", b"<?xml", b"<svg", b"{")):
    return f"it is text, not an image: {text[:30].decode('latin-1')!r}"
  try:
    with Image.open(io.BytesIO(data)) as image:
      tags = getattr(image, "tag_v2", {}) if image.format == "TIFF" else {}
      for offsets, counts in ((273, 279), (324, 325)):  # Strips, tiles.
        ends = [a + b for a, b in zip(_listed(tags.get(offsets)), _listed(tags.get(counts)))]
        if ends and max(ends) > len(data):
          return f"{_CUT}: its pixels end at byte {max(ends):,} of {len(data):,}"
      return ""
  except Exception as error:  # Pillow raises many kinds on damaged files.
    is_known = data.startswith((b"II*\0", b"MM\0*"))
    return (f"{_CUT}, or a TIFF of a kind that Pillow does not read" if is_known else
            f"it is not an image that can be read ({type(error).__name__})")


def _jpeg(data: bytes) -> str:
  place, size = 2, None
  while True:
    if data[place] != 0xFF:
      return f"its header is broken at byte {place}"
    marker = data[place + 1]
    if marker == 0xFF:  # Fill byte.
      place += 1
    elif marker in _BARE:
      place += 2
    elif marker == _END_OF_IMAGE:
      return "it has no pixels"
    else:
      if marker in _FRAMES:
        size = struct.unpack_from(">HH", data, place + 5)
      length, = struct.unpack_from(">H", data, place + 2)
      place += 2 + length
      if marker == _START_OF_SCAN:
        break
  if size is None or not size[1]:
    return "its header gives no size"
  # Cameras append data, and there is none of these two bytes among the pixels.
  return "" if data.find(b"\xff\xd9", place) >= 0 else f"{_CUT}: there is no end marker"


def _png(data: bytes) -> str:
  place = 8
  if data[12:16] != b"IHDR":
    return "its header is broken"
  if 0 in struct.unpack_from(">II", data, 16):
    return "its header gives no size"
  while True:
    length, kind = struct.unpack_from(">I4s", data, place)
    if not kind.isalpha():  # As where an interrupted copy left zeros.
      return f"its chunks are broken at byte {place:,}"
    place += 12 + length
    if place > len(data):
      return f"{_CUT} in chunk {kind.decode('latin-1')}"
    if kind == b"IEND":
      return ""


def _gif(data: bytes) -> str:
  def table(flags: int) -> int:
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0

  place, frames = 13 + table(data[10]), 0
  while True:
    if place == len(data) and frames:
      return ""  # Only the trailer is missing, which decoders do not need.
    kind = data[place]
    if kind == 0x3B:
      return "" if frames else "it has no image"
    if kind == 0x2C:
      frames += 1
      place += 11 + table(data[place + 9])
    elif kind == 0x21:
      place += 2
    else:  # Decoders take what comes after the first image for its end.
      return "" if frames else f"its header is broken at byte {place}"
    while data[place]:
      place += 1 + data[place]
    place += 1


def _bmp(data: bytes) -> str:
  offset, header = struct.unpack_from("<I", data, 10)[0], struct.unpack_from("<I", data, 14)[0]
  if header < 40:
    width, height, _, bits = struct.unpack_from("<HHHH", data, 18)
    compression = 0
  else:
    width, height, _, bits, compression = struct.unpack_from("<iiHHI", data, 18)
  if not width or not height:
    return "its header gives no size"
  need = offset + (abs(width) * bits + 31) // 32 * 4 * abs(height)
  return _CUT if compression in (0, 3) and len(data) < need else ""


def _listed(value: object) -> Sequence[int]:
  return () if value is None else value if isinstance(value, (tuple, list)) else (int(str(value)),)


_CHECKS = ((b"\xff\xd8", _jpeg), (b"\x89PNG\r\n\x1a\n", _png), (b"GIF8", _gif), (b"BM", _bmp))


def check(name: str, files: Iterable[tuple[str, bytes]], remedy: str) -> None:
  """Refuses damaged files, naming them.

  Args:
    name: of the data set.
    files: (id, bytes) of each.
    remedy: the last sentence of the message.
  """
  found: list[str] = []
  total = 0
  for image_id, data in files:
    total += 1
    what = problem(data)
    if what:
      found.append(f"{image_id!r}: {what}")
  if found:
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    raise ValueError(f"{len(found)} of the {total} image files of {name!r} are damaged: "
                     f"{'; '.join(found[:_SHOWN])}{more}. {remedy}")
