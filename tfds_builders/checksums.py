# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Checksums of files and of their decompressed content."""

from __future__ import annotations

import hashlib
import os

from absl import logging

from tfds_builders import errors
from tfds_builders.parsers import archives
from tfds_builders.rows import row as row_lib

_BLOCK = 1 << 20


def compute(path: os.PathLike, *, content: bool = False) -> dict[str, str]:
  """Returns {"sha256": ..., "md5": ...} of the file, or of its decompressed content."""
  hashes = {"sha256": hashlib.sha256(), "md5": hashlib.md5()}
  with (archives.open_content(path) if content else open(path, "rb")) as stream, \
      archives.named_errors(path):
    for block in iter(lambda: stream.read(_BLOCK), b""):
      for one in hashes.values():
        one.update(block)
  return {name: one.hexdigest() for name, one in hashes.items()}


def verify(file: row_lib.File, path: os.PathLike, *, trust: bool) -> str:
  """Raises DataError if the row lists checksums of this file and none of them matches.

  Args:
    file: the facts.
    path: where the file is.
    trust: accept a file with another checksum, with a warning, unless its content is wrong.

  Returns:
    The file's sha256.
  """
  got = compute(path)
  if _known(got, file.checksums):
    return got["sha256"]
  if file.content_checksums:
    content = compute(path, content=True)
    if _known(content, file.content_checksums):
      return got["sha256"]
    raise errors.DataError(
        f"{path} does not hold what {file.name} should hold: its content has md5 {content['md5']} "
        f"(sha256 {content['sha256']}); known: {', '.join(file.content_checksums)}. It is damaged "
        "or belongs to another data set: replace it and build again.")
  if file.checksums and not trust:
    raise errors.DataError(
        f"Checksum mismatch: {path} has sha256 {got['sha256']} and md5 {got['md5']}; known for "
        f"{file.name}: {', '.join(file.checksums)}. If it is damaged, delete it and get it again. "
        "If it is a copy that you trust, say so: tfds_builders.mirror.use(directory, trust=True).")
  logging.warning("%s is used without a check: no known checksum of %s is its own (sha256 %s).",
                  path, file.name, got["sha256"])
  return got["sha256"]


def _known(got: dict[str, str], accepted: tuple[str, ...]) -> bool:
  return any(f"{name}:{value}" in accepted for name, value in got.items())
