# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Power cuts: what a disk may hold after one, for all that the suite writes, and what comes of it.

The operations of a workload on the files of its folder are recorded (file_calls.c). A state is
what a disk may hold if the power goes at one of them, by one of three models:

  flushed   what was flushed, and nothing else: names up to the last flush, as a journal has them
  ordered   names in order up to any moment after the last flush; of data that was not flushed
            nothing, all, a beginning, zeros, or all but some sectors
  posix     the same data; names of each folder up to a moment of its own, at least up to its flush

In each state the workload is done again to its end. It must end as without the cut, or refuse in
one line; what was acknowledged must be there. C's compiler and LD_PRELOAD are needed: Linux.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator, Sequence
import os
import pathlib
import random
import shutil
import subprocess
import sys
from typing import NamedTuple

import forked
import outcomes
import workloads

MODELS = ("flushed", "ordered", "posix")
_NAMES = ("create", "mkdir", "rename", "unlink", "rmdir")
_SECTOR = 512
_HERE = pathlib.Path(__file__).resolve().parent


class Operation(NamedTuple):
  """One recorded operation.

  Attributes:
    kind: "create", "write", "trunc", "flush" (begins), "flushed" (has ended), "mkdir", "rename",
      "unlink", "rmdir".
    file: (inode, which of the files that had this number); None of operations on names alone.
    offset: of "write", the size of "trunc".
    data: that was written.
    path, second: relative to the folder; "" is the folder itself.
  """

  kind: str
  file: tuple[int, int] | None
  offset: int
  data: bytes
  path: str
  second: str


def read(log: pathlib.Path, root: pathlib.Path) -> list[Operation]:
  """Reads a log of file_calls.c."""
  data, place, found = log.read_bytes(), 0, []
  made: collections.Counter[int] = collections.Counter()
  while place < len(data):
    end = data.index(b"\n", place)
    kind, inode, offset, size, *paths = os.fsdecode(data[place:end]).split("\t")
    place = end + 1
    content = data[place:place + int(size)]
    place += int(size)
    made[int(inode)] += kind == "create"
    path, second = ("" if not p or p == str(root) else os.path.relpath(p, root) for p in paths)
    file = (int(inode), made[int(inode)]) if int(inode) else None
    found.append(Operation(kind, file, int(offset), content, path, second))
  return found


def build(operations: Sequence[Operation], target: pathlib.Path, model: str, draw: random.Random
          ) -> None:
  """Makes the folder that a disk may hold after these operations, by one of `MODELS`."""
  begun: dict[str, int] = {}
  flushed: dict[str, int] = {}  # By path: what was done to it before this place is on the disk.
  data_flushed: dict[tuple[int, int] | None, int] = {}
  for place, one in enumerate(operations):
    if one.kind == "flush":
      begun[one.path] = place
    elif one.kind == "flushed":
      flushed[one.path] = data_flushed[one.file] = begun[one.path]
  kept = _kept_names(operations, flushed, model, draw)
  writes: dict[tuple[int, int] | None, list[int]] = collections.defaultdict(list)
  for place, one in enumerate(operations):
    if one.kind in ("write", "trunc"):
      writes[one.file].append(place)
  tree: dict[str, tuple[int, int] | None] = {}  # Path -> its file; None: a folder.
  for place in kept:
    one = operations[place]
    if one.kind in ("create", "mkdir"):
      tree[one.path] = one.file if one.kind == "create" else None
    elif one.kind == "rename":
      moved = {path: file for path, file in tree.items()
               if path == one.path or path.startswith(f"{one.path}/")}
      for path, file in moved.items():
        del tree[path]
        tree[one.second + path[len(one.path):]] = file
    else:
      tree.pop(one.path, None)
  shutil.rmtree(target, ignore_errors=True)
  target.mkdir(parents=True)
  for path in sorted(tree, key=lambda path: path.count("/")):
    file, final = tree[path], target / path
    if not final.parent.is_dir():
      continue  # Its folder is lost.
    if file is None:
      final.mkdir(exist_ok=True)
    else:
      final.write_bytes(_content([operations[place] for place in writes[file]], sum(
          place <= data_flushed.get(file, -1) for place in writes[file]), model, draw))


def _kept_names(operations: Sequence[Operation], flushed: dict[str, int], model: str,
                draw: random.Random) -> list[int]:
  """The operations on names that are on the disk."""
  places = [place for place, one in enumerate(operations) if one.kind in _NAMES]
  last = max(flushed.values(), default=-1)
  if model != "posix":
    end = last if model == "flushed" else draw.choice(
        [last, len(operations), draw.randint(max(last, 0), len(operations))])
    return [place for place in places if place <= end]

  def folders(one: Operation) -> set[str]:
    paths = (one.path, one.second) if one.kind == "rename" else (one.path,)
    return {os.path.dirname(path) for path in paths}

  by_folder: dict[str, list[int]] = collections.defaultdict(list)
  for place in places:
    for folder in sorted(folders(operations[place])):
      by_folder[folder].append(place)
  ends = {folder: max(flushed.get(folder, -1), draw.choice([-1, draw.choice(own), own[-1]]))
          for folder, own in by_folder.items()}
  return [place for place in places
          if all(place <= ends[folder] for folder in folders(operations[place]))]


