# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""MATLAB files before version 7.3, read from bytes, with DataError for any damage."""

from __future__ import annotations

from collections.abc import Sequence
import io
from typing import Any

from tfds_builders import errors
from tfds_builders.parsers import child


def read(data: bytes, where: str, names: Sequence[str], *, squeeze: bool = False) -> dict[str, Any]:
  """Returns the variables `names` of a file; DataError if it is damaged or one is missing.

  Args:
    data: the bytes of the file.
    where: its location, for messages.
    names: of its variables.
    squeeze: whether to remove axes of length 1, at every depth.
  """
  if b"MATLAB 7.3" in data[:32] or data.startswith(b"\x89HDF"):
    raise errors.DataError(f"{where} is a MATLAB 7.3 file, an older one was expected: it is of "
                           "another edition. Get the published one.")
  # scipy's reader is native code that damaged files can crash.
  found = child.call("mat", where, "a MATLAB file", data, names=list(names), squeeze=squeeze)
  lacking = [name for name in names if name not in found]
  if lacking:
    raise errors.DataError(f"{where} is missing the variables {lacking}: it is damaged or of "
                           "another edition. Get it again.")
  return {name: found[name] for name in names}


def packed(variables: dict[str, Any]) -> bytes:
  """Returns the bytes of a MATLAB file with these variables, for fixtures."""
  import scipy.io  # pylint: disable=g-import-not-at-top
  buffer = io.BytesIO()
  scipy.io.savemat(buffer, variables)
  return buffer.getvalue()
