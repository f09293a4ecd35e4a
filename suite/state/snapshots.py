# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Numbered snapshots of plain values and arrays, each with digests; the last two are kept.

  00000012.json    values, where the chunks of the arrays lie, and a digest of all that
  00000012.bin     chunks that differ from the snapshot before; not there if none does

Each file is written aside, then renamed, values last. An array that has not changed is not written
again, and of a large one only the chunks that have. A small state is written as a
whole, so that two snapshots have no file in common; a large one is when half of what lies on the
disk is out of date.

Arrays in chunks with digests, so that only the chunks that have changed are written again.

A chunk is a number of whole rows, about 64 KiB or one row. Chunks lie in numbered segment files;
the place of each, and its digest, are kept in the description of the array.

Snapshots as suite 0.1 wrote them: a folder with JSON and TensorFlow's or numpy's own files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
import concurrent.futures
import contextlib
import dataclasses
import errno
import functools
import hashlib
import itertools
import json
import os
import pathlib
import shutil
from typing import Any, BinaryIO, NamedTuple

from absl import logging
import numpy as np

from suite.system import atomic_files
from suite.system import io_errors

_SMALL_BYTES = 4 << 20  # A state of up to this size is written as a whole.
_CHUNK_BYTES = 1 << 16
_DIGEST_LETTERS = 16
_MANY = 128  # Chunks that are worth threads.
_BATCH = 16  # Chunks of a thread at a time.
_PLAIN = "biufcSU"  # Kinds of types whose `str` says all; others go by name, such as bfloat16.
CHECKPOINT = "checkpoint/"  # Before the name of a file of a checkpoint of TensorFlow.


class SaveError(RuntimeError):
  """State could not be written; what was saved before is untouched."""


@contextlib.contextmanager
def disk_errors(what: str, where: pathlib.Path) -> Iterator[None]:
  """Turns a failed write (a full disk, a missing permission) into a helpful `SaveError`."""
  try:
    yield
  except OSError as error:
    raise SaveError(
        f"Could not save {what} in {where}: {error.strerror or error}. The last good state is "
        f"intact. {io_errors.remedy(error)}, then run the same command again to resume."
    ) from error


class DamagedError(RuntimeError):
  """Saved state cannot be read."""


@contextlib.contextmanager
def reading(what: str, where: pathlib.Path) -> Iterator[None]:
  """Turns the failure to read what was saved into a helpful `DamagedError`."""
  try:
    yield
  except DamagedError:
    raise
  except Exception as error:  # Decoders raise errors of many kinds on damaged files.
    if (found := io_errors.of(error)) and found.errno != errno.EIO:
      raise  # The file is not to blame. A sector that cannot be read is damage like any other.
    raise DamagedError(
        f"Could not read {what} in {where} ({reason(error)}); it is damaged. "
        "Restore it from a copy, or start again in a new work directory.") from error


def reason(error: BaseException) -> str:
  """The type of an error and the first line of its message."""
  return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"


@contextlib.contextmanager
def saving(what: str, final: pathlib.Path) -> Iterator[pathlib.Path]:
  """Yields a temporary path beside `final` to write a file or folder to; renames it when done.

  On any failure the temporary is removed and `final` is unchanged.
  """
  with disk_errors(what, final), atomic_files.replacing(final) as temporary:
    yield temporary


def save_text(path: pathlib.Path, text: str) -> None:
  """Replaces the content of a file; a `SaveError` names the file."""
  with saving(path.name, path) as temporary:
    temporary.write_text(text)


class Snapshot(NamedTuple):
  """What was saved under a number."""

  number: int
  values: dict[str, Any]
  arrays: dict[str, np.ndarray]


class _Kept(NamedTuple):
  """An intact snapshot: the numbers of its segments, and its arrays as they are stored."""

  segments: frozenset[int]
  arrays: dict[str, StoredArray]


