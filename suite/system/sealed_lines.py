# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""An append-only file of JSON lines; a last line that a crash cut short is ignored.

Each line begins with a digest of its body, which detects changed lines. A line that ends with a
line break was committed: if it is damaged, what follows it was, too, and nothing may be written
over it.
"""

from __future__ import annotations

from collections.abc import Mapping
import hashlib
import json
import pathlib
from typing import Any, NamedTuple

from absl import logging

from suite.system import atomic_files


class Log(NamedTuple):
  """What a file holds.

  Attributes:
    lines: the valid lines, up to the first damaged one.
    end: byte offset of the end of the last of them.
    damage: says which line is damaged; "" if none is.
  """

  lines: list[dict[str, Any]]
  end: int
  damage: str


def read(path: pathlib.Path) -> Log:
  """Reads a file; one that does not exist has no lines."""
  if not path.exists():
    return Log([], 0, "")
  if not path.is_file():
    return Log([], 0, f"{path} is no file")
  lines: list[dict[str, Any]] = []
  end = 0
  with open(path, "rb") as file:
    for raw in file:
      if not raw.endswith(b"\n"):
        logging.warning("%s has an incomplete last line: it is read up to there.", path)
        break
      digest, _, body = raw.decode("utf-8", "replace").rstrip("\n").partition(" ")
      if digest != _digest(body):
        return Log(lines, end, f"{path} is damaged in line {len(lines) + 1}")
      end += len(raw)
      lines.append(json.loads(body))
  return Log(lines, end, "")


def append(path: pathlib.Path, line: Mapping[str, Any], *, at: int) -> None:
  """Writes one line at byte `at`, over any incomplete line that a crash has left there."""
  is_new = not path.exists()
  with open(path, "ab") as file:
    file.truncate(at)
    body = json.dumps(line)
    file.write(f"{_digest(body)} {body}\n".encode())
    atomic_files.sync_file(file)
  if is_new:
    atomic_files.sync_folder(path.parent)


def _digest(body: str) -> str:
  return hashlib.sha256(body.encode()).hexdigest()[:16]
