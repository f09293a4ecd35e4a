# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Planes of an accuracy cache: .npy files of rows that never change, their sums, and rows of bits.

  0007.right.npy   uint8 [models, ceil(samples / 8)], bits (`bit_rows`): is the answer correct?
  0007.seen.npy    the same: was it evaluated? Left out where all were
  0007.value.npy   float32 [models, samples]: the score, NaN where not evaluated
  0007.number.npy  uint16 [models, samples]: the number of generations of which it is the mean

A file is written row by row and synced before the cache names it (`catalog`); its size and the
CRC-32 of each 256 KiB are in the data base. What is read of it is compared once, so a flipped bit
is found where it would be used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import contextlib
import hashlib
import io
import pathlib
import re
from typing import Any, BinaryIO, NamedTuple
import zlib

import numpy as np

from suite.lifelong.cache import bit_rows
from suite.system import atomic_files
from suite.system import io_errors

# A mapped file keeps a descriptor; smaller ones are read.
MAPPED_BYTES = 1 << 20
RIGHT, SEEN, VALUE, NUMBER = KINDS = ("right", "seen", "value", "number")
# What a sample takes in a row that is no row of bits.
CELLS: dict[str, np.dtype] = {
    VALUE: np.dtype("<f4"), NUMBER: np.dtype("<u2"), "documents": np.dtype("<u8"),
    "clusters": np.dtype("<u4")}
_CRC_BYTES = 1 << 18
_NAMED = re.compile(r"[0-9]{4,}\.[a-z]+\.(npy|bin)")


class CacheError(ValueError):
  """The cache, or the data to be added to it, is invalid; the message names the remedy."""


class Facts(NamedTuple):
  """What is known of a file: its size, where its rows start, their width in bytes, its sums."""

  name: str
  size: int
  start: int
  width: int
  sha256: str
  crc32: bytes