class Snapshots:
  """A folder of numbered snapshots.

  Args:
    folder: made by the first write.
    what: names the snapshots in messages.
    flusher: flushes later what is written; None: each write flushes.
  """

  def __init__(self, folder: pathlib.Path, what: str = "the run state",
               flusher: atomic_files.Flusher | None = None):
    self.folder, self._what, self._flusher = pathlib.Path(folder), what, flusher
    self._kept: dict[int, _Kept] = {}  # By number; the last one was read or written last.
    self._flushed: int | None = None  # The newest one known to be on the disk.

  def numbers(self) -> list[int]:
    """The numbers of all snapshots, oldest first, damaged ones among them."""
    if not self.folder.is_dir():
      return []
    stems = (name.removesuffix(".json") for name in os.listdir(self.folder))
    return sorted({int(stem) for stem in stems if stem.isdigit()})

  def path(self, number: int) -> pathlib.Path:
    """The file of the values; a folder if an earlier version of the suite wrote the snapshot."""
    earlier = self.folder / f"{number:08d}"
    return earlier if earlier.is_dir() else self._file(number, "json")

  def _file(self, number: int, suffix: str) -> pathlib.Path:
    return self.folder / f"{number:08d}.{suffix}"

  def read(self, check: Callable[[Snapshot], None] = lambda snapshot: None) -> Snapshot | None:
    """The newest intact snapshot; None if there is none at all.

    A damaged one is passed over with a warning, and a `DamagedError` is raised if all are.

    Args:
      check: raises an error if what a snapshot belongs to is damaged.
    """
    problems: list[DamagedError] = []
    for number in reversed(self.numbers()):
      try:
        with reading(self._what, self.path(number)):
          found, kept = self._load(number)
          check(found)
      except DamagedError as error:
        problems.append(error)
        continue
      if problems:
        logging.warning("%s Until then the one before it is used, %s; what came later is computed "
                        "again.", problems[0], self.path(number))
      self._kept, self._flushed = {number: kept}, number
      return found
    if problems:
      raise problems[0]
    return None

  def values(self, number: int) -> dict[str, Any]:
    """The values of one snapshot without its arrays; any error if they are damaged."""
    if self.path(number).is_dir():
      return read(self.path(number))[0]
    return self._description(number)["values"]

  def problems(self) -> dict[int, str]:
    """What is wrong with each snapshot, by number; "" if nothing is."""
    found = {}
    for number in self.numbers():
      try:
        self._load(number)
        found[number] = ""
      except Exception as error:  # As in `reading`.
        found[number] = reason(error)
    return found

  def _load(self, number: int) -> tuple[Snapshot, _Kept]:
    if self.path(number).is_dir():
      return Snapshot(number, *read(self.path(number))), _Kept(frozenset(), {})
    saved = self._description(number)
    stored = {n: StoredArray.from_plain(a) for n, a in saved["arrays"].items()}
    kept = _Kept(segments(stored), stored)
    paths = {segment: self._file(segment, "bin") for segment in kept.segments}
    arrays = {n: load(a, paths) for n, a in stored.items()}
    return Snapshot(number, saved["values"], arrays), kept

  def _description(self, number: int) -> dict[str, Any]:
    body, _, digest = self.path(number).read_text().rstrip("\n").rpartition("\n")
    if digest != chunk_digest(body.encode()):
      raise ValueError("it is not what was written")
    return json.loads(body)

  def write(self, values: Mapping[str, Any], arrays: Mapping[str, np.ndarray] | None = None
            ) -> None:
    """Saves the newest snapshot; the one before it stays, older ones go.

    Args:
      values: plain JSON values.
      arrays: by name; one at a time is read, some of them twice.
    """
    numbers = self.numbers()
    number, at_once = numbers[-1] + 1 if numbers else 0, self._flusher is None
    segment = self._file(number, "bin")
    with disk_errors(self._what, self._file(number, "json")):
      stored = self._write_arrays(segment, number, arrays or {})
      body = json.dumps({"values": values, "arrays": {n: a.plain() for n, a in stored.items()}})
      with atomic_files.opening(self._file(number, "json"), sync=at_once) as file:
        file.write(f"{body}\n{chunk_digest(body.encode())}\n".encode())
      self._kept[number] = _Kept(segments(stored), stored)
      if self._flusher is None:
        self._flushed = number
      else:
        self._flusher.add(segment, self._file(number, "json"), self.folder,
                          then=functools.partial(setattr, self, "_flushed", number))
        self._flusher.tick()
      # All but the last two snapshots and the newest one known to be on the disk are removed.
      kept = {*sorted(self._kept)[-2:], self._flushed}
      self._kept = {n: k for n, k in sorted(self._kept.items()) if n in kept}
      self._remove([n for n in self.numbers() if n not in self._kept])
      needed = frozenset[int]().union(*(k.segments for k in self._kept.values()))
      for path in self.folder.glob("*.bin"):
        if not path.stem.isdigit() or int(path.stem) not in needed:
          path.unlink(missing_ok=True)

  def _write_arrays(self, path: pathlib.Path, number: int, arrays: Mapping[str, np.ndarray]
                    ) -> dict[str, StoredArray]:
    """Writes a segment of all that has changed, if anything has."""
    latest = self._kept[max(self._kept)] if self._kept else _Kept(frozenset(), {})
    plans, size, new = {}, 0, 0
    for name in arrays:
      plan = plans[name] = compare(arrays[name], latest.arrays.get(name))
      size, new = size + plan.num_bytes, new + plan.new_bytes
    if not new:
      return {name: plan.stored() for name, plan in plans.items()}
    held = sum(self._file(segment, "bin").stat().st_size for segment in latest.segments)
    if size <= _SMALL_BYTES or held + new > 2 * size:
      plans = {name: plan.whole() for name, plan in plans.items()}
    with atomic_files.opening(path, sync=self._flusher is None) as file:
      return {name: plan.stored() if plan.is_old else append(
          file, number, arrays[name], plan) for name, plan in plans.items()}

  def clear(self) -> None:
    """Removes all snapshots and the temporary files of killed processes."""
    self._kept, self._flushed = {}, None
    if self.folder.is_dir():
      self._remove(self.numbers())
      for path in self.folder.glob("*.bin"):
        path.unlink(missing_ok=True)
      self.sweep()

  def _remove(self, numbers: list[int]) -> None:
    """Removes snapshots, oldest first, so that an older one never becomes the newest."""
    for number in numbers:
      path = self.path(number)
      if path.is_dir():  # Renamed first: a kill never leaves half of it under a number.
        doomed = self.folder / f"{atomic_files.TEMPORARY}old-{number:08d}"
        os.replace(path, doomed)
        shutil.rmtree(doomed, ignore_errors=True)
      else:
        path.unlink(missing_ok=True)

  def sweep(self) -> None:
    """Removes the temporary files of killed processes."""
    atomic_files.sweep(self.folder)


