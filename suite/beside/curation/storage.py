# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Files of a curation: digests and small CSV tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import csv
import functools
import hashlib
import io
import os
import pathlib
from typing import Any

from suite.beside.curation import errors
from suite.system import atomic_files

_BLOCK = 1 << 22


def digest(path: pathlib.Path) -> str:
  """BLAKE2b-256 digest of a file in hexadecimal; an unchanged file is read once."""
  try:
    status = os.stat(path)
  except OSError as error:
    raise errors.CurationError(f"{path} cannot be read: {error.strerror}. Give a file that is "
                               "there.") from error
  return _digest(str(path), status.st_size, status.st_mtime_ns, status.st_ino)


@functools.lru_cache(maxsize=4096)
def _digest(path: str, *_: int) -> str:
  found = hashlib.blake2b(digest_size=32)
  with open(path, "rb") as file:
    for block in iter(lambda: file.read(_BLOCK), b""):
      found.update(block)
  return found.hexdigest()


def write_csv(path: pathlib.Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
  """Writes CSV in UTF-8 with a header and line feeds: equal rows give equal bytes."""
  text = io.StringIO()
  writer = csv.writer(text, lineterminator="\n")
  writer.writerow(columns)
  writer.writerows(rows)
  atomic_files.write(path, text.getvalue().encode("utf-8"))


def read_csv(path: pathlib.Path, needed: Sequence[str]) -> list[Mapping[str, str]]:
  """Reads the lines as dictionaries; raises an error if a column is missing."""
  try:
    with open(path, encoding="utf-8-sig", newline="") as file:
      reader = csv.DictReader(file, strict=True)
      columns = list(reader.fieldnames or ())
      lacking = [name for name in needed if name not in columns]
      if lacking:
        raise errors.CurationError(f"{path} has the columns {columns}, but not {lacking}. Add "
                                   f"them; needed are {', '.join(needed)}.")
      rows: list[Mapping[str, str]] = list(reader)
  except (OSError, UnicodeDecodeError, csv.Error) as error:
    raise errors.CurationError(f"{path} cannot be read as CSV in UTF-8: {error}.") from error
  for number, row in enumerate(rows, 2):
    if None in row or None in row.values():
      raise errors.CurationError(f"{path}, record {number} does not have {len(columns)} cells, as "
                                 "its header. Quote cells that hold commas.")
  return rows
