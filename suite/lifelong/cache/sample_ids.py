# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Ids of a cache's samples: numbers that are not stored, or text with an index of hashes.

A file of ids has four parts, so that neither direction of a look-up reads all of it:

  blocks     the ids, 1,024 a block, one a line (zlib)      position -> id: one block
  offsets    uint64 [blocks + 1], bytes of each block
  hashes     uint64 [n], sorted                             id -> position: a binary search, then
  places     uint32 [n], position of each hash              one block, since hashes may be equal

The index takes 12 bytes a sample, and is memory-mapped if it is large. What is read of a file is
compared with its CRC-32 (`piece_files.Checked`), the index as a whole before its first search. Ids
that are consecutive numbers (7, 8, 9, ...) need no file.

A table of SQLite with an index of the same 10,000,000 ids takes 3 times the bytes and 3 times the
time to write (`tools/bench answers`), and has no sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
import functools
import hashlib
import itertools
import pathlib
from typing import NamedTuple, Protocol
import zlib

import numpy as np

from suite.lifelong.cache import piece_files
from suite.system import atomic_files

BLOCK = 1024
_CHUNK = 1 << 18


class Ids(Protocol):
  """Ids of one addition of samples."""

  size: int

  def at(self, places: np.ndarray) -> list[str]:
    """Ids at int [n] places."""

  def find(self, ids: Sequence[str], hashed: np.ndarray | None = None) -> np.ndarray:
    """Places of n ids, -1 for an unknown one: int64 [n]. `hashed`: `hashes(ids)`, if known."""


class RangeIds:
  """The ids str(first), str(first + 1), ..."""

  def __init__(self, first: int, size: int):
    self.first, self.size = first, size

  def at(self, places: np.ndarray) -> list[str]:
    return list(map(str, (np.asarray(places, np.int64) + self.first).tolist()))

  def find(self, ids: Sequence[str], hashed: np.ndarray | None = None) -> np.ndarray:
    del hashed
    if isinstance(ids, range) and ids.step == 1:
      found = np.arange(len(ids), dtype=np.int64) + (ids.start - self.first)
    else:
      found = np.array([_number(one) - self.first for one in ids], np.int64)
    return np.where((found >= 0) & (found < self.size), found, -1)


