# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The files of a session: settings, then rounds and answers, each with a digest.

Each file has a digest of its values and that of the file before it, so that an answer that was
changed, or a round in another place, is refused. Sessions of format 1 have none, and go on so.
"""

from __future__ import annotations

from collections.abc import Mapping
import hashlib
import json
import pathlib
from typing import Any

from suite.lifelong.cache import accuracy_cache
from suite.system import atomic_files
from suite.system import sealed_json

SETTINGS = "session.json"
_AFTER = "after"  # The digest of the file before.


class SessionFiles:
  """Files of one folder, read and written in their order; nothing is kept without a folder.

  Attributes:
    is_sealed: whether they have digests.
  """

  def __init__(self, folder: pathlib.Path | None):
    self._folder, self._last, self.is_sealed = folder, "", True

  def read(self, name: str) -> dict[str, Any] | None:
    """The values of the next file, whose digest the one after it names; None: no file."""
    if self._folder is None:
      return None
    try:
      if name == SETTINGS:
        self.is_sealed = sealed_json.read(self._folder / name).get("format") != 1
      found = sealed_json.read(self._folder / name, needs_digest=self.is_sealed)
      if not found:
        return None
      if self.is_sealed:
        if found.pop(_AFTER, None) != self._last:
          raise ValueError("it is of another session, or of another place in this one")
        self._last = sealed_json.digest({**found, _AFTER: self._last})
      return found
    except ValueError as error:
      raise self.damaged(name, str(error)) from error

  def damaged(self, name: str, why: str) -> accuracy_cache.CacheError:
    assert self._folder is not None
    return accuracy_cache.CacheError(
        f"{self._folder / name} is not as the session wrote it: {why:.200}. Put it back, or start "
        "a new session in another folder; answers that are there serve `suite lifelong estimate "
        "--answers`.")

  def write(self, name: str, record: Mapping[str, Any]) -> None:
    if self._folder is None:
      return
    text = json.dumps(record)
    if self.is_sealed:
      record = {**record, _AFTER: self._last}
      text, self._last = sealed_json.text(record), sealed_json.digest(record)
    atomic_files.write(self._folder / name, (text + "\n").encode())


def seed_of(folder: pathlib.Path | None) -> int:
  """A seed that only this folder has; 0 without one."""
  if folder is None:
    return 0
  return int.from_bytes(hashlib.sha256(str(folder.resolve()).encode()).digest()[:4], "big")
