# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""records.jsonl, one line per event: the result of a run, from which every view is made.

Values are plain JSON. A number that is not finite (NaN, infinity) becomes null, since JSON cannot
represent it and null means "unknown" in a record. Keys keep their order. Every key of a wall-clock
time starts with "seconds", so two runs of the same command are equal, byte for byte, after
`strip_times`.

The last value of a line is "digest": the SHA-256 of the previous line's digest (nothing, for the
first line) and of the line without its own digest:

  {"event": 0, "error": 0.25, "run_digest": "70be...", "digest": "9f0c..."}
  {"event": 1, "error": 0.125, "digest": "51aa..."}    of 9f0c... and {"event": 1, "error": 0.125}

"run_digest" is the run's identity, see `run_identity`: records that were copied to another run are
found. Reading verifies the digests and leaves them out. They find damage and slips, not intent: all
of them can be computed again. Files of suite 0.1 have no digests, or no identity; lines that are
added to them have digests, which cover the earlier lines, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
import errno
import hashlib
import json
import math
import os
import pathlib
import re
import sys
from typing import Any, BinaryIO

import numpy as np

from suite.state import journal
from suite.state import run_identity
from suite.system import atomic_files
from suite.system import io_errors

_REMEDY = "Restore it from a copy, or start again in a new work directory."
DIGEST_KEY = "digest"
RUN_KEY = "run_digest"  # Of the first line.
_END = re.compile(rb'(?:, )?"digest": "([0-9a-f]{64})"\}$')
_RUN = re.compile(rb'"run_digest": "([0-9a-f]{64})"\}$')


class RecordWriter:
  """Appends records to a file; each is on disk before `write` returns.

  A killed run may have left lines beyond the last saved state, or an incomplete line: call
  `truncate` with the offset in the saved state before the first `write`.

  Args:
    path: the file, in the folder of its run, which is made.
    sync: whether `write` flushes to the disk. Without it a record is only safe from the end of the
      process.
  """

  def __init__(self, path: str | os.PathLike, *, sync: bool = True) -> None:
    self.path, self._sync = pathlib.Path(path), sync
    self._chain: Chain | None = None  # None: of what is in the file.
    atomic_files.make_folder(self.path.parent)
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
    """The digest of the last record; before the first, the run's identity."""
    return self._known_chain().head

  def _known_chain(self) -> Chain:
    if self._chain is None:
      self._chain = Chain(run_identity.of(self.path.parent))
      _parse_lines(self.path.read_bytes(), str(self.path), self._chain)
    return self._chain

  def write(self, record: Mapping[str, Any]) -> int:
    """Appends one record and returns the byte offset after it; does not change `record`."""
    line = to_line(record).encode("utf-8", errors="surrogatepass")
    for key in (DIGEST_KEY, RUN_KEY):
      if key in record:
        raise ValueError(f"A record has a value {key!r}, the name of a digest of its line. Choose "
                         "another name.")
    data = self._known_chain().add(line[:-1]) + b"\n"
    if self._file.write(data) != len(data):
      raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
    if self._sync:
      atomic_files.sync_file(self._file)
    return self.offset

  def truncate(self, offset: int, digest: str | None = None,
               check: Callable[[list[dict[str, Any]]], None] = lambda records: None
               ) -> list[dict[str, Any]]:
    """Truncates the file to `offset`, a value that `write` returned (or 0); returns its records.

    An error, of `check(records)` too, leaves it as it is. `digest`: as it was after that write;
    None: not known.
    """
    chain = Chain(run_identity.of(self.path.parent))
    found = _read_until(self.path, offset, digest, chain)
    check(found)
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

  def __exit__(self, *unused_exception: Any) -> None:
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
  return read_chain(path, tolerate_torn_tail=tolerate_torn_tail)[0]


def read_chain(path: str | os.PathLike, *, tolerate_torn_tail: bool = False
               ) -> tuple[list[dict[str, Any]], list[str]]:
  """Reads all records of a file, and N + 1 digests: of the run, then that of each record."""
  chain = Chain(run_identity.of(pathlib.Path(path).parent))
  with _opened(path) as file:
    found = parse(file, name=str(path), tolerate_torn_tail=tolerate_torn_tail, chain=chain)
  return found, chain.heads


def _opened(path: str | os.PathLike) -> BinaryIO:
  try:
    return open(path, "rb")
  except FileNotFoundError:
    raise
  except OSError as error:  # A folder, a loop of links.
    if io_errors.of(error):
      raise
    raise ValueError(f"{path} cannot be read: {error.strerror}. {_REMEDY}") from error


