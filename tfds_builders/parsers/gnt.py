# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Handwritten characters in .gnt files (CASIA-HWDB): binary records, many files in a zip.

A record: its length (uint32), two bytes of GB2312 code, width and height (uint16), all little-
endian, and width x height gray values with dark ink. Images are inverted: the background is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import pathlib
import struct

import numpy as np

from tfds_builders import errors
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images

_HEAD = struct.Struct("<I2sHH")


def parse(paths: Mapping[str, pathlib.Path], *, sets: Mapping[str, str]
          ) -> Iterator[example.Example]:
  """Yields the characters, writer by writer; a label is the character itself.

  Args:
    paths: file name -> path.
    sets: file name -> source split.
  """
  for file, path in paths.items():
    split, num = sets[file], 0
    for name, data in archives.members(path, lambda name: name.lower().endswith(".gnt")):
      writer = pathlib.PurePosixPath(name).stem
      where = f"{path}, member {name!r}"
      for number, (label, pixels) in enumerate(_records(data, where)):
        num += 1
        yield example.Example(split, f"{split}/{writer}/{number:04d}", label, images.png(pixels),
                              f"{where}, record {number}")
    if not num:
      raise errors.DataError(f"{path} holds no .gnt files. (Those of .alz archives must be packed "
                             "as a zip.) Get the file of this name from the publisher.")


def _records(data: bytes, where: str) -> Iterator[tuple[str, np.ndarray]]:
  """Yields (character, uint8 [H, W] with bright ink)."""
  place = 0
  while place < len(data):
    if place + _HEAD.size > len(data):
      raise errors.DataError(f"{where} ends within a record: it is truncated. Get it again.")
    length, code, width, height = _HEAD.unpack_from(data, place)
    if length != _HEAD.size + width * height or not width * height:
      raise errors.DataError(f"{where}, byte {place}: a record of {length} bytes cannot hold "
                             f"{width} x {height} pixels. The file is damaged: get it again.")
    if place + length > len(data):
      raise errors.DataError(f"{where} ends within a record: it is truncated. Get it again.")
    pixels = np.frombuffer(data, np.uint8, width * height, place + _HEAD.size)
    yield _character(code), 255 - pixels.reshape(height, width)
    place += length


def _character(code: bytes) -> str:
  """Returns the character of a code; a single byte is padded by a zero. Unknown codes: "0x..."."""
  try:
    character = code.rstrip(b"\x00").decode("gb2312")
  except UnicodeDecodeError:
    character = ""
  return character if character.isprintable() and character.strip() else f"0x{code.hex()}"


def code(index: int) -> bytes:
  """Returns the `index`-th of the 6,763 characters of GB2312's two levels, for fixtures."""
  row, cell = divmod(index, 94)
  return bytes([0xB0 + row, 0xA1 + cell])


def write_fixture(directory: pathlib.Path, file_names: Sequence[str], class_names: Sequence[str], *,
                  per_class: int, sets: Mapping[str, str]) -> Mapping[str, int]:
  """Writes tiny archives of this layout; returns the number of examples by source split."""
  del per_class
  counts: dict[str, int] = {}
  rng = np.random.Generator(np.random.PCG64(0))
  codes: list[bytes] = []
  for index in range(10**4):  # The first level ends with a few empty cells.
    if not _character(code(index)).startswith("0x"):
      codes.append(code(index))
    if len(codes) == len(class_names):
      break
  for place, file in enumerate(file_names):
    members = {}
    # Each class in one of the training files, a few in both and in the test file.
    chosen = np.arange(0, len(codes), 40)
    if place < 2:
      chosen = np.union1d(chosen, np.arange(place, len(codes), 2))
    for writer, part in enumerate(np.array_split(chosen, 3)):
      body = [_HEAD.pack(_HEAD.size + 12, codes[index], 3, 4) + rng.bytes(12) for index in part]
      members[f"{1001 + 10 * place + writer}-c.gnt"] = b"".join(body)
    fixtures.write_archive(directory / file, members)
    counts[sets[file]] = counts.get(sets[file], 0) + len(chosen)
  return counts
