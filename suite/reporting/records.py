# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""records.jsonl, one line per event: the result of a run, from which every view is made.

Values are plain JSON. A number that is not finite (NaN, infinity) becomes null, since JSON cannot
represent it and null means "unknown" in a record. Keys keep their order. Every key of a wall-clock
time starts with "seconds", so two runs of the same command are equal, byte for byte, after
`strip_times`.

The last value of a line is "digest": the SHA-256 of the previous line's digest (nothing, for the
first line) and of the line without its own digest:

  {"event": 0, "error": 0.25, "digest": "9f0c..."}
  {"event": 1, "error": 0.125, "digest": "51aa..."}    of 9f0c... and {"event": 1, "error": 0.125}

Reading verifies the digests and leaves them out. They find damage and slips of an editor, not
intent: all of them can be computed again. Files of suite 0.1 have no digests; lines that are added
to them do, and cover the earlier lines, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import errno
import hashlib
import json
import math
import os
import pathlib
import re
from typing import Any, BinaryIO

import numpy as np

from suite.state import journal
from suite.system import atomic_files

_REMEDY = "Restore it from a copy, or start again in a new work directory."
DIGEST_KEY = "digest"
_END = re.compile(rb'(?:, )?"digest": "([0-9a-f]{64})"\}$')


class RecordWriter:
  """Appends records to a file; each is on disk before `write` returns.

  A killed run may have left lines beyond the last saved state, or an incomplete line: call
  `truncate` with the offset in the saved state before the first `write`.

  Args:
    path: the file; its folder is made.
    sync: whether `write` flushes to the disk. Without it a record is only safe from the end of the
      process.
  """

  def __init__(self, path: str | os.PathLike, *, sync: bool = True):
    self.path, self._sync = pathlib.Path(path), sync
    self._chain: Chain | None = None  # None: of what is in the file.
    self.path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not self.path.exists()
    # Without a buffer: what a full disk refused must not be tried again by `close`.
    self._file = open(self.path, "ab", buffering=0)  # noqa: SIM115 (closed by close)
    self._file.seek(0, os.SEEK_END)
    if is_new:
      atomic_files.sync_folder(self.path.parent)

  @property
  def offset(self) -> int:
    """Size of the file in bytes, the offset of the next record."""
    return self._file.tell()

  @property
  def digest(self) -> str:
    """The digest of the last record."""
    return self._known_chain().head

  def _known_chain(self) -> Chain:
    if self._chain is None:
      self._chain = Chain()
      _parse_lines(self.path.read_bytes(), str(self.path), self._chain)
    return self._chain

  def write(self, record: Mapping[str, Any]) -> int:
    """Appends one record and returns the byte offset after it; does not change `record`."""
    line = to_line(record).encode("utf-8", errors="surrogatepass")
    if DIGEST_KEY in record:
      raise ValueError(f"A record has a value {DIGEST_KEY!r}, the name of the digest of its "
                       "line. Choose another name.")
    data = self._known_chain().add(line[:-1]) + b"\n"
    if self._file.write(data) != len(data):
      raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
    if self._sync:
      atomic_files.sync_file(self._file)
    return self.offset

  def truncate(self, offset: int, digest: str | None = None) -> list[dict[str, Any]]:
    """Truncates the file to `offset`, a value that `write` returned (or 0); returns its records.

    An error leaves it as it is. `digest`: as it was after that write; None: not known.
    """
    chain = Chain()
    found = _read_until(self.path, offset, digest, chain)
    self._chain = chain
    if offset < self.offset:
      self._file.truncate(offset)
      self._file.seek(offset)
      atomic_files.sync_file(self._file)
    return found

  def close(self) -> None:
    self._file.close()

  def __enter__(self) -> RecordWriter:
    return self

  def __exit__(self, *unused_exception) -> None:
    self.close()


def to_line(record: Mapping[str, Any]) -> str:
  """Formats a record as the line that `write` appends, newline included."""
  if not isinstance(record, Mapping):
    raise TypeError(f"A record is a mapping of names to plain values, got {type(record).__name__}.")
  return json.dumps(to_plain(record), allow_nan=False, ensure_ascii=False) + "\n"


def to_plain(value: Any, where: str = "record") -> Any:
  """Converts to dict, list, str, int, float, bool and None; `where` names the value in errors."""
  if value is None or isinstance(value, (bool, str)):
    return value
  if isinstance(value, (np.generic, np.ndarray)):
    return to_plain(value.tolist(), where)
  if isinstance(value, int):
    return int(value)
  if isinstance(value, float):
    return float(value) if math.isfinite(value) else None
  if isinstance(value, (list, tuple)):
    if journal.are_plain(value):
      return list(value)
    return [to_plain(item, f"{where}[{i}]") for i, item in enumerate(value)]
  if isinstance(value, Mapping):
    for key in value:
      if not isinstance(key, str):
        raise TypeError(f"{where} has the key {key!r}; the keys of a record are strings.")
    return {key: to_plain(item, f"{where}.{key}") for key, item in value.items()}
  raise TypeError(
      f"{where} is of type {type(value).__name__}; a record holds numbers, strings, booleans, "
      "None, lists and dicts of them, and numpy values. Convert it before writing.")


def read(path: str | os.PathLike, *, tolerate_torn_tail: bool = False) -> list[dict[str, Any]]:
  """Reads all records of a file.

  A last line without a newline is incomplete ("torn"): the process was killed while writing it.
  This is an error unless `tolerate_torn_tail`, which drops the line; an invalid line elsewhere is
  always an error.
  """
  with open(path, "rb") as file:
    return parse(file, name=str(path), tolerate_torn_tail=tolerate_torn_tail)


