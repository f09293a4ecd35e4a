# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Weights on disk, by event: a learner's past models, which do not fit in a checkpoint.

A file is written once, by the event that learned it, and never changed. An event reads only what
earlier events wrote, so an interrupted event starts again from the same weights. A protocol may
drop what no event can read any more (`keep_only`).

The comment of a file's archive says whose it is: {"run_digest", "event", "name"}. Files of another
run, event or name are refused; those of earlier versions do not say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import hashlib
import json
import pathlib
import re
import shutil
import types
from typing import Any, NamedTuple
import zipfile

import numpy as np

from suite.state import snapshots
from suite.system import atomic_files
from suite.system import io_errors

_FILE = re.compile(r"(\d{6})\.([A-Za-z0-9_.@+-]+)\.npz")
_MAX_NAME = 120


class Entry(NamedTuple):
  """One stored set of weights: the event that wrote it, and its name (usually a task key)."""

  event: int
  name: str


def safe_name(name: str) -> str:
  """The name under which the store keeps `name`: at most 120 letters, digits and _.@+-.

  A longer one ends with a digest; one of dots alone would be another folder.
  """
  safe = re.sub(r"[^A-Za-z0-9_.@+-]", "_", name)
  if len(safe) > _MAX_NAME:
    safe = f"{safe[:_MAX_NAME - 17]}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"
  return safe if safe.strip(".") else "_" * max(1, len(safe))


def check_names(names: Sequence[str]) -> None:
  """Refuses names, such as keys of tasks, that the store would not tell apart."""
  kept: dict[str, str] = {}
  for name in names:
    other = kept.setdefault(safe_name(name).casefold(), name)
    if other != name:
      raise ValueError(f"Tasks {other!r} and {name!r} would both be kept as {safe_name(name)!r}; "
                       "give one of them another name.")


class WeightStore:
  """A folder of arrays, seen from one event of a run.

  Args:
    folder: made by the first write.
    event: that reads and writes.
    run: the identity of the run, see `run_identity`; "": not known.
  """

  def __init__(self, folder: pathlib.Path, event: int, run: str = ""):
    self.folder, self.event, self.run = pathlib.Path(folder), event, run

  def entries(self) -> list[Entry]:
    """The entries of earlier events, oldest first."""
    return [entry for entry in self._all() if entry.event < self.event]

  def _all(self) -> list[Entry]:
    if not self.folder.is_dir():
      return []
    matches = (_FILE.fullmatch(path.name) for path in self.folder.iterdir())
    return sorted(Entry(int(m[1]), m[2]) for m in matches if m)

  def _path(self, entry: Entry) -> pathlib.Path:
    return self.folder / f"{entry.event:06d}.{entry.name}.npz"

  def own(self, name: str) -> Entry:
    """The entry that this event writes under `name`."""
    return Entry(self.event, safe_name(name))

  def save(self, name: str, arrays: Sequence[np.ndarray]) -> Entry:
    """Stores arrays under this event and `name`, completely or not at all."""
    entry = self.own(name)
    path = self._path(entry)
    with snapshots.saving(f"the weights of {name!r}", path) as temporary:
      write_arrays(temporary, {f"{i:04d}": a for i, a in enumerate(arrays)}, self._owner(entry))
    return entry

  def _owner(self, entry: Entry) -> dict[str, Any]:
    return {"run_digest": self.run, **entry._asdict()} if self.run else {}

  def has(self, entry: Entry) -> bool:
    """Whether there are weights of an entry."""
    return self._path(entry).exists()

  def load(self, entry: Entry) -> list[np.ndarray]:
    """The arrays of an entry."""
    arrays = self._read(entry)
    return [arrays[key] for key in sorted(arrays)]

  def load_one(self, entry: Entry, place: int) -> np.ndarray:
    """The array at one place of an entry; the others are not read."""
    return next(iter(self._read(entry, [f"{place:04d}"]).values()))

  def _read(self, entry: Entry, keys: Sequence[str] | None = None) -> dict[str, np.ndarray]:
    path = self._path(Entry(*entry))
    if not path.exists():
      raise FileNotFoundError(
          f"The store has no weights {entry}; it has {[tuple(e) for e in self._all()]} in "
          f"{self.folder}. If they were removed, restore them from a copy, or start again in a new "
          "work directory.")
    arrays, comment = _contents(path, keys)
    if problem := _misplaced(path, comment, self.run):
      raise ValueError(problem)
    return arrays

  def copy(self, source: Entry, target: Entry) -> None:
    """Stores the arrays of one entry under another name of this event."""
    arrays = read_arrays(self._path(source))
    with snapshots.saving(f"the weights of {target.name!r}", self._path(target)) as temporary:
      write_arrays(temporary, arrays, self._owner(target))

  def adopt(self, other: WeightStore) -> None:
    """Copies what this event wrote to another store."""
    for entry in other._all():
      if entry.event == self.event:
        with snapshots.saving(f"the weights of {entry.name!r}", self._path(entry)) as temporary:
          shutil.copyfile(other._path(entry), temporary)

  def remove(self, entries: Iterable[Entry]) -> None:
    """Removes entries of this event, such as those of a search; it cannot remove earlier ones."""
    entries = list(entries)
    for entry in entries:
      if entry.event != self.event:
        raise ValueError(f"Event {self.event} cannot remove {entry}, which an earlier event wrote.")
    self._unlink(entry for entry in entries if self._path(entry).exists())

  def keep_only(self, name: str, events: Iterable[int]) -> None:
    """Removes what earlier events wrote under `name`, but for some events.

    Args:
      name: as given to `save`.
      events: must follow from the records of finished events, and no later event may need others,
        nor the one before, which a damaged snapshot may repeat: then an interrupted removal ends
        the same when the event starts again.
    """
    kept = set(events)
    self._unlink(entry for entry in self.entries()
                 if entry.name == safe_name(name) and entry.event not in kept)

  def forget_from(self, event: int) -> None:
    """Removes the entries of `event` and later ones: the run starts again from an earlier state."""
    self._unlink(entry for entry in self._all() if entry.event >= event)
    atomic_files.sweep(self.folder)

  def _unlink(self, entries: Iterable[Entry]) -> None:
    """Removes files; what is gone stays gone if the power goes, as later events list the folder."""
    gone = [self._path(entry) for entry in entries]
    with snapshots.disk_errors("the removal of weights", self.folder):
      for path in gone:
        path.unlink()
      if gone:
        atomic_files.sync_folder(self.folder)


