# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A digest of the state before every event, and the states of every N-th: `--keep states=N`.

    LEARNER/state_digests.jsonl      {"keep_every": 5, "run_digest": "70be..."}
                                     {"event": 0, "state": "9f0c..."}    before event 0, and so on
            state/kept/00000005/     a snapshot of the state before event 5, and weights/ beside it
            data_digests.json        {"bucket_01": {"examples": "51aa...", "content": "08d2..."}},
                                     ids with labels, and images, of each set that was tested on
                                     or learned

A digest is the SHA-256 of the run's identity, the number of finished events, the ledger without
times, all arrays of the learner, and the arrays of its weight store. None of it depends on when or
how often the run was stopped. Whoever has a kept state and the configuration can execute its event
again, and must get the next digest (`suite verify --replay`).

The file is no part of the records: they are the same bytes with it and without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
import hashlib
import json
import math
import os
import pathlib
import shutil
from typing import Any
import zipfile

import numpy as np

from suite.state import snapshots
from suite.system import atomic_files
from suite.system import sealed_json

FILE, DATA_FILE, DATA = "state_digests.jsonl", "data_digests.json", "data"
_TRAINED = " (learned)"
EVERY, RUN, EVENT, STATE = "keep_every", "run_digest", "event", "state"
_NOT_COMPARED = ("seconds", "peak_bytes")  # Of a ledger's accounts.
_WEIGHTS = "weights"
_BLOCK = 1 << 20
_PUT_BACK = "Put it back, or begin again in another --workdir."


def digest(identity: str, done: int, ledger: Mapping[str, Mapping[str, Any]],
           arrays: Mapping[str, np.ndarray], stored: Mapping[str, str]) -> str:
  """The digest of a state, 64 hexadecimal digits.

  Args:
    identity: of the run, see `run_identity`.
    done: number of finished events.
    ledger: its snapshot; times and peaks do not count.
    arrays: of the learner by name, one is read at a time.
    stored: digests of the files of its weight store, by name; see `of_files`.
  """
  costs = {phase: {name: value for name, value in account.items() if name not in _NOT_COMPARED}
           for phase, account in ledger.items()}
  found = hashlib.sha256(json.dumps([identity, done, costs], sort_keys=True).encode())
  for name in sorted(arrays):
    array = np.asarray(arrays[name])
    if array.dtype.hasobject:
      raise ValueError(f"{name} is an array of Python objects, which has no digest. Convert it to "
                       "numbers.")
    found.update(json.dumps([name, str(array.dtype), list(array.shape)]).encode())
    found.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
  found.update(json.dumps(sorted(stored.items())).encode())
  return found.hexdigest()


def of_files(folder: pathlib.Path, known: dict[tuple[str, int, int], str] | None = None
             ) -> dict[str, str]:
  """Digests of the files of a weight store by their names in it; {} if there is none.

  Archives of arrays have the time at which they were written: their contents alone count.

  Args:
    folder: of the store.
    known: digests of earlier calls by name, size and time, extended; files never change.
  """
  found: dict[str, str] = {}
  known = {} if known is None else known
  for path in sorted(folder.rglob("*")):
    if not path.is_file() or path.name.startswith(atomic_files.TEMPORARY):
      continue
    name, status = path.relative_to(folder).as_posix(), path.stat()
    key = (name, status.st_size, status.st_mtime_ns)
    if key not in known:
      content = hashlib.sha256()
      for block in _blocks(path):
        content.update(block)
      known[key] = content.hexdigest()
    found[name] = known[key]
  return found


def _blocks(path: pathlib.Path) -> Iterator[bytes]:
  if path.suffix != ".npz":
    with open(path, "rb") as file:
      yield from iter(lambda: file.read(_BLOCK), b"")
    return
  with zipfile.ZipFile(path) as archive:
    for member in sorted(archive.namelist()):
      yield member.encode() + b"\0"
      with archive.open(member) as file:
        yield from iter(lambda: file.read(_BLOCK), b"")


