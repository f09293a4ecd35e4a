# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Decoders in native code that damaged files can crash, and the program that runs them.

`child.call` starts this file as a program of its own. It answers requests on a pipe until the pipe
is closed. Values are exchanged as JSON and plain arrays, not as pickles: what reads a crafted file
may be under its control.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import io
import json
from multiprocessing import connection
import os
import resource
import sys
from typing import Any

import numpy as np

_LENGTH = 8
_MEMORY_BYTES = 2 << 30  # For a request, besides four times the size of its file.


def pack(value: Any) -> bytes:
  """Returns the bytes of a tree of arrays (of numbers, text, objects or records) and scalars."""
  parts: list[bytes] = []
  tree = json.dumps(_tree(value, parts)).encode()
  return b"".join([len(tree).to_bytes(_LENGTH, "big"), tree, *parts])


def unpack(data: bytes) -> Any:
  """Returns what `pack` was given."""
  start = _LENGTH + int.from_bytes(data[:_LENGTH], "big")
  return _value(json.loads(data[_LENGTH:start]), memoryview(data)[start:])


def _tree(value: Any, parts: list[bytes]) -> Any:
  if value is None or isinstance(value, (bool, int, float, str)):
    return {"scalar": value}
  if isinstance(value, Mapping):
    return {"dict": {key: _tree(one, parts) for key, one in value.items()}}
  if isinstance(value, (np.void, np.generic)):
    return {"element": _tree(np.asarray(value), parts)}
  if not isinstance(value, np.ndarray):
    raise TypeError(f"it holds a {type(value).__name__}, which no parser reads")
  if value.dtype.names:
    return {"record": [value.shape, {name: _tree(value[name], parts)
                                     for name in value.dtype.names}]}
  if value.dtype == object:
    return {"objects": [value.shape, [_tree(one, parts) for one in value.ravel()]]}
  start = sum(map(len, parts))
  parts.append(np.ascontiguousarray(value).tobytes())
  return {"array": [value.dtype.str, value.shape, start]}


def _value(tree: Any, data: memoryview) -> Any:
  (kind, content), = tree.items()
  if kind == "scalar":
    return content
  if kind == "dict":
    return {key: _value(one, data) for key, one in content.items()}
  if kind == "element":
    return _value(content, data)[()]
  if kind == "array":
    dtype, shape, start = content
    count = int(np.prod(shape, dtype=np.int64))
    return np.frombuffer(data, np.dtype(dtype), count, start).reshape(shape).copy() if count else (
        np.zeros(shape, np.dtype(dtype)))
  shape, inside = content
  if kind == "objects":
    found = np.empty(len(inside), object)
    for index, one in enumerate(inside):
      found[index] = _value(one, data)
    return found.reshape(shape)
  fields = {name: _value(one, data) for name, one in inside.items()}
  record = np.empty(shape, [(name, field.dtype, field.shape[len(shape):])
                            for name, field in fields.items()])
  for name, field in fields.items():
    record[name] = field
  return record


def mat(data: bytes, *, names: list[str], squeeze: bool) -> dict[str, Any]:
  """Returns variables of a MATLAB file before version 7.3."""
  import scipy.io  # pylint: disable=g-import-not-at-top
  found = scipy.io.loadmat(io.BytesIO(data), variable_names=names, squeeze_me=squeeze)
  return {name: found[name] for name in names if name in found}


def hdf5(data: bytes, *, path: str, names: list[str], start: int, stop: int) -> dict[str, Any]:
  """Returns rows start ... stop - 1 of arrays of an HDF5 file, and their whole shapes.

  An array that is only a link, or whose content is in another file, has no entry.
  """
  import h5py  # pylint: disable=g-import-not-at-top
  del data
  with h5py.File(path, "r") as file:
    found: dict[str, Any] = {"": np.array(sorted(file), str)}
    for name in names:
      array = file[name] if isinstance(file.get(name, getlink=True), h5py.HardLink) else None
      if isinstance(array, h5py.Dataset) and not array.external and not array.is_virtual:
        found[name] = {"shape": np.array(array.shape), "rows": np.asarray(array[start:stop])}
  return found


_CALLS: dict[str, Callable[..., Any]] = {"mat": mat, "hdf5": hdf5}


def _serve(pipe: connection.Connection) -> None:
  resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
  while True:
    try:
      request = json.loads(pipe.recv_bytes())
      data = pipe.recv_bytes()
    except EOFError:
      return
    _limit_memory(4 * len(data))
    try:
      answer = b"=" + pack(_CALLS[request.pop("call")](data, **request))
    except Exception as error:  # Decoders raise much.  pylint: disable=broad-except
      answer = f"!{type(error).__name__}: {error}".encode()
    pipe.send_bytes(answer)


def _limit_memory(more: int) -> None:
  if not os.path.exists("/proc/self/statm"):  # Not Linux: no limit.
    return
  with open("/proc/self/statm", encoding="ascii") as file:
    now = int(file.read().split()[0]) * resource.getpagesize()
  _, hard = resource.getrlimit(resource.RLIMIT_AS)
  resource.setrlimit(resource.RLIMIT_AS, (now + _MEMORY_BYTES + more, hard))


if __name__ == "__main__":
  sys.path.pop(0)  # The folder of parsers, which is no place to import from.
  _serve(connection.Connection(int(sys.argv[1])))