class Checked:
  """The bytes of a file; each block is compared with its CRC-32 when it is first read."""

  def __init__(self, folder: pathlib.Path, facts: Facts):
    """Opens a file: mapped if it is large, otherwise read at once."""
    self._path, self.facts = folder / facts.name, facts
    if not _has_size(self._path, facts.size):
      raise CacheError(f"{self._path} is truncated or missing")
    self._sums = np.frombuffer(facts.crc32, "<u4")
    self._is_whole = np.zeros(len(self._sums), bool)
    is_mapped = facts.size >= max(1, MAPPED_BYTES)
    self._bytes = (np.memmap(self._path, np.uint8, "r") if is_mapped else
                   np.frombuffer(self._path.read_bytes(), np.uint8))
    if not is_mapped:
      self.read(0, facts.size)

  def read(self, start: int, end: int) -> np.ndarray:
    """The bytes from `start` to `end`; a CacheError if they are not what was written."""
    first = start // _CRC_BYTES
    for block in (first + np.flatnonzero(~self._is_whole[first:-(-end // _CRC_BYTES)])).tolist():
      here = self._bytes[block * _CRC_BYTES:(block + 1) * _CRC_BYTES]
      if zlib.crc32(here.data) != self._sums[block]:
        raise CacheError(f"{self._path} is damaged: its content is not what was written. Put it "
                         "back from a copy; suite verify says what else can be done.")
      self._is_whole[block] = True
    return self._bytes[start:end]


class Summed:
  """Writes to a file and sums what is written: SHA-256, and CRC-32 by blocks."""

  def __init__(self, file: BinaryIO):
    self._file, self.size, self._sums = file, 0, [0]
    self._digest = hashlib.sha256()

  def write(self, data: Any) -> None:
    """Appends bytes."""
    data = memoryview(data).cast("B")
    self._file.write(data)
    self._digest.update(data)
    while len(data):
      left = _CRC_BYTES - self.size % _CRC_BYTES
      self._sums[-1] = zlib.crc32(data[:left], self._sums[-1])
      self.size += len(data[:left])
      data = data[left:]
      if self.size % _CRC_BYTES == 0:
        self._sums.append(0)

  def facts(self, name: str, start: int = 0, width: int = 0) -> Facts:
    """What was written."""
    sums = np.array(self._sums[:-(-self.size // _CRC_BYTES)], "<u4")
    return Facts(name, self.size, start, width, self._digest.hexdigest(), sums.tobytes())


class Plane:
  """Some rows of a file, uint8 [models, width], which are checked when they are read."""

  def __init__(self, file: Checked, first: int, models: int):
    self._file, self.shape = file, (models, file.facts.width)
    self._start = file.facts.start + first * file.facts.width

  def __len__(self) -> int:
    return self.shape[0]

  def __getitem__(self, rows: int | slice) -> np.ndarray:
    """A row [width], or some of them one after another [n, width]."""
    models, width = self.shape
    if not isinstance(rows, slice):
      return self[rows:rows + 1][0]
    first, end, step = rows.indices(models)
    start, size = self._start + first * width, max(0, end - first)
    return self._file.read(start, start + size * width).reshape(size, width)[::step]

  def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
    del copy
    return np.asarray(self[:], dtype)


class Rectangle(NamedTuple):
  """Answers of `models` models from `model` on to `samples` samples from `sample` on.

  They are the rows from `row` on of files; None: it has no such plane.
  """

  model: int
  models: int
  sample: int
  samples: int
  row: int
  right: str
  seen: str | None = None
  value: str | None = None
  number: str | None = None

  @property
  def ends(self) -> tuple[int, int]:
    return self.model + self.models, self.sample + self.samples

  def files(self) -> list[str]:
    """Names of its files."""
    return [one for one in self[5:] if one is not None]

  def part(self, first: int, end: int) -> Rectangle:
    """That of its models `first` to `end` - 1, which are counted from its first one."""
    return self._replace(model=self.model + first, models=end - first, row=self.row + first)


class Piece:
  """The planes of a rectangle.

  Attributes:
    at: the rectangle.
    planes: by kind.
  """

  def __init__(self, at: Rectangle, files: Mapping[str, Checked]):
    self.at = at
    self.planes = {kind: Plane(files[name], at.row, at.models)
                   for kind, name in zip(KINDS, at[5:]) if name is not None}

  def cells(self, kind: str, rows: np.ndarray, places: np.ndarray) -> np.ndarray:
    """What it has of some of its models [m] and samples [n]: [m, n].

    RIGHT and SEEN: uint8; VALUE: float32; NUMBER: uint16.
    """
    if kind in CELLS and kind in self.planes:
      return np.stack([self.planes[kind][row].view(CELLS[kind])[places] for row in rows.tolist()])
    if kind == RIGHT:
      return bit_rows.at_all(self.planes[RIGHT], rows, places)
    seen = (bit_rows.at_all(self.planes[SEEN], rows, places) if SEEN in self.planes else
            np.ones([len(rows), len(places)], np.uint8))
    if kind != VALUE:
      return seen if kind == SEEN else seen.astype(CELLS[kind])
    found = bit_rows.at_all(self.planes[RIGHT], rows, places).astype(CELLS[VALUE])
    found[seen == 0] = np.nan
    return found

  def counts(self, kind: str, rows: np.ndarray, first: int) -> np.ndarray:
    """Number of ones among some of its models of each of its samples from `first` on."""
    plane, aligned = self.planes[kind], first // 64 * 64
    chosen: list[np.ndarray] = []  # Rows that follow each other are read at once.
    for part in np.split(rows, np.flatnonzero(np.diff(rows) != 1) + 1):
      chosen += list(plane[int(part[0]):int(part[-1]) + 1])
    return bit_rows.column_counts(chosen, self.at.samples - aligned, first=aligned)[
        first - aligned:]

  def whole(self, kind: str, row: int) -> np.ndarray:
    """What it has of one of its models: [samples], see `cells`."""
    if kind not in self.planes:
      return self.cells(kind, np.array([row]), np.arange(self.at.samples))[0]
    data = self.planes[kind][row]
    return (data.view(CELLS[kind])[:self.at.samples].copy() if kind in CELLS else
            bit_rows.unpack(data, self.at.samples))


def packed(cells: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
  """The bytes of a row, by kind, of what `Piece.whole` has; without SEEN if all were evaluated."""
  return {kind: one.view(np.uint8) if kind in CELLS else bit_rows.pack(one)
          for kind, one in cells.items() if kind != SEEN or not one.all()}


def beside(pieces: Sequence[Piece], model: int, kinds: Iterable[str]) -> dict[str, np.ndarray]:
  """The row of a model from pieces of samples that follow each other: kind -> bytes."""
  one, row = pieces[0], model - pieces[0].at.model
  if len(pieces) == 1 and {*kinds} - {SEEN} == one.planes.keys() - {SEEN} and (
      one.planes[RIGHT].shape[1] == (one.at.samples + 7) // 8):
    return {kind: plane[row] for kind, plane in one.planes.items()}
  return packed({kind: np.concatenate([one.whole(kind, model - one.at.model) for one in pieces])
                 for kind in kinds})


def write(folder: pathlib.Path, number: int, rows: Iterable[Mapping[str, np.ndarray]],
          num: int, samples: int) -> list[Facts]:
  """Writes the files of `num` rows to `samples` samples, one row at a time.

  Args:
    folder: of the cache.
    number: of the files.
    rows: kind -> bytes of each row. All rows have the same kinds but for SEEN: a row that lacks it
      was evaluated on all samples.
  """
  found: dict[str, tuple[Summed, int, int]] = {}
  every = bit_rows.pack(np.ones(samples, bool)).data
  with contextlib.ExitStack() as stack:
    for done, row in enumerate(rows):
      for kind in row:
        if kind not in found:
          width = row[kind].nbytes
          file = Summed(stack.enter_context(atomic_files.opening(folder / _name(number, kind))))
          head = io.BytesIO()
          np.lib.format.write_array_header_1_0(head, {
              "descr": CELLS.get(kind, np.dtype(np.uint8)).str, "fortran_order": False,
              "shape": (num, samples if kind in CELLS else width)})
          file.write(head.getvalue())
          found[kind] = file, file.size, width
          for _ in range(done):
            file.write(every)
      for kind, (file, *_) in found.items():
        file.write(np.ascontiguousarray(row[kind]).data if kind in row else every)
  return [file.facts(_name(number, kind), start, width)
          for kind, (file, start, width) in found.items()]


def _name(number: int, kind: str) -> str:
  return f"{number:04d}.{kind}.npy"


def number_of(name: str) -> int:
  """The number of a file."""
  return int(name.partition(".")[0])


def every_file(folder: pathlib.Path) -> list[pathlib.Path]:
  """All files of planes and ids in a folder, whether a cache names them or not."""
  return [path for path in folder.glob("[0-9]*") if _NAMED.fullmatch(path.name)]


def damage(folder: pathlib.Path, facts: Facts) -> str:
  """Says how a file differs from what was written, read as a whole; "" if it does not."""
  path = folder / facts.name
  if not _has_size(path, facts.size):
    return f"{path} is truncated or missing"
  if atomic_files.sha256(path) != facts.sha256:
    return f"{path} is damaged: its content is not what was written"
  return ""


def _has_size(path: pathlib.Path, size: int) -> bool:
  try:
    return path.is_file() and path.stat().st_size == size
  except OSError as error:
    if io_errors.of(error):
      raise
    return False