class StateLog:
  """Writes the digests of one learner's run, and keeps states.

  Args:
    folder: of the run.
    identity: of the run.
    every: the state before every N-th event is kept; None: as the run began.
  """

  def __init__(self, folder: pathlib.Path, identity: str, every: int | None):
    self.path, self._folder, self._identity = folder / FILE, folder, identity
    self._known: dict[tuple[str, int, int], str] = {}
    self._data: dict[str, Mapping[str, str]] | None = None
    self._seen: set[str] = set()
    before = read(self.path)[0] if self.path.exists() else None
    if before is not None and every not in (None, before[EVERY]):
      raise ValueError(
          f"The run in {folder} keeps every {before[EVERY]}th state, and now --keep states={every} "
          "is asked for. Give the same, or another --workdir.")
    self.every = int(before[EVERY]) if before is not None else every or 1

  @classmethod
  def of(cls, folder: pathlib.Path, identity: str, every: int | None) -> StateLog | None:
    """The log of a run that keeps states, or has begun to; None of any other.

    Raises:
      ValueError: the run has begun without keeping states, or with another number.
    """
    if not (folder / FILE).exists():
      if every and any((folder / "state" / "events").glob("*.json")):
        raise ValueError(f"The run in {folder} began without --keep, which has the digests of a "
                         "run's states from its first event on. Give another --workdir, or leave "
                         "--keep out.")
      return cls(folder, identity, every) if every else None
    return cls(folder, identity, every)

  def check(self, done: int) -> None:
    """A ValueError unless the file has the digest of the state after `done` events.

    It is not computed again: an event that was interrupted may have removed weights that no other
    needs.
    """
    header, digests = read(self.path) if self.path.exists() else ({}, [])
    if len(digests) <= done or header[RUN] != self._identity:
      raise ValueError(f"{self.path} does not have the digest of the state after {done} events")

  def resume(self, done: int) -> None:
    """Removes the digests and kept states of events that come again."""
    if self.path.exists():
      lines = self.path.read_bytes().splitlines(keepends=True)
      if not done:
        self.path.unlink()
      elif len(lines) > done + 2:
        atomic_files.write(self.path, b"".join(lines[:done + 2]))
    kept = kept_folder(self._folder)
    atomic_files.sweep(kept)
    for number, folder in kept_states(self._folder).items():
      if number > done:
        shutil.rmtree(folder)

  def add(self, done: int, position: Any, ledger: Mapping[str, Any],
          arrays: Mapping[str, np.ndarray]) -> None:
    """Adds the state after `done` events, from 1 on; keeps it if it is its turn."""
    weights = of_files(self._folder / _WEIGHTS, self._known)
    lines = [{EVENT: done, STATE: digest(self._identity, done, ledger, arrays, weights)}]
    if done == 1:  # Before the first event a run is its configuration.
      lines = [{EVERY: self.every, RUN: self._identity},
               {EVENT: 0, STATE: digest(self._identity, 0, {}, {}, {})}, *lines]
    with open(self.path, "wb" if done == 1 else "ab") as file:
      file.write("".join(json.dumps(line) + "\n" for line in lines).encode())
    if done % self.every:
      return
    final = kept_folder(self._folder) / f"{done:08d}"
    if final.exists():
      shutil.rmtree(final)
    with snapshots.saving("a kept state", final) as temporary:
      snapshots.Snapshots(temporary, "a kept state").write(
          {"done": done, "position": position, "ledger": ledger, "on_disk": done}, arrays)
      for name in of_files(self._folder / _WEIGHTS, self._known):
        path, copy = (place / _WEIGHTS / name for place in (self._folder, temporary))
        copy.parent.mkdir(parents=True, exist_ok=True)
        try:
          os.link(path, copy)  # Weights never change.
        except OSError:
          shutil.copy2(path, copy)

  def add_data(self, name: str, content: Mapping[str, str]) -> None:
    """Notes the digests of a set; a ValueError if it was another one before."""
    if self._data is None:
      self._data = read_data(self._folder)
    if self._data.setdefault(name, content) != content:
      raise ValueError(f"The images of {name!r} are not those with which the run in "
                       f"{self._folder} began. Restore the data, or begin again in another "
                       "--workdir.")
    if name not in self._seen:
      self._seen.add(name)
      snapshots.save_text(self._folder / DATA_FILE, sealed_json.text(
          {DATA: dict(sorted(self._data.items()))}) + "\n")


def trained(name: str) -> str:
  """The name of a set that is learned, beside that of the test set."""
  return f"{name}{_TRAINED}"


def is_trained(name: str) -> bool:
  """Whether a set is one that is learned. Runs of earlier versions have no digests of these."""
  return name.endswith(_TRAINED)


def kept_folder(folder: pathlib.Path) -> pathlib.Path:
  """Where a learner's run keeps states."""
  return folder / "state" / "kept"


