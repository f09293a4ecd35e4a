# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The memory of this machine, or of the container that the process is confined to."""

from __future__ import annotations

import ctypes
import gc
import os
import pathlib

_UNKNOWN = 8 * 2**30  # Where the system does not say.
_SYSTEM = pathlib.Path("/proc/meminfo")
_CONTAINER = pathlib.Path("/sys/fs/cgroup")


def available_bytes() -> int:
  """The bytes that further data may take without swapping; caches of files count as available."""
  return _least(_of_system("MemAvailable", "SC_AVPHYS_PAGES"), _left_in_container())


def total_bytes() -> int:
  """All memory, the same whenever it is asked for: the bound of data that decides on results."""
  return _least(_of_system("MemTotal", "SC_PHYS_PAGES"), _number(_CONTAINER / "memory.max"))


def _least(*sizes: int | None) -> int:
  found = [size for size in sizes if size is not None]
  return max(0, min(found)) if found else _UNKNOWN


def collect() -> None:
  """Frees what nothing refers to, and returns freed memory to the system where the C library can.

  Graphs leave holes in the heap: gigabytes in a process that traces many.
  """
  gc.collect()
  trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it.
  if trim is not None:
    trim(ctypes.c_size_t(0))


def share(part: float, most: int) -> int:
  """A part of the available bytes, at most `most`: the bound of data that is kept for speed only.
  """
  return min(most, int(part * available_bytes()))


def _of_system(line: str, pages: str) -> int | None:
  try:
    for found in _SYSTEM.read_text().splitlines():
      if found.startswith(f"{line}:"):
        return int(found.split()[1]) * 1024
  except (OSError, ValueError, IndexError):
    pass
  try:
    return os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")
  except (AttributeError, OSError, ValueError):
    return None


def _left_in_container() -> int | None:
  """What a limit of control groups (version 2) leaves; None: there is no limit."""
  limit, used = (_number(_CONTAINER / f"memory.{name}") for name in ("max", "current"))
  if limit is None or used is None:
    return None
  try:
    facts = dict(line.split() for line in (_CONTAINER / "memory.stat").read_text().splitlines())
    return limit - used + int(facts.get("inactive_file", 0)) + int(facts.get("active_file", 0))
  except (OSError, ValueError):
    return limit - used


def _number(path: pathlib.Path) -> int | None:
  try:
    return int(path.read_text())
  except (OSError, ValueError):  # "max" is no limit.
    return None