def last(path: str | os.PathLike) -> tuple[dict[str, Any], str]:
  """Reads the last record and its digest without those between; ({}, "") of an empty file.

  Only the first and the last line are verified: whose records they are, and that the last is whole.
  """
  path = pathlib.Path(path)
  with _opened(path) as file:
    first, end = file.readline(), file.seek(0, os.SEEK_END)
    if not first.endswith(b"\n"):
      return {}, ""
    if problem := Chain(run_identity.of(path.parent)).check(first[:-1]):
      raise ValueError(f"{path}, line 1 {problem}. {_REMEDY}")
    tail, step = b"", 1 << 12
    while tail.count(b"\n") < 3 and len(tail) < end:  # The last may be torn.
      step = min(2 * step, end)
      file.seek(end - step)
      tail = file.read(step)
  line = tail[:tail.rindex(b"\n")].rsplit(b"\n", 1)[-1]
  found = _END.search(line)
  record = _parse_all([line if found is None else line[:found.start()] + b"}"], str(path), Chain())
  return record[0], found[1].decode() if found else ""


def parse(file: BinaryIO, *, name: str = "records", tolerate_torn_tail: bool = False,
          chain: Chain | None = None) -> list[dict[str, Any]]:
  """Reads all records of an open binary file; `name` is used in errors, `chain` is continued."""
  torn: list[bytes] = []

  def lines() -> Iterator[bytes]:
    for line in file:
      if line.endswith(b"\n"):
        yield line[:-1]
      else:
        torn.append(line)

  found = _parse_all(lines(), name, Chain() if chain is None else chain)
  if torn and not tolerate_torn_tail:
    raise ValueError(
        f"{name}, line {len(found) + 1} is torn: {_excerpt(torn[0])}. The run was killed while "
        "writing it; run the same command again, which cuts it off, or read with "
        "tolerate_torn_tail=True.")
  return found


def read_until(path: str | os.PathLike, offset: int, digest: str | None) -> list[dict[str, Any]]:
  """Reads the records before `offset`; an error unless they are those that end with `digest`."""
  path = pathlib.Path(path)
  return _read_until(path, offset, digest, Chain(run_identity.of(path.parent)))


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


def _parse_all(lines: Iterable[bytes], name: str, chain: Chain) -> list[dict[str, Any]]:
  found = []
  for number, line in enumerate(lines, start=1):
    where = f"{name}, line {number}"
    try:
      record = json.loads(line, object_hook=_shared_keys)
    except (ValueError, RecursionError) as error:
      raise ValueError(
          f"{where} is not JSON: {_excerpt(line)}. The file was damaged. {_REMEDY}") from error
    if not isinstance(record, dict):
      raise ValueError(
          f"{where} is {_excerpt(line)}; every line of a record file is a JSON object.")
    if problem := chain.check(line):
      raise ValueError(f"{where} {problem}. {_REMEDY}")
    record.pop(DIGEST_KEY, None)
    record.pop(RUN_KEY, None)
    found.append(record)
  return found


def _shared_keys(values: dict[str, Any]) -> dict[str, Any]:
  """The same object; all records share their keys, which else take as much memory as the values."""
  return {sys.intern(key): value for key, value in values.items()}


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

  Args:
    identity: of the run whose lines they are; "": not known.

  Attributes:
    heads: the digest that the first line continues, then that of each line.
    has_digests: whether a line had one.
  """

  def __init__(self, identity: str = "") -> None:
    self._identity = identity
    self.heads, self.has_digests = [identity], False

  @property
  def head(self) -> str:
    """The digest of the last line."""
    return self.heads[-1]

  def add(self, line: bytes) -> bytes:
    """Returns a line (a JSON object, without a newline) with its digest."""
    if len(self.heads) == 1 and self._identity:
      line = _with(line, RUN_KEY, self._identity)
    self.heads.append(self._next(line))
    self.has_digests = True
    return _with(line, DIGEST_KEY, self.head)

  def check(self, line: bytes) -> str:
    """Says what is wrong with the next line of a file, "" if nothing is."""
    end = _END.search(line)
    content = line if end is None else line[:end.start()] + b"}"
    if len(self.heads) == 1:
      of_run = _RUN.search(content)
      found = of_run[1].decode() if of_run else ""
      if found and self._identity and found != self._identity:
        return ("belongs to another run, of another configuration or learner: the digest of its "
                f"{run_identity.CONFIG} and its learner's name differs")
      self.heads = [found]  # Earlier versions began with "".
    self.heads.append(self._next(content))
    if end is None:
      return ("has no digest, as the lines before it have: something else added it"
              if self.has_digests else "")
    self.has_digests = True
    if self.head == end[1].decode():
      return ""
    self.heads[-1] = end[1].decode()
    return "is not what was written, or the line before it is not: its digest differs"

  def _next(self, line: bytes) -> str:
    return hashlib.sha256(self.head.encode() + line).hexdigest()


def _with(line: bytes, key: str, value: str) -> bytes:
  """A JSON object with one more text at its end."""
  return line[:-1] + (b", " if line != b"{}" else b"") + f'"{key}": "{value}"}}'.encode()
