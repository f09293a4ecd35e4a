# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Reader of .safetensors files: an 8-byte header length, a JSON header, and the arrays' bytes.

The format holds no code. Lengths, types, shapes and places are checked before any array is read;
arrays are mapped, so that only those which are used take memory.
"""

from __future__ import annotations

from collections.abc import Mapping
import json
import math
import pathlib
from typing import Any

import numpy as np

MAX_HEADER = 100_000_000  # The format's own bound.
_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4",
          "I16": "<i2", "I8": "i1", "U8": "u1", "BOOL": "?"}


def read(path: pathlib.Path) -> Mapping[str, np.ndarray]:
  """Reads all arrays by name; floats of any width become float32."""
  size = path.stat().st_size
  with open(path, "rb") as file:
    start = file.read(8)
    length = int.from_bytes(start, "little")
    sensible = len(start) == 8 and 2 <= length <= min(MAX_HEADER, size - 8)
    if not sensible and start.startswith((b"PK", b"\x80")):
      raise ValueError(
          f"{path} is a PyTorch archive, which holds pickled objects and is not read. Convert it "
          "where you trust it: safetensors.torch.save_file(torch.jit.load(PATH).state_dict(), "
          "'model.safetensors'), for files of OpenAI.")
    if not sensible:
      raise ValueError(f"{path} of {size} bytes is no .safetensors file: its header would take "
                       f"{length} bytes. Copy it again.")
    header = _header(path, file.read(length))
  begin = 8 + length
  _check_places(path, header, size - begin)
  data = np.memmap(path, np.uint8, "r", offset=begin, shape=(size - begin,)) if (
      size > begin) else np.zeros(0, np.uint8)
  return {name: _array(data, entry) for name, entry in header.items()}


def _header(path: pathlib.Path, text: bytes) -> dict[str, Any]:
  try:
    found = json.loads(text.decode("utf-8"))
  except (UnicodeDecodeError, ValueError, RecursionError) as error:
    raise ValueError(f"The header of {path} is no JSON: {str(error)[:100]}. Copy the file again."
                     ) from error
  if not isinstance(found, dict):
    raise ValueError(f"The header of {path} is no JSON object. Copy the file again.")
  found.pop("__metadata__", None)
  return found


def _check_places(path: pathlib.Path, header: Mapping[str, Any], size: int) -> None:
  """Raises an error unless the arrays fill the data without gap or overlap."""
  for name, entry in header.items():
    if not (isinstance(entry, dict) and entry.get("dtype") in _TYPES and
            _naturals(entry.get("shape")) and _naturals(entry.get("data_offsets")) and
            len(entry["data_offsets"]) == 2):
      raise ValueError(f"{path}: the entry {name!r} is {str(entry)[:100]}; needed are a dtype of "
                       f"{', '.join(_TYPES)}, a shape and two data_offsets.")
    width = np.dtype(_TYPES[entry["dtype"]]).itemsize * math.prod(entry["shape"])
    first, last = entry["data_offsets"]
    if last - first != width or last > size:
      raise ValueError(f"{path}: {name!r} of shape {entry['shape']} takes {width} bytes, but is "
                       f"said to be bytes {first} to {last} of {size}. Copy the file again.")
  end = 0
  for first, last in sorted(entry["data_offsets"] for entry in header.values()):
    if first != end:
      raise ValueError(f"{path}: arrays overlap or leave a gap at byte {first}. Copy it again.")
    end = last
  if end != size:
    raise ValueError(f"{path}: the arrays end at byte {end} of {size}. Copy the file again.")


def _naturals(values: Any) -> bool:
  return isinstance(values, list) and all(type(v) is int and 0 <= v < 1 << 48 for v in values)


def _array(data: np.ndarray, entry: Mapping[str, Any]) -> np.ndarray:
  first, last = entry["data_offsets"]
  found = np.frombuffer(data[first:last].tobytes(), _TYPES[entry["dtype"]])
  if entry["dtype"] == "BF16":  # The upper half of a float32.
    found = (found.astype(np.uint32) << 16).view(np.float32)
  if found.dtype.kind == "f":
    found = found.astype(np.float32)
  return found.reshape(entry["shape"])
