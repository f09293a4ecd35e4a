# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Files of an accuracy cache, never changed after they are written, and their digests.

A file of answers holds pieces: planes uint8 [models, ceil(samples / 8)] of correct answers, each
followed by one of evaluated answers where some are missing, and one of values, float32, where there
are graded ones. The log has the CRC-32 of each 256 KiB
of a file: what is read of it is compared once, so a flipped bit is found where it would be used.

Rows of bits: one bit for each answer, eight in a byte, the first in the highest bit.

  answers  1 0 1 1 0 0 0 1 | 1            row  0b10110001 0b10000000

Column counts of M rows are computed for 64 columns at a time: the rows are summed in binary with
logical operations, plane by plane (plane p holds bit p of all counts), three words into two like a
hardware adder, and only the log2(M) planes are unpacked. Threads bring little: the operations are
so short that they mostly wait for the interpreter's lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import dataclasses
import hashlib
import pathlib
from typing import Any, BinaryIO, Union
import zlib

import numpy as np

from suite.system import atomic_files

# A mapped file keeps a descriptor; smaller ones are read.
MAPPED_BYTES = 1 << 20
_CRC_BYTES = 1 << 18
VALUE = np.dtype("<f4")
# Of a large file, `spot` reads this many blocks.
_SPOTS, _SPOT_BYTES = 16, 4096


class CacheError(ValueError):
  """The cache, or the data to be added to it, is invalid; the message names the remedy."""


