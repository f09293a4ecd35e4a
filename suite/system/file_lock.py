# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Locks between processes, held on open files; the system releases them when a process ends.

`flock` also locks between machines on NFS (since Linux 2.6.12), CephFS and Lustre (mounted with
-o flock). Nothing has to be cleaned up after a process that was killed.
"""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import fcntl
import os
import pathlib
import platform
import shlex
import sys
import time
from typing import Any, TextIO

from suite.system import atomic_files

_TRIES = 1000  # A lock may be removed while others wait for it, but not for ever.


class LockedError(RuntimeError):
  """Another process holds the lock."""


class NoLocksError(OSError):
  """The file system has no locks."""


def try_lock(file: Any) -> bool:
  """Locks an open file; False if another process holds it. Child processes inherit the lock."""
  try:
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
  except BlockingIOError:
    return False
  except OSError as error:
    raise NoLocksError(
        f"The file system of {file.name} has no locks ({error.strerror}). Choose a folder on one "
        "that has them, such as a local disk, NFS, or Lustre mounted with -o flock.") from error
  return True


def is_free(path: pathlib.Path) -> bool:
  """Whether no process holds the lock file `path`; False as well if it does not exist."""
  try:
    with open(path, encoding="utf-8") as file:
      fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
      return True
  except (BlockingIOError, FileNotFoundError):
    return False


@contextlib.contextmanager
def held(path: pathlib.Path, *, wait: bool = True) -> Iterator[None]:
  """Holds the lock file `path` during the block; it and its folder are made if they do not exist.

  The file names its owner, for the message of a process that is refused. Only the holder may remove
  it: those who wait then take the lock of the file that was made since.

  Args:
    path: of the lock file.
    wait: until another process releases the lock; otherwise LockedError is raised.
  """
  with contextlib.ExitStack() as stack:
    for left in reversed(range(_TRIES)):
      try:
        atomic_files.make_folder(pathlib.Path(path).parent)
        file = stack.enter_context(open(path, "a", encoding="utf-8"))
      except FileNotFoundError:  # The holder has removed the folder since.
        if not left:
          raise
        continue
      if wait:
        fcntl.flock(file, fcntl.LOCK_EX)
      elif not try_lock(file):
        raise LockedError(f"Another process holds {path}: {owner(path)}. Wait until it has ended, "
                          "or end it; then repeat the command.")
      # A lock on a file that has lost its name locks nobody out.
      with contextlib.suppress(FileNotFoundError):
        if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
          break
      stack.close()
      if not left:
        raise LockedError(f"{path} is removed again and again while it is waited for. Repeat the "
                          "command when the other processes have ended.")
    boot = ""  # Tells the starts of a machine apart, and containers of one name.
    with contextlib.suppress(OSError):
      boot = f" (boot {pathlib.Path('/proc/sys/kernel/random/boot_id').read_text()[:8]})"
    _sign(file, f"process {os.getpid()} on {platform.node()}{boot}, "
                f"{time.strftime('%Y-%m-%d %H:%M:%S')}: {shlex.join(sys.argv)[:200]}\n")
    try:
      yield
    finally:
      _sign(file, "")


def _sign(file: TextIO, text: str) -> None:
  # On a full disk it holds the lock without its name; nothing waits in a buffer for `close`.
  with contextlib.suppress(OSError):
    os.ftruncate(file.fileno(), 0)
    os.write(file.fileno(), text.encode())


def owner(path: pathlib.Path) -> str:
  """The process that took the lock last: "process PID on HOST, TIME: COMMAND"."""
  with contextlib.suppress(OSError, UnicodeDecodeError):
    return path.read_text(encoding="utf-8").strip() or "a process that is just starting"
  return "an unknown process"
