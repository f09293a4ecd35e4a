# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Arrays in chunks with digests, so that only the chunks that have changed are written again.

A chunk is a number of whole rows, about 64 KiB or one row. Chunks lie in numbered segment files;
the place of each, and its digest, are kept in the description of the array.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import concurrent.futures
import dataclasses
import hashlib
import pathlib
from typing import Any, BinaryIO

import numpy as np

_CHUNK_BYTES = 1 << 16
_DIGEST_LETTERS = 16
_MANY = 128  # Chunks that are worth threads.
_PLAIN = "biufcSU"  # Kinds of types whose `str` says all; others go by name, such as bfloat16.


@dataclasses.dataclass(frozen=True)
class Stored:
  """An array on disk.

  Attributes:
    dtype, shape: of the array.
    size: bytes of a chunk; the last one may be shorter.
    digests: of the chunks.
    runs: (segment, offset, n): the next n chunks lie one after another in this file.
  """

  dtype: str
  shape: tuple[int, ...]
  size: int
  digests: list[str]
  runs: list[tuple[int, int, int]]

  def plain(self) -> dict[str, Any]:
    return {**dataclasses.asdict(self), "digests": "".join(self.digests)}

  @classmethod
  def from_plain(cls, plain: Mapping[str, Any]) -> Stored:
    text = plain["digests"]
    digests = [text[i:i + _DIGEST_LETTERS] for i in range(0, len(text), _DIGEST_LETTERS)]
    return cls(plain["dtype"], tuple(plain["shape"]), plain["size"], digests,
               [(run[0], run[1], run[2]) for run in plain["runs"]])

  def places(self) -> list[tuple[int, int]]:
    """(segment, offset) of each chunk."""
    return [(segment, offset + i * self.size)
            for segment, offset, count in self.runs for i in range(count)]


def chunk_size(array: np.ndarray) -> int:
  """Bytes of a chunk: whole rows, about 64 KiB or one row."""
  row = array.nbytes // len(array) if array.ndim and len(array) else array.nbytes
  return max(1, row * max(1, _CHUNK_BYTES // max(1, row)))


def chunks_of(array: np.ndarray) -> list[memoryview]:
  """The bytes of an array in chunks, not copied if it is contiguous."""
  if array.dtype.hasobject:
    raise ValueError(f"An array of Python objects, shape {array.shape}, cannot be saved. Convert "
                     "it to numbers.")
  flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
  size = chunk_size(array)
  return [flat[i:i + size].data for i in range(0, len(flat), size)]


def digest(chunk: bytes | memoryview) -> str:
  return hashlib.sha256(chunk).hexdigest()[:_DIGEST_LETTERS]


@dataclasses.dataclass(frozen=True)
class Plan:
  """How an array is saved.

  Attributes:
    dtype, shape, size: of the array and its chunks, as of `Stored`.
    digests: of the chunks.
    places: (segment, offset) of each chunk, None for one that is to be written.
    num_bytes: of the array.
  """

  dtype: str
  shape: tuple[int, ...]
  size: int
  digests: list[str]
  places: list[tuple[int, int] | None]
  num_bytes: int

  @property
  def is_old(self) -> bool:
    return None not in self.places

  @property
  def new_bytes(self) -> int:
    """Bytes of the chunks that are to be written; the last one counts as a whole."""
    return self.size * self.places.count(None)

  def whole(self) -> Plan:
    """All chunks are to be written."""
    return dataclasses.replace(self, places=[None] * len(self.places))

  def stored(self) -> Stored:
    """The array once every chunk has a place."""
    runs: list[tuple[int, int, int]] = []
    for place in self.places:
      assert place is not None
      segment, offset = place
      if runs and runs[-1][0] == segment and runs[-1][1] + runs[-1][2] * self.size == offset:
        runs[-1] = (segment, runs[-1][1], runs[-1][2] + 1)
      else:
        runs.append((segment, offset, 1))
    return Stored(self.dtype, self.shape, self.size, self.digests, runs)


def _digests(chunks: Sequence[memoryview]) -> list[str]:
  if len(chunks) < _MANY:
    return [digest(chunk) for chunk in chunks]
  with concurrent.futures.ThreadPoolExecutor() as threads:  # hashlib lets other threads run.
    return list(threads.map(digest, chunks))


def compare(array: np.ndarray, before: Stored | None) -> Plan:
  """Plans to write the chunks that differ from what is stored."""
  digests = _digests(chunks_of(array))
  places: list[tuple[int, int] | None] = [None] * len(digests)
  if before is not None and (before.dtype, before.shape) == (_type_name(array.dtype), array.shape):
    places = [place if old == new else None
              for place, old, new in zip(before.places(), before.digests, digests)]
  return Plan(_type_name(array.dtype), array.shape, chunk_size(array), digests, places,
              array.nbytes)


def append(file: BinaryIO, segment: int, array: np.ndarray, plan: Plan) -> Stored:
  """Writes the chunks that have no place yet to an open segment."""
  places = list(plan.places)
  for number, chunk in enumerate(chunks_of(array)):
    if places[number] is None:
      places[number] = segment, file.tell()
      file.write(chunk)
  return dataclasses.replace(plan, places=places).stored()


def segments(arrays: Mapping[str, Stored]) -> frozenset[int]:
  """The numbers of the segments in which arrays lie."""
  return frozenset(run[0] for array in arrays.values() for run in array.runs)


def load(what: Stored, paths: Mapping[int, pathlib.Path]) -> np.ndarray:
  """Reads an array; a ValueError names a segment that is not what was written."""
  array = np.empty(what.shape, np.dtype(what.dtype))
  flat = array.reshape(-1).view(np.uint8)
  number, start = 0, 0
  for segment, offset, count in what.runs:
    with open(paths[segment], "rb") as file:
      file.seek(offset)
      for _ in range(count):
        chunk = flat[start:start + what.size].data
        if file.readinto(chunk) != len(chunk) or digest(chunk) != what.digests[number]:
          raise ValueError(f"{paths[segment].name} is not what was written")
        number, start = number + 1, start + what.size
  if start < len(flat):
    raise ValueError(f"{len(flat)} bytes are needed, {start} are there")
  return array


def _type_name(dtype: np.dtype) -> str:
  return dtype.str if dtype.kind in _PLAIN else dtype.name
