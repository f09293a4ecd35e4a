# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Numbered snapshot folders, each complete or absent: written aside, then renamed."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
from typing import Iterator, Optional

from suite.system import atomic_files


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
  except (OSError, ValueError, LookupError) as error:
    reason = (str(error).splitlines() or [""])[0]
    raise DamagedError(
        f"Could not read {what} in {where} ({type(error).__name__}: {reason}); it is damaged. "
        "Restore it from a copy, or start again in a new work directory.") from error


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


class Snapshots:
  """A folder of numbered snapshots, of which the newest is valid."""

  def __init__(self, folder: pathlib.Path):
    self.folder = pathlib.Path(folder)

  def _numbers(self) -> list[int]:
    if not self.folder.is_dir():
      return []
    return sorted(int(p.name) for p in self.folder.iterdir() if p.name.isdigit())

  def latest(self) -> Optional[pathlib.Path]:
    """The folder of the newest snapshot, None if there is none."""
    numbers = self._numbers()
    return self._path(numbers[-1]) if numbers else None

  def _path(self, number: int) -> pathlib.Path:
    return self.folder / f"{number:08d}"

  @contextlib.contextmanager
  def write(self) -> Iterator[pathlib.Path]:
    """Yields an empty folder, which is the newest and only snapshot after the block."""
    numbers = self._numbers()
    with saving("the run state", self._path(numbers[-1] + 1 if numbers else 0)) as temporary:
      temporary.mkdir()
      yield temporary
    self._remove(numbers)

  def clear(self) -> None:
    """Removes all snapshots and the temporary files of killed processes."""
    self._remove(self._numbers())
    self.sweep()

  def _remove(self, numbers: list[int]) -> None:
    # Renamed first, so that a kill never leaves half a snapshot under a number; oldest first, so
    # that an older one never becomes the newest.
    for number in numbers:
      doomed = self.folder / f"{atomic_files.TEMPORARY}old-{number:08d}"
      os.replace(self._path(number), doomed)
      shutil.rmtree(doomed, ignore_errors=True)

  def sweep(self) -> None:
    """Removes the temporary files of killed processes."""
    if self.folder.is_dir():
      for path in sorted(self.folder.glob(f"{atomic_files.TEMPORARY}*")):
        if path.is_dir():
          shutil.rmtree(path, ignore_errors=True)
        else:
          path.unlink()
