# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Folders that a user names: whether one can be made, read and written.

Names of learners, rows, columns and seeds become folders as well. `check_names` refuses those that
would leave the work directory, or be one folder or a file of a run, on any system.
"""

from __future__ import annotations

from collections.abc import Iterable
import errno
import os
import pathlib
import unicodedata

from suite.system import atomic_files

MAX_NAME_BYTES = 120
# Files and folders of runs and tables, and devices of Windows, whatever their ending.
_RESERVED = frozenset([
    "classifier.npz", "codes", "config.gin", "encoder.json", "encoder.npz", "environment.json",
    "first_weights.npz", "identity.json", "latest.json",
    "operative_config.gin", "predictions", "protocol.json", "records.jsonl", "report.txt",
    "samples", "settings.txt", "sha256sums", "state", "summary.json", "table.json", "tensorboard",
    "tensorboard_trials", "tracker", "unused_bindings.txt", "weights"])
_DEVICES = frozenset(["con", "prn", "aux", "nul", "conin$", "conout$",
                      *(f"{device}{digit}" for device in ("com", "lpt") for digit in "0123456789")])

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


def check_names(names: Iterable[str], what: str, *, taken: Iterable[str] = ()) -> None:
  """Refuses names that cannot be folders beside each other, on any system.

  Args:
    names: of the folders.
    what: what they are names of, for the message: "learner".
    taken: names of other files in their place.

  Raises:
    FolderError: says which name, and what is wrong with it.
  """
  seen: dict[str, str] = {}
  others = {_folded(name) for name in taken}
  for name in names:
    problem = _problem(name, others)
    if not problem and seen.setdefault(_folded(name), name) is not name:
      problem = f"is the folder of {seen[_folded(name)]!r} on systems that do not tell case apart"
    if problem:
      raise FolderError(f"The {what} {name!r} {problem}. Its name becomes a folder: give it "
                        f"another one, at most {MAX_NAME_BYTES} bytes without / and \\.")


def _problem(name: str, taken: Iterable[str]) -> str:
  """What keeps a name from being that of a folder; "" if nothing does."""
  if not isinstance(name, str) or not name.strip():
    return "is no name"
  wrong = sorted(set(name) & set('/\\:*?"<>|~')) or [c for c in name if not c.isprintable()]
  if wrong:
    return f"holds {wrong[0]!r}"
  if name[0] in "." or name[-1] in ". " or name[0] == " ":
    return "begins or ends with a dot or a space"
  size = len(name.encode("utf-8"))
  if size > MAX_NAME_BYTES:
    return f"has {size} bytes"
  folded = _folded(name)
  if folded in _RESERVED or folded in taken or folded.split(".")[0].strip() in _DEVICES:
    return "is the name of a file of the suite, or of a device of Windows"
  return ""


def _folded(name: str) -> str:
  """A name as systems compare it that do not tell case, or forms of letters, apart."""
  return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
