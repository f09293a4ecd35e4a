# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The shape of a PNG or JPEG image, read from its header without decoding it."""

from __future__ import annotations

import struct
from typing import Optional, Tuple

_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PNG_GRAY = 0
# Start-of-frame markers C0..CF without DHT (C4), JPG (C8) and DAC (CC).
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def shape(encoded: bytes) -> Optional[Tuple[int, int, int]]:
  """(height, width, 1 or 3) of a PNG or JPEG; None if the header is neither or is cut off."""
  try:
    if encoded[:8] == _PNG_SIGNATURE:
      width, height = struct.unpack(">II", encoded[16:24])
      return height, width, 1 if encoded[25] == _PNG_GRAY else 3
    if encoded[:2] == b"\xff\xd8":
      return _jpeg_shape(encoded)
  except (struct.error, IndexError):
    pass
  return None


def _jpeg_shape(encoded: bytes) -> Optional[Tuple[int, int, int]]:
  place = 2
  while encoded[place] == 0xFF:
    marker = encoded[place + 1]
    if marker == 0xFF:  # Fill byte.
      place += 1
      continue
    length, = struct.unpack(">H", encoded[place + 2:place + 4])
    if marker in _JPEG_FRAMES:
      height, width = struct.unpack(">HH", encoded[place + 5:place + 9])
      return height, width, 1 if encoded[place + 9] == 1 else 3
    place += 2 + length
  return None
