# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Calls of native decoders in a child process: a crash, a hang or a bomb there is a DataError here.

One child serves all calls of a process; after a crash the next call starts another.
"""

from __future__ import annotations

import json
from multiprocessing import connection
import os
import subprocess
import sys
from typing import Any

from tfds_builders import errors
from tfds_builders.parsers import child_decoders

# Seconds for a call, besides one for each 5 MB.
PATIENCE = 120.0

_children: dict[int, tuple[subprocess.Popen, connection.Connection]] = {}  # By process: forks.


def call(name: str, where: str, kind: str, data: bytes = b"", **arguments: Any) -> Any:
  """Returns what a function of `child_decoders` does; DataError if it fails in any way.

  Args:
    name: of the function.
    where: the file, and kind: what it is read as, "a MATLAB file", for messages.
    data: content of the file.
    arguments: plain JSON.
  """
  process, pipe = _child()
  patience = PATIENCE + len(data) / 5e6
  try:
    pipe.send_bytes(json.dumps({"call": name, **arguments}).encode())
    pipe.send_bytes(data)
    if not pipe.poll(patience):
      raise errors.DataError(f"{where} was not read as {kind} within {patience:.0f} seconds. It is "
                             "damaged: get it again.")
    answer = pipe.recv_bytes()
  except (EOFError, OSError) as error:
    _end()
    raise errors.DataError(f"{where} crashes the decoder of {kind} (exit code "
                           f"{process.wait()}). It is damaged: get it again.") from error
  except BaseException:  # What comes later would be the answer of this call.
    _end()
    raise
  if answer[:1] == b"!":
    raise errors.DataError(f"{where} cannot be read as {kind}: "
                           f"{answer[1:].decode('utf-8', 'replace')}. It is damaged or of another "
                           "edition: get it again.")
  return child_decoders.unpack(answer[1:])


def _child() -> tuple[subprocess.Popen, connection.Connection]:
  if os.getpid() not in _children:
    _children.clear()  # Those of the parent of this process.
    ours, theirs = connection.Pipe()
    process = subprocess.Popen(  # pylint: disable=consider-using-with
        [sys.executable, child_decoders.__file__, str(theirs.fileno())],
        pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    theirs.close()
    _children[os.getpid()] = process, ours
  return _children[os.getpid()]


def _end() -> None:
  process, pipe = _children.pop(os.getpid())
  pipe.close()
  process.kill()
  process.wait()
