# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Numbered snapshots of plain values and arrays, each with digests; the last two are kept.

  00000012.json    values, where the chunks of the arrays lie, and a digest of all that
  00000012.bin     chunks that differ from the snapshot before; not there if none does

Each file is written aside, then renamed, values last. An array that has not changed is not written
again, and of a large one only the chunks that have (`array_chunks`). A small state is written as a
whole, so that two snapshots have no file in common; a large one is when half of what lies on the
disk is out of date.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import contextlib
import functools
import json
import os
import pathlib
import shutil
from typing import Any, Iterator, NamedTuple

from absl import logging
import numpy as np

from suite.state import array_chunks
from suite.state import earlier_snapshots
from suite.system import atomic_files
from suite.system import flusher as flusher_lib

_SMALL_BYTES = 4 << 20  # A state of up to this size is written as a whole.


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
        "intact; free some space (or fix the folder), then run the same command again to resume."
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
  arrays: dict[str, array_chunks.Stored]


class Snapshots:
  """A folder of numbered snapshots.

  Args:
    folder: made by the first write.
    what: names the snapshots in messages.
    flusher: flushes later what is written; None: each write flushes.
  """

  def __init__(self, folder: pathlib.Path, what: str = "the run state",
               flusher: flusher_lib.Flusher | None = None):
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
    """The values of one snapshot; any error if it is damaged."""
    return self._load(number)[0].values

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
      return Snapshot(number, *earlier_snapshots.read(self.path(number))), _Kept(frozenset(), {})
    body, _, digest = self.path(number).read_text().rstrip("\n").rpartition("\n")
    if digest != array_chunks.digest(body.encode()):
      raise ValueError("it is not what was written")
    saved = json.loads(body)
    stored = {n: array_chunks.Stored.from_plain(a) for n, a in saved["arrays"].items()}
    kept = _Kept(array_chunks.segments(stored), stored)
    paths = {segment: self._file(segment, "bin") for segment in kept.segments}
    arrays = {n: array_chunks.load(a, paths) for n, a in stored.items()}
    return Snapshot(number, saved["values"], arrays), kept

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
        file.write(f"{body}\n{array_chunks.digest(body.encode())}\n".encode())
      self._kept[number] = _Kept(array_chunks.segments(stored), stored)
      if self._flusher is None:
        self._flushed = number
      else:
        self._flusher.add(segment, self._file(number, "json"), self.folder,
                          then=functools.partial(setattr, self, "_flushed", number))
        self._flusher.tick()
      self._prune()

  def _write_arrays(self, path: pathlib.Path, number: int, arrays: Mapping[str, np.ndarray]
                    ) -> dict[str, array_chunks.Stored]:
    """Writes a segment of all that has changed, if anything has."""
    latest = self._kept[max(self._kept)] if self._kept else _Kept(frozenset(), {})
    plans, size, new = {}, 0, 0
    for name in arrays:
      plan = plans[name] = array_chunks.compare(arrays[name], latest.arrays.get(name))
      size, new = size + plan.num_bytes, new + plan.new_bytes
    if not new:
      return {name: plan.stored() for name, plan in plans.items()}
    held = sum(self._file(segment, "bin").stat().st_size for segment in latest.segments)
    if size <= _SMALL_BYTES or held + new > 2 * size:
      plans = {name: plan.whole() for name, plan in plans.items()}
    with atomic_files.opening(path, sync=self._flusher is None) as file:
      return {name: plan.stored() if plan.is_old else array_chunks.append(
          file, number, arrays[name], plan) for name, plan in plans.items()}

  def _prune(self) -> None:
    """Removes all but the last two snapshots and the newest one known to be on the disk."""
    newest = sorted(self._kept)[-2:]
    self._kept = {n: k for n, k in sorted(self._kept.items()) if n in newest or n == self._flushed}
    self._remove([n for n in self.numbers() if n not in self._kept])
    needed = frozenset[int]().union(*(kept.segments for kept in self._kept.values()))
    for path in self.folder.glob("*.bin"):
      if not path.stem.isdigit() or int(path.stem) not in needed:
        path.unlink(missing_ok=True)

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