@dataclasses.dataclass(frozen=True)
class StoredArray:
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
  def from_plain(cls, plain: Mapping[str, Any]) -> StoredArray:
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


def chunk_digest(chunk: bytes | memoryview) -> str:
  return hashlib.sha256(chunk).hexdigest()[:_DIGEST_LETTERS]


@dataclasses.dataclass(frozen=True)
class ArrayPlan:
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

  def whole(self) -> ArrayPlan:
    """All chunks are to be written."""
    return dataclasses.replace(self, places=[None] * len(self.places))

  def stored(self) -> StoredArray:
    """The array once every chunk has a place."""
    runs: list[tuple[int, int, int]] = []
    for place in self.places:
      assert place is not None
      segment, offset = place
      if runs and runs[-1][0] == segment and runs[-1][1] + runs[-1][2] * self.size == offset:
        runs[-1] = (segment, runs[-1][1], runs[-1][2] + 1)
      else:
        runs.append((segment, offset, 1))
    return StoredArray(self.dtype, self.shape, self.size, self.digests, runs)


def compare(array: np.ndarray, before: StoredArray | None) -> ArrayPlan:
  """Plans to write the chunks that differ from what is stored."""
  chunks = chunks_of(array)
  if len(chunks) < _MANY:
    digests = [chunk_digest(chunk) for chunk in chunks]
  else:
    # hashlib lets other threads run. Handing a single chunk to one costs as much as its digest.
    batches = [chunks[i:i + _BATCH] for i in range(0, len(chunks), _BATCH)]
    with concurrent.futures.ThreadPoolExecutor() as threads:
      found = threads.map(lambda batch: [chunk_digest(chunk) for chunk in batch], batches)
      digests = list(itertools.chain.from_iterable(found))
  places: list[tuple[int, int] | None] = [None] * len(digests)
  if before is not None and (before.dtype, before.shape) == (_type_name(array.dtype), array.shape):
    places = [place if old == new else None
              for place, old, new in zip(before.places(), before.digests, digests)]
  return ArrayPlan(_type_name(array.dtype), array.shape, chunk_size(array), digests, places,
              array.nbytes)


def append(file: BinaryIO, segment: int, array: np.ndarray, plan: ArrayPlan) -> StoredArray:
  """Writes the chunks that have no place yet to an open segment."""
  places = list(plan.places)
  for number, chunk in enumerate(chunks_of(array)):
    if places[number] is None:
      places[number] = segment, file.tell()
      file.write(chunk)
  return dataclasses.replace(plan, places=places).stored()


def segments(arrays: Mapping[str, StoredArray]) -> frozenset[int]:
  """The numbers of the segments in which arrays lie."""
  return frozenset(run[0] for array in arrays.values() for run in array.runs)


def load(what: StoredArray, paths: Mapping[int, pathlib.Path]) -> np.ndarray:
  """Reads an array; a ValueError names a segment that is not what was written."""
  array = np.empty(what.shape, np.dtype(what.dtype))
  flat = array.reshape(-1).view(np.uint8)
  number, start = 0, 0
  for segment, offset, count in what.runs:
    with open(paths[segment], "rb") as file:
      file.seek(offset)
      for _ in range(count):
        chunk = flat[start:start + what.size].data
        if file.readinto(chunk) != len(chunk) or chunk_digest(chunk) != what.digests[number]:
          raise ValueError(f"{paths[segment].name} is not what was written")
        number, start = number + 1, start + what.size
  if start < len(flat):
    raise ValueError(f"{len(flat)} bytes are needed, {start} are there")
  return array


def _type_name(dtype: np.dtype) -> str:
  return dtype.str if dtype.kind in _PLAIN else dtype.name


def read(folder: pathlib.Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
  """The values and arrays of a folder; files of a checkpoint are arrays of bytes."""
  texts = [folder / name for name in ("state.json", "journal.json") if (folder / name).exists()]
  if not texts:
    raise FileNotFoundError("state.json is missing")
  values: dict[str, Any] = json.loads(texts[0].read_text())
  arrays = {CHECKPOINT + path.name: np.fromfile(path, np.uint8)
            for path in sorted(folder.glob("learner.*"))}
  if values.get("partial") is not None:
    with np.load(folder / "partial.npz", allow_pickle=False) as data:
      arrays.update({key: data[key] for key in data.files})
  return values, arrays
