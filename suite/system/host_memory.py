# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The memory of this machine, or of the container that the process is confined to."""

from __future__ import annotations

import os
import pathlib

_UNKNOWN = 8 * 2**30  # Where the system does not say.
_SYSTEM = pathlib.Path("/proc/meminfo")
_CONTAINER = pathlib.Path("/sys/fs/cgroup")


def available_bytes() -> int:
  """The bytes that further data may take without swapping; caches of files count as available."""
  found = [size for size in (_of_system(), _of_container()) if size is not None]
  return max(0, min(found)) if found else _UNKNOWN


def share(part: float, most: int) -> int:
  """A part of the available bytes, at most `most`: the bound of data that is kept for speed only.
  """
  return min(most, int(part * available_bytes()))


def _of_system() -> int | None:
  try:
    for line in _SYSTEM.read_text().splitlines():
      if line.startswith("MemAvailable:"):
        return int(line.split()[1]) * 1024
  except (OSError, ValueError, IndexError):
    pass
  try:
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
  except (AttributeError, OSError, ValueError):
    return None


def _of_container() -> int | None:
  """What a limit of control groups (version 2) leaves; None: there is no limit."""
  try:
    limit = int((_CONTAINER / "memory.max").read_text())  # "max" is no number.
    facts = dict(line.split() for line in (_CONTAINER / "memory.stat").read_text().splitlines())
    used = int((_CONTAINER / "memory.current").read_text())
    return limit - used + int(facts.get("inactive_file", 0)) + int(facts.get("active_file", 0))
  except (OSError, ValueError):
    return None
