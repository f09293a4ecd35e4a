# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The mirror: folders that are searched by file name before anything is downloaded.

`LIFELONG_MIRROR` names one folder, or several separated as in PATH; `use(directory)` overrides it
for this process. Folders are searched with their subfolders, in sorted order.
"""

from __future__ import annotations

from collections.abc import Iterable
import os
import pathlib

VARIABLE = "LIFELONG_MIRROR"

# The folders given to `use` (None: those of the environment), and whether they are trusted.
_State = tuple[tuple[pathlib.Path, ...] | None, bool]
_current: _State = (None, False)


def use(directory: str | os.PathLike | None, *, trust: bool = False) -> None:
  """Searches `directory` from now on; None restores the folders of LIFELONG_MIRROR.

  Args:
    directory: an existing folder.
    trust: accept files whose checksums the rows do not know, with one warning each, where they
      would be refused otherwise: for archives that were repacked.
  """
  if directory is not None and not pathlib.Path(directory).expanduser().is_dir():
    raise NotADirectoryError(f"The mirror {os.fspath(directory)!r} is not a folder that exists. "
                             "Give the folder that holds the archives (or their subfolders).")
  restore((None if directory is None else (pathlib.Path(directory).expanduser(),), trust))


def state() -> _State:
  """Returns the state for `restore`, for code that changes the mirror temporarily."""
  return _current


def restore(state_before: _State) -> None:
  global _current
  _current = state_before


def trusted() -> bool:
  return _current[1]


def directories() -> tuple[pathlib.Path, ...]:
  """Returns the folders that are searched; some may not exist."""
  if _current[0] is not None:
    return _current[0]
  listed = os.environ.get(VARIABLE, "").split(os.pathsep)
  return tuple(pathlib.Path(entry).expanduser() for entry in listed if entry)


def describe() -> str:
  """Returns a description of the folders that are searched, for messages."""
  if not directories():
    return f"no mirror (neither --mirror nor {VARIABLE} is set)"
  return "mirror " + ", ".join(
      f"{one}" if one.is_dir() else f"{one} (no such folder)" for one in directories())


def find(names: Iterable[str], prefer: str = "") -> dict[str, list[pathlib.Path]]:
  """Returns all files with these names, best first: {name: [path, ...]}.

  Several data sets use the same file names (MNIST and its successors), so files under a
  folder whose name begins with a word of `prefer` (a data set's name) come first.
  """
  names = tuple(names)
  found: dict[str, list[pathlib.Path]] = {name: [] for name in names}
  for directory in directories():
    paths: list[pathlib.Path] = []
    for folder, subfolders, files in os.walk(directory):
      subfolders.sort()
      paths += [pathlib.Path(folder, name) for name in sorted(set(files) & set(names))]
    paths.sort(key=lambda path: _distance(path.relative_to(directory), prefer))
    for path in paths:
      if path.is_file():
        found[path.name].append(path)
  return found


def _distance(path: pathlib.PurePath, prefer: str) -> tuple[int, int]:
  folders = path.parts[:-1]
  alike = prefer in folders, any(prefer and prefer.split("_")[0] == part for part in folders)
  return (0 if alike[0] else 1 if alike[1] else 2, len(folders))
