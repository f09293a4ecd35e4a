# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Locks between processes, held on open files; the system releases them when a process ends."""

from __future__ import annotations

import contextlib
import fcntl
import pathlib
from typing import Any, Iterator


class LockedError(RuntimeError):
  """Another process holds the lock."""


def try_lock(file: Any) -> bool:
  """Locks an open file; False if another process holds it. Child processes inherit the lock."""
  try:
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
  except BlockingIOError:
    return False
  return True


@contextlib.contextmanager
def held(path: pathlib.Path, *, wait: bool = True) -> Iterator[None]:
  """Holds the lock file `path` during the block; it is made if it does not exist.

  Args:
    path: of the lock file; its folder must exist.
    wait: until another process releases the lock; otherwise LockedError is raised.
  """
  with open(path, "a", encoding="ascii") as file:
    if wait:
      fcntl.flock(file, fcntl.LOCK_EX)
    elif not try_lock(file):
      raise LockedError(f"Another process holds {path}. Wait until it has ended, then repeat the "
                        "command.")
    yield