def kept_states(folder: pathlib.Path) -> dict[int, pathlib.Path]:
  """The folders of the kept states of a learner's run, by the event that follows."""
  kept = kept_folder(folder)
  return {int(path.name): path for path in sorted(kept.iterdir())
          if path.name.isdigit() and path.is_dir()} if kept.is_dir() else {}


def load_kept(folder: pathlib.Path, identity: str) -> tuple[snapshots.Snapshot, str]:
  """Reads a kept state, perhaps of somebody else, and its digest.

  Args:
    folder: one of `kept_states`.
    identity: of the run that it is said to belong to.

  Raises:
    ValueError, OSError: it is damaged, or no kept state.
  """
  description, segment = folder / "00000000.json", folder / "00000000.bin"
  if not description.is_file() or description.is_symlink():
    raise ValueError(f"{folder} has no 00000000.json: it is no kept state")
  values = json.loads(description.read_text().partition("\n")[0])
  size = segment.stat().st_size if segment.is_file() else 0
  total = sum(math.prod(array["shape"]) * np.dtype(array["dtype"]).itemsize
              for array in values["arrays"].values())
  if total > size:
    raise ValueError(f"{folder} describes arrays of {total} bytes and has {size}")
  for name in values["arrays"]:
    rest = name.removeprefix(snapshots.CHECKPOINT)
    if rest != name and (rest != pathlib.PurePath(rest).name or rest in ("", ".", "..")):
      raise ValueError(f"{folder} has an array {name!r:.60}, which would be written elsewhere")
  for path in sorted((folder / _WEIGHTS).rglob("*.npz")):
    with zipfile.ZipFile(path) as archive:
      if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
        raise ValueError(f"{path} is compressed, which no weights of a run are")
  found = snapshots.Snapshots(folder, "a kept state").read()
  assert found is not None
  return found, digest(identity, int(found.values["done"]), found.values["ledger"], found.arrays,
                       of_files(folder / _WEIGHTS))


def check_run(folder: pathlib.Path, identity: str, num_events: int | None) -> None:
  """A ValueError unless the digests are whole, and belong to a run and its events.

  Args:
    folder: of the run.
    identity: of the run.
    num_events: of a finished run; None: any.
  """
  header, digests = read(folder / FILE)
  read_data(folder)
  if header[RUN] != identity:
    raise ValueError(f"{folder / FILE} belongs to another run")
  if num_events is not None and len(digests) != num_events + 1:
    raise ValueError(f"{folder / FILE} has {len(digests)} digests; {num_events} events have "
                     f"{num_events + 1}")


def check_kept(folder: pathlib.Path, event: int, identity: str) -> None:
  """A ValueError unless a run's kept state before an event has the digest that was written."""
  digests = read(folder / FILE)[1]
  if event >= len(digests) or load_kept(
      kept_states(folder)[event], identity)[1] != digests[event]:
    raise ValueError(f"{kept_states(folder)[event]} is not the state whose digest {FILE} has")


def read_data(folder: pathlib.Path) -> dict[str, Any]:
  """The digests of a run's sets by name; {} if it has none."""
  values = sealed_json.load(folder / DATA_FILE, "list of digests of data", _PUT_BACK, or_none=True)
  found = values.get(DATA, values)  # An earlier version wrote the sets alone.
  if not isinstance(found, dict) or not all(isinstance(one, dict) for one in found.values()):
    raise ValueError(f"{folder / DATA_FILE} is no list of digests of data. {_PUT_BACK}")
  return found


def read(path: pathlib.Path) -> tuple[dict[str, Any], list[str]]:
  """Reads the header and the digests, that before event 0 first; a torn last line is left out.

  Raises:
    ValueError: the file is damaged.
  """
  return parse(path.read_bytes(), str(path))


def parse(content: bytes, name: str) -> tuple[dict[str, Any], list[str]]:
  """See `read`."""
  lines = content.split(b"\n")[:-1]
  try:
    header, *others = [json.loads(line) for line in lines] or [{EVERY: 1, RUN: ""}]
    found = [str(line[STATE]) for line in others]
    if not isinstance(header[EVERY], int) or header[EVERY] < 1:
      raise ValueError(f"it keeps every {header[EVERY]!r}th state")
    if [line[EVENT] for line in others] != list(range(len(others))):
      raise ValueError("its events are not in order")
  except (ValueError, KeyError, TypeError, RecursionError) as error:
    raise ValueError(f"{name} is no list of digests of states ({snapshots.reason(error)})"
                     ) from error
  return header, found
