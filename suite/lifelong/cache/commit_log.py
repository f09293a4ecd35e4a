# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""An append-only file of JSON lines; a last line that a crash cut short is ignored.

Each line begins with a digest of its body, which detects changed lines. Files that a line names are
written and synced before it. A line that ends with a line break was committed: if it is damaged,
what follows it was, too, and nothing may be written over it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
    ends: byte offset of the end of each.
    last: the last of them as it stands in the file.
    damage: says which line is damaged; "" if none is.
  """

  lines: list[dict[str, Any]]
  ends: list[int]
  last: bytes
  damage: str


def read(path: pathlib.Path, known: Log | None = None) -> Log:
  """Reads a file; `known` is what an earlier call returned, whose lines are not read again.

  A file that was replaced since (its last known line is not where it was) is read from its start.
  """
  if not path.exists():
    return Log([], [], b"", "")
  lines: list[dict[str, Any]] = []
  ends: list[int] = []
  last, end = b"", 0
  with open(path, "rb") as file:
    if known is not None and known.ends and not known.damage:
      file.seek(known.ends[-1] - len(known.last))
      if file.read(len(known.last)) == known.last:
        lines, ends, last, end = [*known.lines], [*known.ends], known.last, known.ends[-1]
    file.seek(end)
    for raw in file:
      if not raw.endswith(b"\n"):
        logging.warning("%s has an incomplete last line: it is read up to there.", path)
        break
      digest, _, body = raw.decode("utf-8", "replace").rstrip("\n").partition(" ")
      if digest != _digest(body):
        return Log(lines, ends, last, f"{path} is damaged in line {len(lines) + 1}")
      end += len(raw)
      lines.append(json.loads(body))
      ends.append(end)
      last = raw
  return Log(lines, ends, last, "")


def append(path: pathlib.Path, line: Mapping[str, Any], *, at: int) -> None:
  """Writes one line at byte `at`, over any incomplete line that a crash has left there."""
  is_new = not path.exists()
  with open(path, "ab") as file:
    file.truncate(at)
    file.write(_raw(line))
    atomic_files.sync_file(file)
  if is_new:
    atomic_files.sync_folder(path.parent)


def replace(path: pathlib.Path, lines: Iterable[Mapping[str, Any]]) -> None:
  """Replaces the whole file; readers see either the old or the new lines."""
  atomic_files.write(path, b"".join(map(_raw, lines)))


def _raw(line: Mapping[str, Any]) -> bytes:
  body = json.dumps(line)
  return f"{_digest(body)} {body}\n".encode()


def _digest(body: str) -> str:
  return hashlib.sha256(body.encode()).hexdigest()[:16]
