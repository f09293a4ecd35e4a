# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Errors of disks and of the system's limits: no fault of a file's content, nor of the program.

They end a command with one line that says what could not be done, where, why and what to do. They
are never taken for damage: the same command goes on when the disk can be used again.
"""

from __future__ import annotations

import errno
import io
import os
import pathlib
import traceback
import zipfile

_SPACE = "Free some space"
_DISK = "Look after the disk, or its connection (the system's log says more)"
_FILES = "Raise the limit of open files (ulimit -n), or end other programs"
_RIGHTS = "Give a folder in which you may read and write"
_REMEDIES = {
    errno.ENOSPC: _SPACE, errno.EDQUOT: _SPACE, errno.EFBIG: "Raise the limit of a file's size",
    errno.EIO: _DISK, errno.ESTALE: _DISK, errno.ENXIO: _DISK, errno.ENODEV: _DISK,
    errno.ETIMEDOUT: _DISK, errno.EHOSTDOWN: _DISK, errno.ENOTCONN: _DISK,
    errno.EMFILE: _FILES, errno.ENFILE: _FILES, errno.ENOMEM: "End other programs",
    errno.EROFS: _RIGHTS, errno.EACCES: _RIGHTS, errno.EPERM: _RIGHTS}


def of(error: BaseException) -> OSError | None:
  """The error of a disk that an exception is; None if it is none.

  What gin raises in place of an error of a configured function has it as its context alone.
  """
  # A file that cannot be read is no zip file to `zipfile`.
  found = error.__context__ if isinstance(error, zipfile.BadZipFile) else error
  while isinstance(found, OSError):
    if found.errno is not None:
      return found if found.errno in _REMEDIES else None
    if found.__cause__ is not None:  # It has a message of its own, such as a FolderError.
      return None
    found = found.__context__
  return None


def remedy(error: OSError) -> str:
  """What to do, the beginning of a sentence."""
  return _REMEDIES.get(error.errno or 0, "Make the folder usable")


def message(error: OSError) -> str:
  """Where, why and what to do, for an error that `of` returns."""
  return (f"{_file_of(error)}: {error.strerror}. {remedy(error)}, then run the same command again: "
          "what was saved before is intact.")


def _file_of(error: OSError) -> str:
  """The file that an error concerns.

  Errors at files that are open do not say it, and those within an open folder (shutil.rmtree) say
  the name alone. The innermost function that has the path, or an open file, among its variables
  does.
  """
  said = "" if error.filename is None else os.fsdecode(error.filename)
  if os.path.dirname(said):
    return said
  for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
    for value in frame.f_locals.values():
      if isinstance(value, io.IOBase):
        value = getattr(value, "name", None)
      if (isinstance(value, pathlib.PurePath) or isinstance(value, str) and os.path.isabs(value)
          ) and (not said or os.path.basename(value) == said):
        return str(value)
  return said or "a file"
