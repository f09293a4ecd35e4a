# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Files and folders that are either complete under their final name or not there.

Every write takes the same steps: write a temporary beside the final path, flush it to the disk,
rename it, flush the folder that holds the name. A process that is killed leaves at most a temporary
whose name begins with `TEMPORARY`; no reader takes it for a result.

A flush takes milliseconds and matters only if the machine stops: what a process has written
outlives the process. With `sync=False` nothing is flushed; `atomic_files.Flusher` does it later.

Flushing of written files to the disk in a thread, while the process goes on.

A flush takes about as long as hundreds of small files take to write. It matters only if the machine
stops: then all is lost that was written after the last flush. Files are flushed in the order in
which they were added, so a file that makes others valid is added after them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
import contextlib
import hashlib
import os
import pathlib
import platform
import re
import secrets
import shutil
import threading
import time
from typing import Any, BinaryIO

TEMPORARY = "tmp-"
_SECONDS = 1.0


@contextlib.contextmanager
def replacing(final: pathlib.Path, *, sync: bool = True) -> Iterator[pathlib.Path]:
  """Yields a temporary path to write a file or folder to, which becomes `final` at the end.

  The temporary has the suffix of `final`. On any failure it is removed and `final` is unchanged.
  """
  temporary = _temporary(final)
  with _renaming(temporary, final, sync):
    yield temporary


@contextlib.contextmanager
def opening(final: pathlib.Path, *, sync: bool = True) -> Iterator[BinaryIO]:
  """Yields an open binary file that becomes `final` at the end of the block.

  The temporary's suffix differs from that of `final`: patterns such as *.parquet do not match it.
  """
  temporary = _temporary(final, ".part")
  with _renaming(temporary, final, sync), open(temporary, "wb") as file:
    yield file


def _temporary(final: pathlib.Path, suffix: str = "") -> pathlib.Path:
  """A name that no other process uses, on other machines and in other containers too."""
  host = re.sub(r"[^A-Za-z0-9]", "", platform.node())[:16]
  begin, end = f"{TEMPORARY}{host}-{os.getpid()}-{secrets.token_hex(4)}-", f"{final.name}{suffix}"
  # A name has 255 bytes at most.
  while len(end.encode()) > 255 - len(begin):
    end = end[1:]
  return final.with_name(begin + end)


def write(final: pathlib.Path, data: bytes) -> None:
  """Replaces the content of `final`."""
  with opening(final) as file:
    file.write(data)


def replace_folder(new: pathlib.Path, final: pathlib.Path) -> None:
  """Moves the folder `new` to `final`; an older `final` is moved aside first, then removed."""
  old = final.with_name(f".{final.name}.old")
  if old.exists():
    shutil.rmtree(old)
  sync(new)
  if final.exists():
    os.replace(final, old)
  os.replace(new, final)
  sync_folder(final.parent)
  shutil.rmtree(old, ignore_errors=True)


def sweep(folder: pathlib.Path) -> None:
  """Removes the temporary files and folders of killed processes."""
  if folder.is_dir():
    for path in sorted(folder.glob(f"{TEMPORARY}*")):
      if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
      else:
        path.unlink(missing_ok=True)


def sha256(path: pathlib.Path) -> str:
  """The SHA-256 of a file's content, in hexadecimal digits."""
  digest = hashlib.sha256()
  with open(path, "rb") as file:
    for block in iter(lambda: file.read(1 << 20), b""):
      digest.update(block)
  return digest.hexdigest()


_flushes = True


@contextlib.contextmanager
def unflushed() -> Iterator[None]:
  """Nothing of this process waits for the disk meanwhile: for files that are removed in the end."""
  global _flushes
  before, _flushes = _flushes, False
  try:
    yield
  finally:
    _flushes = before


def sync_file(file: Any) -> None:
  """Waits until the content of an open file is on the disk."""
  file.flush()
  if _flushes:
    os.fsync(file.fileno())


def sync_folder(folder: pathlib.Path) -> None:
  """Waits until the names in a folder are on the disk; POSIX only, elsewhere nothing is done."""
  if os.name == "posix":
    sync_path(folder)


def sync(path: pathlib.Path) -> None:
  """Waits until a file, or a folder and all that it holds, is on the disk."""
  for entry in [*sorted(path.rglob("*")), path] if path.is_dir() else [path]:
    if entry.is_dir():
      sync_folder(entry)
    else:
      sync_path(entry)


def make_folder(path: pathlib.Path) -> None:
  """Makes a folder with its parents, and flushes the names of those that are new.

  Otherwise all that is written to it later could be lost with its name, whatever is flushed.
  """
  new = [folder for folder in (path, *path.parents) if not folder.exists()]
  path.mkdir(parents=True, exist_ok=True)
  for folder in reversed(new):
    sync_folder(folder.parent)


def sync_path(path: pathlib.Path) -> None:
  """Waits until the content of a file, or the names in a folder, are on the disk."""
  if not _flushes:
    return
  descriptor = os.open(path, os.O_RDONLY)
  try:
    os.fsync(descriptor)
  finally:
    os.close(descriptor)


@contextlib.contextmanager
def _renaming(temporary: pathlib.Path, final: pathlib.Path, flushed: bool) -> Iterator[None]:
  try:
    make_folder(final.parent)
    yield
    if flushed:
      sync(temporary)
    os.replace(temporary, final)
    if flushed:
      sync_folder(final.parent)
  finally:
    if temporary.is_dir():
      shutil.rmtree(temporary, ignore_errors=True)
    else:
      with contextlib.suppress(OSError):
        temporary.unlink()


class Flusher:
  """Flushes the files added so far, at most once in `seconds`.

  An error of the disk is raised by the next call of any method.
  """

  def __init__(self, seconds: float = _SECONDS):
    self._seconds, self._last = seconds, -float("inf")
    self._paths: dict[pathlib.Path, None] = {}  # In order.
    self._then: list[Callable[[], None]] = []
    self._thread: threading.Thread | None = None
    self._error: OSError | None = None

  def add(self, *paths: pathlib.Path, then: Callable[[], None] | None = None) -> None:
    """Adds files and folders; `then` is called, in the thread, when they are on the disk."""
    for path in paths:
      self._paths.pop(path, None)  # Later in the order, with what was written since.
      self._paths[path] = None
    if then is not None:
      self._then.append(then)

  def tick(self) -> None:
    """Begins to flush, unless it did so in the last seconds."""
    self._raise()
    busy = self._thread is not None and self._thread.is_alive()
    if self._paths and not busy and time.monotonic() - self._last >= self._seconds:
      self._begin()

  def flush(self) -> None:
    """Returns when all that was added is on the disk."""
    self._wait()
    if self._paths:
      self._begin()
      self._wait()

  def _begin(self) -> None:
    work = tuple(self._paths), tuple(self._then)
    self._paths, self._then, self._last = {}, [], time.monotonic()
    self._thread = threading.Thread(target=self._flush, args=work)
    self._thread.start()

  def _flush(self, paths: tuple[pathlib.Path, ...], then: tuple[Callable[[], None], ...]) -> None:
    try:
      for path in paths:
        with contextlib.suppress(FileNotFoundError):  # Removed since, as nothing needs it.
          sync_path(path)
    except OSError as error:
      self._error = error
      return
    for call in then:
      call()

  def _wait(self) -> None:
    if self._thread is not None:
      self._thread.join()
    self._raise()

  def _raise(self) -> None:
    if self._error is not None:
      error, self._error = self._error, None
      raise error