def check(path: pathlib.Path, run: str) -> None:
  """Reads a file whole; ValueError if it is damaged, or belongs elsewhere.

  Args:
    path: of a file of a store.
    run: the identity of the run; "": not known.
  """
  if problem := _misplaced(path, _contents(path)[1], run):
    raise ValueError(problem)


def _misplaced(path: pathlib.Path, comment: bytes, run: str) -> str:
  """Says that a file belongs to another run, event or name than its place; "" if not, or unknown.
  """
  match = _FILE.fullmatch(path.name)
  if not comment or not match:
    return ""
  try:
    owner = json.loads(comment)
    found = owner["run_digest"] == (run or owner["run_digest"]), owner["event"], owner["name"]
  except (ValueError, KeyError, TypeError):
    found = False, -1, ""
  if found == (True, int(match[1]), match[2]):
    return ""
  what = "run" if not found[0] else "event" if found[1] != int(match[1]) else "task"
  return (f"{path} holds weights of another {what}. Restore it from a copy, or start again in a "
          "new work directory.")


def write_arrays(path: pathlib.Path, arrays: dict[str, np.ndarray],
                 owner: Mapping[str, Any] = types.MappingProxyType({})) -> None:
  """Writes the file that np.savez would write; `owner` becomes its comment, as JSON."""
  # np.savez leaves its archive open where the disk is full, and Python then prints warnings.
  with zipfile.ZipFile(path, "w") as archive:
    archive.comment = json.dumps(owner).encode() if owner else b""
    for key, array in arrays.items():
      with archive.open(f"{key}.npy", "w", force_zip64=True) as file:
        np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)


def read_arrays(path: pathlib.Path) -> dict[str, np.ndarray]:
  """The arrays that `write_arrays` wrote, by key."""
  return _contents(path)[0]


def _contents(path: pathlib.Path, keys: Sequence[str] | None = None
              ) -> tuple[dict[str, np.ndarray], bytes]:
  """The arrays of a file by key (None: all of them), and the comment of its archive."""
  try:
    with np.load(path, allow_pickle=False) as data:
      return {key: data[key] for key in keys or data.files}, data.zip.comment
  except Exception as error:  # On damaged files zipfile and numpy raise errors of many kinds.
    if io_errors.of(error):
      raise
    raise ValueError(
        f"The saved arrays in {path} cannot be read ({snapshots.reason(error)}); the file is "
        "damaged. Restore it from a copy, or start again in a new work directory.") from error
