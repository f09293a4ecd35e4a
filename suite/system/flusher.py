# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Flushing of written files to the disk in a thread, while the process goes on.

A flush takes about as long as hundreds of small files take to write. It matters only if the machine
stops: then all is lost that was written after the last flush. Files are flushed in the order in
which they were added, so a file that makes others valid is added after them.
"""

from __future__ import annotations

import contextlib
import pathlib
import threading
import time
from typing import Callable

from suite.system import atomic_files

_SECONDS = 1.0


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
          atomic_files.sync_path(path)
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