class IndexedIds:
  """Ids of a file (see above)."""

  def __init__(self, file: piece_files.Checked, size: int, text_bytes: int):
    self.size, self._file = size, file
    num_blocks = -(-size // BLOCK)
    self._ends = np.cumsum([text_bytes, 8 * (num_blocks + 1), 8 * size, 4 * size]).tolist()

  @functools.cached_property
  def _offsets(self) -> np.ndarray:
    return np.frombuffer(self._file.read(*self._ends[:2]), np.uint64)

  @functools.cached_property
  def _hashes(self) -> np.ndarray:
    return np.frombuffer(self._file.read(*self._ends[1:3]), np.uint64)

  @functools.cached_property
  def _places(self) -> np.ndarray:
    return np.frombuffer(self._file.read(*self._ends[2:]), np.uint32)

  def at(self, places: np.ndarray) -> list[str]:
    places = np.asarray(places, np.int64)
    order = np.argsort(places, kind="stable")
    found = [""] * len(places)
    number, lines = -1, [""]
    for index, place in zip(order.tolist(), places[order].tolist()):
      if place // BLOCK != number:
        number = place // BLOCK
        start, end = self._offsets[number:number + 2].tolist()
        lines = zlib.decompress(self._file.read(start, end).tobytes()).decode().split("\n")
      found[index] = lines[place % BLOCK]
    return found

  def find(self, ids: Sequence[str], hashed: np.ndarray | None = None) -> np.ndarray:
    found = np.full(len(ids), -1, np.int64)
    wanted = hashes(ids) if hashed is None else hashed
    first = np.searchsorted(self._hashes, wanted, side="left")
    first_or_last = np.minimum(first, self.size - 1)
    # Of several ids with one hash, the first whose text is equal.
    left = np.flatnonzero((first < self.size) & (self._hashes[first_or_last] == wanted))
    step = 0
    while left.size:
      at = first[left] + step
      places = self._places[at].astype(np.int64)
      texts = self.at(places)
      equal = np.array([text == str(ids[index]) for text, index in zip(texts, left.tolist())], bool)
      found[left[equal]] = places[equal]
      more = np.minimum(at + 1, self.size - 1)
      again = ~equal & (at + 1 < self.size) & (self._hashes[more] == wanted[left])
      left, step = left[again], step + 1
    return found


class SampleIds:
  """Ids of all samples of a cache, by addition."""

  def __init__(self, batches: Iterable[Ids]):
    self._batches = list(batches)
    self._starts = np.cumsum([0, *(one.size for one in self._batches)])

  def __len__(self) -> int:
    return int(self._starts[-1])

  def at(self, samples: np.ndarray | Sequence[int]) -> list[str]:
    """Ids of int [n] samples; costs a few look-ups each."""
    samples = np.asarray(samples, np.int64)
    batch = np.searchsorted(self._starts, samples, side="right") - 1
    if len(self._batches) == 1:
      return self._batches[0].at(samples)
    found = np.empty(len(samples), object)
    for number in np.unique(batch).tolist():
      here = batch == number
      found[here] = self._batches[number].at(samples[here] - self._starts[number])
    return found.tolist()

  def find(self, ids: Sequence[str], hashed: np.ndarray | None = None) -> np.ndarray:
    """Samples of n ids, -1 for an unknown one: int64 [n]. `hashed`: `hashes(ids)`, if known."""
    found = np.full(len(ids), -1, np.int64)
    for start, batch in zip(self._starts.tolist(), self._batches):
      left = np.flatnonzero(found < 0)
      if not left.size:
        break
      some = ids if len(left) == len(ids) else [ids[index] for index in left.tolist()]
      places = batch.find(some, None if hashed is None else hashed[left])
      found[left] = np.where(places >= 0, places + start, -1)
    return found

  def chunks(self, first: int = 0) -> Iterator[list[str]]:
    """Yields the ids from sample `first` on, some at a time."""
    for start in range(first, len(self), _CHUNK):
      yield self.at(np.arange(start, min(len(self), start + _CHUNK)))


class Batch(NamedTuple):
  """The ids of one addition: consecutive numbers from `first` on, or those of a file."""

  samples: int
  first: int | None = None
  file: str | None = None
  text_bytes: int = 0

  def opened(self, files: Mapping[str, piece_files.Checked]) -> Ids:
    """The ids."""
    if self.file is None:
      return RangeIds(self.first or 0, self.samples)
    return IndexedIds(files[self.file], self.samples, self.text_bytes)


def write(folder: pathlib.Path, number: int, chunks: Iterable[Sequence[str]]
          ) -> tuple[Batch, list[piece_files.Facts]]:
  """Writes ids, some at a time; returns them and their file, if they have one.

  Args:
    folder: of the cache.
    number: of the file, which is not written if all are in one chunk of consecutive numbers.
    chunks: lists of ids, or a `range`.
  """
  chunks = iter(chunks)
  one, more = next(chunks), next(chunks, None)
  first = _number(one[0])
  if more is None and first >= 0 and (isinstance(one, range) and one.step == 1 or all(
      two == str(first + index) for index, two in enumerate(one))):
    return Batch(len(one), first), []
  offsets = [0]
  parts: list[np.ndarray] = []
  name = f"{number:04d}.ids.bin"
  with atomic_files.opening(folder / name) as opened:
    file = piece_files.Summed(opened)
    left: list[str] = []
    for chunk in itertools.chain([one, more or []], chunks):
      ids = left + list(map(str, chunk))
      whole = len(ids) // BLOCK * BLOCK
      _put(file, ids[:whole], offsets, parts)
      left = ids[whole:]
    _put(file, left, offsets, parts)
    file.write(bytes(-offsets[-1] % 8))  # What follows is aligned.
    hashed = np.concatenate(parts)
    order = np.argsort(hashed, kind="stable")
    for part in (np.array(offsets, np.uint64), hashed[order], order.astype(np.uint32)):
      file.write(part.data)
  return (Batch(len(hashed), None, name, -(-offsets[-1] // 8) * 8), [file.facts(name)])


def _put(file: piece_files.Summed, ids: Sequence[str], offsets: list[int],
         parts: list[np.ndarray]) -> None:
  for start in range(0, len(ids), BLOCK):
    text = zlib.compress("\n".join(ids[start:start + BLOCK]).encode(), 1)
    file.write(text)
    offsets.append(offsets[-1] + len(text))
  if ids:
    parts.append(hashes(ids))


def hashes(ids: Sequence[str]) -> np.ndarray:
  """BLAKE2b of each id, 8 bytes: uint64 [n]."""
  make = hashlib.blake2b
  found = [np.frombuffer(b"".join(
      make(str(one).encode(), digest_size=8).digest() for one in ids[start:start + _CHUNK]), "<u8")
           for start in range(0, len(ids), _CHUNK)]
  return np.concatenate(found) if found else np.zeros(0, np.uint64)


def _number(one: str) -> int:
  """The number that an id stands for, if it is written as `str` writes it and short; else -1."""
  one = str(one)
  return int(one) if one.isdecimal() and one.isascii() and len(one) < 18 and (
      one == "0" or one[0] != "0") else -1
