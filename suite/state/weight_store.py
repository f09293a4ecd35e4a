# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Weights on disk, by event: a learner's past models, which do not fit in a checkpoint.

A file is written once, by the event that learned it, and never changed. An event reads only what
earlier events wrote, so an interrupted event starts again from the same weights. A protocol may
drop what no event can read any more (`keep_only`).
"""

from __future__ import annotations

import hashlib
import pathlib
import re
import shutil
from typing import Dict, Iterable, List, NamedTuple, Sequence
import zipfile

import numpy as np

from suite.state import snapshots
from suite.system import atomic_files

_FILE = re.compile(r"(\d{6})\.([A-Za-z0-9_.@+-]+)\.npz")


class Entry(NamedTuple):
  """One stored set of weights: the event that wrote it, and its name (usually a task key)."""

  event: int
  name: str


_MAX_NAME = 120


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
  kept: Dict[str, str] = {}
  for name in names:
    other = kept.setdefault(safe_name(name).casefold(), name)
    if other != name:
      raise ValueError(f"Tasks {other!r} and {name!r} would both be kept as {safe_name(name)!r}; "
                       "give one of them another name.")


class WeightStore:
  """A folder of arrays, seen from one event of a run."""

  def __init__(self, folder: pathlib.Path, event: int):
    self.folder, self.event = pathlib.Path(folder), event

  def entries(self) -> List[Entry]:
    """The entries of earlier events, oldest first."""
    return [entry for entry in self._all() if entry.event < self.event]

  def _all(self) -> List[Entry]:
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
      write_arrays(temporary, {f"{i:04d}": a for i, a in enumerate(arrays)})
    return entry

  def has(self, entry: Entry) -> bool:
    """Whether there are weights of an entry."""
    return self._path(entry).exists()

  def load(self, entry: Entry) -> List[np.ndarray]:
    """The arrays of an entry."""
    path = self._path(Entry(*entry))
    if not path.exists():
      raise FileNotFoundError(
          f"The store has no weights {entry}; it has {[tuple(e) for e in self._all()]} in "
          f"{self.folder}. If they were removed, restore them from a copy, or start again in a new "
          "work directory.")
    arrays = read_arrays(path)
    return [arrays[key] for key in sorted(arrays)]

  def copy(self, source: Entry, target: Entry) -> None:
    """Stores the arrays of one entry under another name of this event."""
    with snapshots.saving(f"the weights of {target.name!r}", self._path(target)) as temporary:
      shutil.copyfile(self._path(source), temporary)

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


def write_arrays(path: pathlib.Path, arrays: Dict[str, np.ndarray]) -> None:
  """Writes the file that np.savez would write."""
  # np.savez leaves its archive open where the disk is full, and Python then prints warnings.
  with zipfile.ZipFile(path, "w") as archive:
    for key, array in arrays.items():
      with archive.open(f"{key}.npy", "w", force_zip64=True) as file:
        np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)


def read_arrays(path: pathlib.Path) -> Dict[str, np.ndarray]:
  """The arrays that `write_arrays` wrote, by key."""
  try:
    with np.load(path, allow_pickle=False) as data:
      return {key: data[key] for key in data.files}
  except Exception as error:  # On damaged files zipfile and numpy raise errors of many kinds.
    raise ValueError(
        f"The saved arrays in {path} cannot be read ({snapshots.reason(error)}); the file is "
        "damaged. Restore it from a copy, or start again in a new work directory.") from error
