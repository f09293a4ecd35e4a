# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""JSON files with a digest of their values, so that a damaged or edited one is not taken for whole.

    text(values)   {"a": 1, ..., "digest": "9f86..."}; line(values): as a line of a log
    read(path)     the values; an error of one line if they are not what was written
    load(path)     the same, with the path and what to do in the error

A file without a digest, of an earlier version, is read as it is, unless the caller asks for one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
import hashlib
import json
import os
import pathlib
from typing import Any

from suite.system import io_errors

DIGEST = "digest"
_MAX_BYTES = 1 << 28


def digest(values: Mapping[str, Any]) -> str:
  """The digest of values without their own."""
  plain = {key: value for key, value in values.items() if key != DIGEST}
  return hashlib.sha256(json.dumps(plain).encode()).hexdigest()


def text(values: Mapping[str, Any]) -> str:
  """The values as JSON with their digest."""
  assert DIGEST not in values, "the name is taken"
  return json.dumps({**values, DIGEST: digest(values)}, indent=1)


def line(values: Mapping[str, Any]) -> str:
  """The values as one line of JSON with their digest."""
  assert DIGEST not in values, "the name is taken"
  return json.dumps({**values, DIGEST: digest(values)}) + "\n"


def load(path: pathlib.Path, what: str, instead: str, keys: Iterable[str] = (),
         error: type[ValueError] = ValueError, *, or_none: bool = False) -> dict[str, Any]:
  """Reads the values of a file.

  Args:
    path: of the file.
    what: the kind of file, and `instead`: what to do, for the error.
    keys: that the values must have.
    error: its class.
    or_none: whether the file may be missing: its values are {} then.
  """
  try:
    values = read(path)
    if or_none and not values:
      return {}
    if missing := [key for key in keys if key not in values]:
      raise ValueError(f"it has no {', '.join(missing)}" if values else "there is none")
    return values
  except ValueError as found:
    raise error(f"{path} is damaged, or no {what} ({found!s:.200}). {instead}") from found


def read(path: pathlib.Path, *, needs_digest: bool = False) -> dict[str, Any]:
  """Reads the values of a file; {} if it does not exist.

  Args:
    path: of the file.
    needs_digest: whether a file without a digest is refused, too.

  Raises:
    ValueError: what is wrong with it, without its path.
  """
  if not os.path.lexists(path):
    return {}
  try:
    if path.stat().st_size > _MAX_BYTES:
      raise ValueError(f"it has more than {_MAX_BYTES:,} bytes")
    return parsed(path.read_text(encoding="utf-8"), needs_digest=needs_digest)
  except IsADirectoryError as error:
    raise ValueError("it is a folder") from error
  except OSError as error:
    if io_errors.of(error):
      raise
    raise ValueError(f"it cannot be read: {error.strerror}") from error


def parsed(content: str, *, needs_digest: bool = False) -> dict[str, Any]:
  """The values of a text; a ValueError as that of `read`."""
  try:
    values = json.loads(content)
  except RecursionError as error:
    raise ValueError("it is nested too deeply") from error
  if not isinstance(values, dict) or not values:
    raise ValueError("it is no object with values")
  if DIGEST not in values and needs_digest:
    raise ValueError("it has no digest")
  if digest(values) != values.pop(DIGEST, digest(values)):
    raise ValueError("its digest differs from its values")
  return values