def parse(file: BinaryIO, *, name: str = "records", tolerate_torn_tail: bool = False,
          ) -> list[dict[str, Any]]:
  """Reads all records of an open binary file; `name` is used in errors."""
  lines = file.read().split(b"\n")
  torn = lines.pop()  # b"" where the file ends with a newline.
  if torn and not tolerate_torn_tail:
    raise ValueError(
        f"{name}, line {len(lines) + 1} is torn: {_excerpt(torn)}. The run was killed while "
        "writing it; run the same command again, which cuts it off, or read with "
        "tolerate_torn_tail=True.")
  return _parse_all(lines, name, Chain())


def read_until(path: str | os.PathLike, offset: int, digest: str | None) -> list[dict[str, Any]]:
  """Reads the records before `offset`; an error unless they are those that end with `digest`."""
  return _read_until(pathlib.Path(path), offset, digest, Chain())


def _read_until(path: pathlib.Path, offset: int, digest: str | None, chain: Chain
                ) -> list[dict[str, Any]]:
  size = path.stat().st_size
  if not 0 <= offset <= size:
    raise ValueError(
        f"Cannot cut {path} to {offset} bytes: it has {size}. The saved state is of another run, "
        f"or records were lost. {_REMEDY}")
  with open(path, "rb") as file:
    content = file.read(offset)
  if offset and not content.endswith(b"\n"):
    raise ValueError(
        f"Cannot cut {path} at byte {offset}: no record ends there. The file was edited since the "
        f"state was saved. {_REMEDY}")
  found = _parse_lines(content, str(path), chain)
  if digest is not None and chain.head != digest:
    raise ValueError(f"{path} has other records than when the state was saved. {_REMEDY}")
  return found


def _parse_lines(content: bytes, name: str, chain: Chain) -> list[dict[str, Any]]:
  """The records of whole lines; continues the chain."""
  return _parse_all(content.split(b"\n")[:-1], name, chain)


def _parse_all(lines: Sequence[bytes], name: str, chain: Chain
               ) -> list[dict[str, Any]]:
  found = []
  for number, line in enumerate(lines, start=1):
    where = f"{name}, line {number}"
    try:
      record = json.loads(line)
    except ValueError as error:
      raise ValueError(
          f"{where} is not JSON: {_excerpt(line)}. The file was damaged. {_REMEDY}") from error
    if not isinstance(record, dict):
      raise ValueError(
          f"{where} is {_excerpt(line)}; every line of a record file is a JSON object.")
    if problem := chain.check(line):
      raise ValueError(f"{where} {problem}. {_REMEDY}")
    record.pop(DIGEST_KEY, None)
    found.append(record)
  return found


def strip_times(value: Any) -> Any:
  """Copies records or lists without the keys that start with "seconds", at any depth."""
  if isinstance(value, Mapping):
    return {k: strip_times(v) for k, v in value.items() if not k.startswith("seconds")}
  if isinstance(value, (list, tuple)):
    return [strip_times(item) for item in value]
  return value


def diff(a: Any, b: Any, where: str = "") -> list[str]:
  """Lists the differences between two records or lists of records, one line each.

  An integer and a float of equal value differ, as their JSON does; NaN equals NaN.
  """
  lines = []
  if isinstance(a, Mapping) and isinstance(b, Mapping):
    prefix = f"{where}." if where else ""
    for key in [*a, *(key for key in b if key not in a)]:
      if key not in b:
        lines.append(f"{prefix}{key}: only in the first, {a[key]!r}")
      elif key not in a:
        lines.append(f"{prefix}{key}: only in the second, {b[key]!r}")
      else:
        lines.extend(diff(a[key], b[key], f"{prefix}{key}"))
    return lines
  if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
    for i, (x, y) in enumerate(zip(a, b)):
      lines.extend(diff(x, y, f"{where}[{i}]"))
    if len(a) != len(b):
      lines.append(f"{where or 'list'}: {len(a)} items in the first, {len(b)} in the second")
    return lines
  if type(a) is type(b) and (a == b or a != a and b != b):  # NaN differs from itself.
    return []
  return [f"{where or 'value'}: {a!r} != {b!r}"]


def _excerpt(line: bytes) -> str:
  text = line.decode("utf-8", errors="replace")
  return repr(text if len(text) <= 60 else f"{text[:57]}...")


class Chain:
  """The digests of the lines so far.

  Attributes:
    head: digest of the last line, "" before the first.
    has_digests: whether a line had one.
  """

  def __init__(self):
    self.head, self.has_digests = "", False

  def add(self, line: bytes) -> bytes:
    """Returns a line (a JSON object, without a newline) with its digest."""
    self.head, self.has_digests = self._next(line), True
    comma = b", " if line != b"{}" else b""
    return line[:-1] + comma + f'"{DIGEST_KEY}": "{self.head}"}}'.encode()

  def check(self, line: bytes) -> str:
    """Says what is wrong with the next line of a file, "" if nothing is."""
    end = _END.search(line)
    if end is None:
      if self.has_digests:
        return "has no digest, as the lines before it have: something else added it"
      self.head = self._next(line)
      return ""
    own, self.has_digests = end[1].decode(), True
    expected = self._next(line[:end.start()] + b"}")
    self.head = own
    return "" if own == expected else (
        "is not what was written, or the line before it is not: its digest differs")

  def _next(self, line: bytes) -> str:
    return hashlib.sha256(self.head.encode() + line).hexdigest()
