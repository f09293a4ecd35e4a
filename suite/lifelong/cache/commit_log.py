# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""An append-only file of JSON lines; incomplete lines are ignored.

Each line begins with a digest of its body, which detects incomplete and changed lines. Files that a
line names are written and synced before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
import hashlib
import json
import pathlib
from typing import Any

from absl import logging

from suite.system import atomic_files


def read(path: pathlib.Path) -> Iterator[tuple[dict[str, Any], int]]:
  """Yields (line, byte offset of its end) of every valid line, up to the first invalid one."""
  end = 0
  for raw in path.read_bytes().splitlines(keepends=True) if path.exists() else ():
    digest, _, body = raw.decode("utf-8", "replace").rstrip("\n").partition(" ")
    if not raw.endswith(b"\n") or digest != _digest(body):
      logging.warning("%s has a damaged line: it is read up to there.", path)
      return
    end += len(raw)
    yield json.loads(body), end


def append(path: pathlib.Path, line: Mapping[str, Any], *, at: int) -> None:
  """Writes one line at byte `at`, over any incomplete line that a crash has left there."""
  body, is_new = json.dumps(line), not path.exists()
  with open(path, "ab") as file:
    file.truncate(at)
    file.write(f"{_digest(body)} {body}\n".encode())
    atomic_files.sync_file(file)
  if is_new:
    atomic_files.sync_folder(path.parent)


def _digest(body: str) -> str:
  return hashlib.sha256(body.encode()).hexdigest()[:16]