def _content(operations: Sequence[Operation], num_flushed: int, model: str, draw: random.Random
             ) -> bytes:
  """The content of a file of which some of the writes were flushed."""
  how = "none" if model == "flushed" else draw.choice(["none", "all", "part", "zeros", "torn"])
  left = len(operations) - num_flushed
  end = num_flushed + {"none": 0, "part": draw.randint(0, left)}.get(how, left)
  out = bytearray()
  for number, one in enumerate(operations[:end]):
    if one.kind == "trunc":
      out = out[:one.offset].ljust(one.offset, b"\0")
      continue
    data = bytearray(one.data)
    if number >= num_flushed and how == "zeros":
      data = bytearray(len(data))
    elif number >= num_flushed and how == "torn":
      for start in range(0, len(data), _SECTOR):
        if draw.random() < 0.4:
          data[start:start + _SECTOR] = bytes(len(data[start:start + _SECTOR]))
    out = out.ljust(one.offset, b"\0")
    out[one.offset:one.offset + len(data)] = data
  return bytes(out)


class Recorded(NamedTuple):
  """A workload that was done once: its operations, and what it came to."""

  name: str
  folder: pathlib.Path
  operations: list[Operation]
  result: str


def build_library(folder: pathlib.Path) -> pathlib.Path:
  """Compiles file_calls.c."""
  library = folder / "file_calls.so"
  subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(library),
                  str(_HERE / "file_calls.c"), "-lpthread", "-ldl"], check=True)
  return library


def record(name: str, folder: pathlib.Path) -> Recorded:
  """Does a workload in a process of its own, whose operations are recorded."""
  workloads.prepare(name)
  log, root = folder / "log", folder / "root"
  root.mkdir(parents=True)
  library = build_library(folder)
  done = subprocess.run(
      [sys.executable, str(_HERE), "--record", name, str(root)], text=True, capture_output=True,
      check=False, env={**os.environ, "LD_PRELOAD": str(library), "CALLS_ROOT": str(root),
                        "CALLS_LOG": str(log)})
  if done.returncode:
    raise RuntimeError(f"{name} fails without a cut:\n{(done.stdout + done.stderr)[-2000:]}")
  operations = read(log, root)
  everything = [*operations, *(
      Operation(kind, one.file, 0, b"", one.path, "") for one in operations
      if one.kind == "create" for kind in ("flush", "flushed"))]
  build(everything, folder / "replayed", "flushed", random.Random(0))
  differ = [path for path in sorted(root.rglob("*")) if path.is_file() and not
            {"tensorboard", "tensorboard_trials"} & set(path.parts) and not
            _is_equal(path, folder / "replayed" / path.relative_to(root))]
  if differ:
    raise RuntimeError(f"{name}: operations on {differ[:3]} were not recorded")
  return Recorded(name, folder, operations, workloads.result(done.stdout))


def _is_equal(path: pathlib.Path, other: pathlib.Path) -> bool:
  return other.is_file() and path.read_bytes() == other.read_bytes()


def cut(recorded: Recorded, draw: random.Random) -> outcomes.Fault:
  """One state, and what comes of it."""
  place, model = draw.randint(1, len(recorded.operations)), draw.choice(MODELS)
  before = recorded.operations[:place]
  state = recorded.folder / "state"
  workloads.acknowledge(state, sum(
      one.kind == "mkdir" and "acknowledged_" in one.path for one in before))
  build([one for one in before if "acknowledged_" not in one.path], state, model, draw)
  (state / "w").parent.mkdir(exist_ok=True)
  work = workloads.WORKLOADS[recorded.name][0]
  done = forked.run([], before=lambda: workloads.do(work, state))
  what = f"{recorded.name}: {model}, cut at operation {place} of {len(recorded.operations)}"
  kind, said = f"power cut: {recorded.name}", outcomes.last_line(done.output)
  if done.code == 0:
    result = workloads.result(done.output)
    lost = "LOST" in done.output
    return outcomes.Fault(kind, what, outcomes.LOST if lost else outcomes.SURVIVED
                          if result == recorded.result else outcomes.SILENT, result)
  return outcomes.Fault(kind, what, outcomes.of_failure(done), said or done.output[-300:])


def campaign(folder: pathlib.Path, *, number: int, seed: int, first: int = 0,
             names: Sequence[str] = ()) -> Iterator[outcomes.Fault]:
  """Yields the outcomes of states, drawn from the seed.

  Args:
    folder: for scratch files.
    number: of states.
    seed: state n is a function of (seed, n).
    first: number of the first state.
    names: of workloads; (): all.
  """
  chosen = {name: often for name, (_, often) in workloads.WORKLOADS.items()
            if not names or name in names}
  recorded: dict[str, Recorded] = {}
  for state in range(first, first + number):
    draw = random.Random(f"power/{seed}/{state}")
    name = draw.choices(list(chosen), list(chosen.values()))[0]
    if name not in recorded:
      recorded[name] = record(name, folder / name)
    found = cut(recorded[name], draw)
    yield found._replace(what=f"state {state}, {found.what}")
