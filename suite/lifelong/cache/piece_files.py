# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Planes of an accuracy cache: .npy files of rows that never change, their sums, and rows of bits.

  0007.right.npy   uint8 [models, ceil(samples / 8)], bits: is the answer correct?
  0007.seen.npy    the same: was it evaluated? Left out where all were
  0007.value.npy   float32 [models, samples]: the score, NaN where not evaluated
  0007.number.npy  uint16 [models, samples]: the number of generations of which it is the mean

A file is written row by row and synced before the cache names it (`catalog`); its size and the
CRC-32 of each 256 KiB are in the data base. What is read of it is compared once, so a flipped bit
is found where it would be used.

Rows of bits: one bit for each answer, eight in a byte, the first in the highest bit.

  answers  1 0 1 1 0 0 0 1 | 1            row  0b10110001 0b10000000

Column counts of M rows are computed for 64 columns at a time: the rows are summed in binary with
logical operations, plane by plane (plane p holds bit p of all counts), three words into two like a
hardware adder, and only the log2(M) planes are unpacked. Threads bring little: the operations are
so short that they mostly wait for the interpreter's lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
import contextlib
import hashlib
import io
import pathlib
import re
from typing import Any, BinaryIO, NamedTuple, Union
import zlib

import numpy as np

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
    for block in range(start // _CRC_BYTES, -(-end // _CRC_BYTES)):
      if not self._is_whole[block]:
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


Rows = Union[np.ndarray, Plane]


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
      return at_all(self.planes[RIGHT], rows, places)
    seen = (at_all(self.planes[SEEN], rows, places) if SEEN in self.planes else
            np.ones([len(rows), len(places)], np.uint8))
    if kind != VALUE:
      return seen if kind == SEEN else seen.astype(CELLS[kind])
    found = at_all(self.planes[RIGHT], rows, places).astype(CELLS[VALUE])
    found[seen == 0] = np.nan
    return found

  def whole(self, kind: str, row: int) -> np.ndarray:
    """What it has of one of its models: [samples], see `cells`."""
    if kind not in self.planes:
      return self.cells(kind, np.array([row]), np.arange(self.at.samples))[0]
    data = self.planes[kind][row]
    return (data.view(CELLS[kind])[:self.at.samples].copy() if kind in CELLS else
            unpack(data, self.at.samples))


def packed(cells: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
  """The bytes of a row, by kind, of what `Piece.whole` has; without SEEN if all were evaluated."""
  return {kind: one.view(np.uint8) if kind in CELLS else pack(one) for kind, one in cells.items()
          if kind != SEEN or not one.all()}


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
  every = pack(np.ones(samples, bool)).data
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


@contextlib.contextmanager
def opened(folder: pathlib.Path, name: str) -> Iterator[Summed]:
  """A file of another kind, to write to."""
  with atomic_files.opening(folder / name) as file:
    yield Summed(file)


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


# Number of columns counted at a time: the planes must fit in the processor's cache, and Python's
# share of the time must be small.
BLOCK = 1 << 20


def pack(answers: np.ndarray) -> np.ndarray:
  """Packs 0/1 [..., N] into uint8 [..., ceil(N / 8)]."""
  return np.packbits(np.asarray(answers, bool), axis=-1)


def unpack(rows: np.ndarray, num: int) -> np.ndarray:
  """Unpacks uint8 [..., ceil(N / 8)] to 0/1 uint8 [..., N]."""
  return np.unpackbits(rows, axis=-1, count=num)


def at(row: np.ndarray, positions: np.ndarray) -> np.ndarray:
  """Answers of one row at int [n] positions: uint8 [n]; costs n lookups for any row length."""
  positions = np.asarray(positions)
  return (row[positions >> 3] >> (7 - (positions & 7)).astype(np.uint8)) & np.uint8(1)


def at_all(bits: Rows, rows: np.ndarray, positions: np.ndarray) -> np.ndarray:
  """Answers of some rows of bits [M, B] at int [n] positions: uint8 [rows, n]."""
  shift = (7 - (positions & 7)).astype(np.uint8)
  if 2 * len(rows) < len(bits):
    return np.stack([at(bits[row], positions) for row in rows])
  found = np.take(np.asarray(bits), positions >> 3, axis=1)
  found >>= shift
  found &= np.uint8(1)
  return found if np.array_equal(rows, np.arange(len(bits))) else found[rows]


def num_ones(row: np.ndarray, num: int) -> int:
  """Number of ones among the first `num` bits of a row, whatever its padding bits are."""
  return int(row_counts(row[None], num)[0])


def row_counts(rows: np.ndarray, num: int) -> np.ndarray:
  """Number of ones among the first `num` bits of each of M rows: int64 [M]."""
  whole, rest = divmod(num, 8)
  found = np.zeros(len(rows), np.int64)
  step = max(1, BLOCK // max(1, whole))
  for start in range(0, len(rows), step):
    some = rows[start:start + step]
    for first in range(0, whole, BLOCK):
      found[start:start + step] += _ONES[some[:, first:min(whole, first + BLOCK)]].sum(
          axis=1, dtype=np.int64)
  return found + _ONES[rows[:, whole] >> (8 - rest)] if rest else found


def column_counts(rows: Sequence[np.ndarray], num: int, *, first: int = 0) -> np.ndarray:
  """Number of ones among M rows in each of the columns first ... first + num - 1.

  Args:
    rows: M rows of bytes; memory-mapped rows are read once.
    num: N columns.
    first: a multiple of 64.

  Returns:
    uint8 [N], or uint16 where M > 255.
  """
  if first % 64:
    raise ValueError(f"Columns are counted from a multiple of 64; got {first}.")
  counts = np.empty(num, np.uint8 if len(rows) < 256 else np.uint16)
  for start in range(0, num, BLOCK):
    size = min(BLOCK, num - start)
    words = slice((first + start) // 8, (first + start + size + 7) // 8)
    planes = _add(row[words] for row in rows)
    sums: np.ndarray = np.zeros(size, counts.dtype)
    for plane in planes[::-1]:  # Horner's rule.
      sums += sums
      sums += np.unpackbits(plane.view(np.uint8), count=size)
    counts[start:start + size] = sums
  return counts


def _add(rows: Iterable[np.ndarray]) -> list[np.ndarray]:
  """Adds M rows of one-bit numbers, bytes [B]: bit p of each sum is a bit of planes[p].

  Planes are words of 64 bits: uint64 [ceil(B / 8)]; rows are padded with zeros.
  Three words of one weight are combined to one, plus one of the next weight, as soon as they are
  available, so at most two are stored for each weight.
  """
  waiting: list[list[np.ndarray]] = []

  def take(word: np.ndarray, power: int) -> None:
    if power == len(waiting):
      waiting.append([])
    waiting[power].append(word)
    if len(waiting[power]) == 3:
      one, two, three = waiting[power]
      half = one ^ two
      carry = one & two
      carry |= half & three
      half ^= three  # In place: `half` is not the caller's array.
      waiting[power] = [half]
      take(carry, power + 1)

  for row in rows:
    rest = -len(row) % 8
    row = np.ascontiguousarray(row)
    take((np.concatenate([row, np.zeros(rest, np.uint8)]) if rest else row).view(np.uint64), 0)
  planes: list[np.ndarray] = []
  while len(planes) < len(waiting):
    left = waiting[len(planes)]
    if len(left) == 2:
      take(left[0] & left[1], len(planes) + 1)
      planes.append(left[0] ^ left[1])
    else:  # One word: a weight that had three keeps one.
      planes.append(left[0])
  return planes


_ONES = np.array([bin(byte).count("1") for byte in range(256)], np.uint8)