class Checked:
  """The bytes of a file; each block is compared with its CRC-32 when it is first read.

  Args:
    path: the file; mapped if it is large.
    sums: CRC-32 of each block, eight hexadecimal digits; None: not known, as early versions.
  """

  def __init__(self, path: pathlib.Path, sums: str | None):
    self._path, size = path, path.stat().st_size
    self._bytes = (np.memmap(path, np.uint8, "r") if size and size >= MAPPED_BYTES else
                   np.frombuffer(path.read_bytes(), np.uint8))
    self._sums = None if sums is None else [
        int(sums[i:i + 8], 16) for i in range(0, len(sums), 8)]
    self._is_whole = np.zeros(0 if self._sums is None else len(self._sums), bool)

  def read(self, start: int, end: int) -> np.ndarray:
    """The bytes from `start` to `end`; a CacheError if they are not what was written."""
    if self._sums is not None:
      blocks = range(start // _CRC_BYTES, min(-(-end // _CRC_BYTES), len(self._is_whole)))
      for block in blocks:
        if not self._is_whole[block]:
          here = self._bytes[block * _CRC_BYTES:(block + 1) * _CRC_BYTES]
          if zlib.crc32(here.data) != self._sums[block]:
            raise CacheError(f"{self._path} is damaged: its content is not what was written. Put "
                             "it back from a copy; suite verify says what else can be done.")
          self._is_whole[block] = True
    return self._bytes[start:end]


class Summed:
  """Writes to a file and sums what is written: SHA-256, and CRC-32 by blocks."""

  def __init__(self, file: BinaryIO):
    self._file, self.size, self._sums = file, 0, [0]
    self._digest = hashlib.sha256()

  def write(self, data: bytes | memoryview) -> None:
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

  def facts(self) -> dict[str, Any]:
    """"sha256" and "crc32" of what was written."""
    num_blocks = -(-self.size // _CRC_BYTES)
    return {"sha256": self._digest.hexdigest(),
            "crc32": "".join(f"{one:08x}" for one in self._sums[:num_blocks])}


class Plane:
  """Rows of bits of a file, uint8 [models, width], which are checked when they are read."""

  def __init__(self, file: Checked, start: int, models: int, width: int):
    self._file, self._start, self.shape = file, start, (models, width)

  def __len__(self) -> int:
    return self.shape[0]

  def __getitem__(self, rows: int | slice) -> np.ndarray:
    """A row [width], or some of them one after another [n, width]."""
    models, width = self.shape
    if not isinstance(rows, slice):
      return self._read(range(models)[rows], 1)[0]
    first, end, step = rows.indices(models)
    return self._read(first, max(0, end - first))[::step]

  def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
    del copy
    return np.asarray(self[:], dtype)

  def _read(self, first: int, num: int) -> np.ndarray:
    width = self.shape[1]
    start = self._start + first * width
    return self._file.read(start, start + num * width).reshape(num, width)


Rows = Union[np.ndarray, Plane]


@dataclasses.dataclass(frozen=True)
class Piece:
  """Answers of one model batch on one sample batch.

  Attributes:
    correct: bits.
    seen: bits; None where all were evaluated.
    values: scores, float32 as bytes [models, 4 * samples], NaN where not evaluated; None where the
      bits of `correct` are the scores.
  """

  correct: Rows
  seen: Rows | None
  values: Rows | None = None

  def row(self, index: int) -> Piece:
    """The piece of one of its models."""
    here = slice(index, index + 1)
    return Piece(self.correct[here], None if self.seen is None else self.seen[here],
                 None if self.values is None else self.values[here])


def write(path: pathlib.Path, pieces: Iterable[Piece]) -> dict[str, Any]:
  """Writes the planes of each piece; returns what `read` and `damage` need to know of the file."""
  offsets: list[tuple[int | None, ...]] = []
  with atomic_files.opening(path) as file:
    summed = Summed(file)

    def put(plane: Rows) -> int:
      start = summed.size
      summed.write(np.ascontiguousarray(plane).reshape(-1).data)
      return start

    for piece in pieces:
      start = put(piece.correct)
      seen = None if piece.seen is None else put(piece.seen)
      offsets.append((start, seen) if piece.values is None else (start, seen, put(piece.values)))
  return {"bits": path.name, "bytes": summed.size, "offsets": offsets, **summed.facts(),
          "spot": spot(path)}


def read(path: pathlib.Path, line: dict[str, Any], shapes: Sequence[tuple[int, int]]
         ) -> list[Piece]:
  """Returns the pieces of a file; `shapes` are (models, samples) of each."""
  file = Checked(path, line.get("crc32"))

  def plane(start: int, models: int, samples: int) -> Plane:
    return Plane(file, start, models, (samples + 7) // 8)

  return [Piece(plane(start, *shape), None if seen is None else plane(seen, *shape),
                Plane(file, values[0], shape[0], 4 * shape[1]) if values else None)
          for shape, (start, seen, *values) in zip(shapes, line["offsets"])]


def damage(path: pathlib.Path, num_bytes: int, digest: str | None, *, whole: bool) -> str:
  """Says how a file differs from what was written; "" if it does not.

  Args:
    num_bytes: its size.
    digest: `sha256` if `whole`, else `spot`; None: not known, as of files of format 1.
    whole: read all of the file.
  """
  if not path.exists() or path.stat().st_size != num_bytes:
    return f"{path} is truncated or missing"
  if digest is not None and digest != (atomic_files.sha256(path) if whole else spot(path)):
    return f"{path} is damaged: its content is not what was written"
  return ""


def spot(path: pathlib.Path, start: int = 0) -> str:
  """Digest of a small file from byte `start` on; of a large one, of blocks, both ends included."""
  size, digest = path.stat().st_size - start, hashlib.sha256()
  with open(path, "rb") as file:
    file.seek(start)
    if size <= _SPOTS * _SPOT_BYTES:
      digest.update(file.read())
    else:
      for index in range(_SPOTS):
        file.seek(start + (size - _SPOT_BYTES) * index // (_SPOTS - 1))
        digest.update(file.read(_SPOT_BYTES))
  return digest.hexdigest()[:16]


def below(pieces: Sequence[Piece], size: int) -> Piece:
  """Joins batches of models on the same `size` samples."""
  seen = None
  if any(piece.seen is not None for piece in pieces):
    seen = np.concatenate([np.asarray(_seen(piece, size)) for piece in pieces])
  values = None
  if any(piece.values is not None for piece in pieces):
    values = np.concatenate([_values(piece, size) for piece in pieces])
  return Piece(np.concatenate([np.asarray(piece.correct) for piece in pieces]), seen, values)


def beside(pieces: Sequence[Piece], sizes: Sequence[int]) -> Piece:
  """Joins batches of `sizes` samples of the same models; one row at a time is unpacked."""
  def join(planes: Sequence[Rows]) -> np.ndarray:
    return np.stack([
        pack(np.concatenate([unpack(plane[row], size)
                                      for plane, size in zip(planes, sizes)]))
        for row in range(len(planes[0]))])

  correct, seen = join([piece.correct for piece in pieces]), None
  if any(piece.seen is not None for piece in pieces):
    seen = join([_seen(piece, size) for piece, size in zip(pieces, sizes)])
  values = None
  if any(piece.values is not None for piece in pieces):
    values = np.concatenate([_values(piece, size) for piece, size in zip(pieces, sizes)], axis=1)
  return Piece(correct, seen, values)


def _seen(piece: Piece, size: int) -> Rows:
  if piece.seen is not None:
    return piece.seen
  return np.broadcast_to(pack(np.ones(size, bool)), piece.correct.shape)


def _values(piece: Piece, size: int) -> np.ndarray:
  """Scores as bytes [models, 4 * size], of a piece of bits, too."""
  if piece.values is not None:
    return np.asarray(piece.values)
  found = unpack(np.asarray(piece.correct), size).astype(VALUE)
  if piece.seen is not None:
    found[unpack(np.asarray(piece.seen), size) == 0] = np.nan
  return found.view(np.uint8)


def values_at(piece: Piece, rows: np.ndarray, positions: np.ndarray) -> np.ndarray:
  """Scores of some models at int [n] positions: float32 [rows, n], NaN where not evaluated."""
  if piece.values is not None:
    return np.stack([piece.values[row].view(VALUE)[positions] for row in rows.tolist()])
  found = at_all(piece.correct, rows, positions).astype(np.float32)
  if piece.seen is not None:
    found[at_all(piece.seen, rows, positions) == 0] = np.nan
  return found


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
