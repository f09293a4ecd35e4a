# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Folders that a user names: whether one can be made, read and written."""

from __future__ import annotations

import errno
import os
import pathlib

from suite.system import atomic_files


class FolderError(OSError):
  """A folder cannot be used; the message says why and what to give instead."""


def check(folder: str | os.PathLike, flag: str) -> None:
  """Refuses a path that is a file or lies under one; it need not exist.

  Args:
    folder: as the user named it.
    flag: where it was named, for the message.
  """
  path = pathlib.Path(folder)
  for part in (path, *path.parents):
    if part.exists() and not part.is_dir():
      where = "is a file" if part == path else f"lies under {part}, which is a file"
      raise FolderError(f"{folder} {where}. Give {flag} a folder.")


def make(folder: str | os.PathLike, flag: str) -> None:
  """Makes a folder in which files can be written, with its parents; otherwise refuses it."""
  check(folder, flag)
  path, remedy = pathlib.Path(folder), f"Give {flag} a folder in which you may write."
  try:
    atomic_files.make_folder(path)
  except OSError as error:
    if error.errno == errno.ENOSPC:
      remedy = f"Free some space, or give {flag} a folder on another disk."
    raise FolderError(f"{folder} cannot be made: {error.strerror}. {remedy}") from error
  if not os.access(path, os.W_OK | os.X_OK):
    raise FolderError(f"{folder} is read-only. {remedy}")
