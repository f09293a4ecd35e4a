# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A safe reader of the files that `torch.save` writes: dictionaries, lists and tensors of numbers.

Such a file holds a pickle, and unpickling can run any code. Nothing is unpickled here:
`pickletools` lists the pickle's opcodes without running them, and those that build dictionaries,
lists, tuples, texts, numbers and tensors are interpreted. Anything else, such as another class, is
refused. Both formats are read: the zip of torch 1.6 and later, and the earlier stream.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import io
import pickletools
import struct
from typing import Any, NamedTuple
import zipfile
import zlib

import numpy as np

from tfds_builders import errors

_DTYPES = {"FloatStorage": "<f4", "DoubleStorage": "<f8", "HalfStorage": "<f2",
           "LongStorage": "<i8", "IntStorage": "<i4", "ShortStorage": "<i2", "CharStorage": "<i1",
           "ByteStorage": "<u1", "BoolStorage": "?"}
_REBUILD = ("torch._utils _rebuild_tensor_v2", "torch._utils _rebuild_tensor")
_PARAMETER = "torch._utils _rebuild_parameter"
_ORDERED = "collections OrderedDict"
_MAGIC = 0x1950A86A20F9469CFC6C
_MAX_BYTES = 512 << 20
_MARK = object()


class _Global(NamedTuple):
  """A global name in a pickle; it is never imported."""

  name: str


class _Storage(NamedTuple):
  """The flat values of tensors: their type and their key in the file."""

  dtype: str
  key: str
  size: int


class _Tensor(NamedTuple):
  """A view of a storage, in elements."""

  storage: _Storage
  offset: int
  shape: tuple[int, ...]
  strides: tuple[int, ...]


def load(data: bytes, where: str) -> Any:
  """Returns the content of a .pth file, with NumPy arrays for tensors; DataError if unsafe.

  Args:
    data: the file's bytes.
    where: the location of the file, for messages.
  """
  try:
    return _from_zip(data) if data.startswith(b"PK") else _from_stream(data)
  except errors.DataError as error:
    raise errors.DataError(f"{where}: {error}") from error
  except (ValueError, KeyError, IndexError, TypeError, struct.error, EOFError, OverflowError,
          RuntimeError, MemoryError, zlib.error, zipfile.BadZipFile) as error:
    raise errors.DataError(
        f"{where} cannot be read as a file of torch.save: {type(error).__name__}: {error}. It is "
        "damaged or another file: get it again.") from error


def _from_zip(data: bytes) -> Any:
  with zipfile.ZipFile(io.BytesIO(data)) as archive:
    if sum(info.file_size for info in archive.infolist()) > _MAX_BYTES:
      raise errors.DataError(f"It unpacks to more than {_MAX_BYTES} bytes.")
    pickles = [name for name in archive.namelist() if name.endswith("/data.pkl")]
    if len(pickles) != 1:
      raise errors.DataError("It is a zip, but holds no data.pkl: it is not from torch.save.")
    root = pickles[0][:-len("data.pkl")]
    if f"{root}byteorder" in archive.namelist() and archive.read(f"{root}byteorder") != b"little":
      raise errors.DataError("It was written by a big-endian machine, which is not supported.")
    value = _interpret(io.BytesIO(archive.read(pickles[0])))
    return _filled(value, lambda key: archive.read(f"{root}data/{key}"))


def _from_stream(data: bytes) -> Any:
  stream = io.BytesIO(data)
  if _interpret(stream) != _MAGIC:
    raise errors.DataError("It does not begin like a file of torch.save.")
  _interpret(stream)  # The version of the protocol.
  _interpret(stream)  # Byte order and sizes of the machine that wrote it.
  value = _interpret(stream)
  sizes: dict[str, _Storage] = {}
  _replaced(value, lambda tensor: sizes.setdefault(tensor.storage.key, tensor.storage), {})
  found: dict[str, bytes] = {}
  for key in _interpret(stream):
    count, = struct.unpack("<q", stream.read(8))
    item = np.dtype(sizes[key].dtype).itemsize
    found[key] = stream.read(count * item)
  return _filled(value, found.__getitem__)


def _interpret(stream: io.BytesIO) -> Any:
  """Interprets one pickle; tensors become `_Tensor`."""
  stack: list[Any] = []
  memo: dict[int, Any] = {}
  argument: Any
  for opcode, argument, _ in pickletools.genops(stream):
    name = opcode.name
    if name == "STOP":
      return stack.pop()
    if name in _PUSH:
      stack.append(_PUSH[name](argument))
    elif name in ("BINPUT", "LONG_BINPUT", "PUT"):
      memo[int(argument)] = stack[-1]
    elif name == "MEMOIZE":
      memo[len(memo)] = stack[-1]
    elif name in ("BINGET", "LONG_BINGET", "GET"):
      stack.append(memo[int(argument)])
    elif name in _STACK:
      _STACK[name](stack)
    elif name not in ("PROTO", "FRAME"):
      raise errors.DataError(f"It needs the pickle operation {name}, which is not supported: only "
                             "dictionaries, lists, texts, numbers and tensors are read.")
  raise EOFError("the pickle has no end")


_PUSH: Mapping[str, Callable[[Any], Any]] = {
    "MARK": lambda _: _MARK, "NONE": lambda _: None, "NEWTRUE": lambda _: True,
    "NEWFALSE": lambda _: False, "EMPTY_DICT": lambda _: {}, "EMPTY_LIST": lambda _: [],
    "EMPTY_TUPLE": lambda _: (), "GLOBAL": _Global,
    **dict.fromkeys(("BININT", "BININT1", "BININT2", "LONG1", "LONG4", "INT", "LONG", "BINFLOAT",
                     "FLOAT", "BINUNICODE", "SHORT_BINUNICODE", "UNICODE", "BINUNICODE8"),
                    lambda value: value)}


def _pop_mark(stack: list[Any]) -> list[Any]:
  """Removes the last mark and returns the values above it."""
  place = max(index for index, value in enumerate(stack) if value is _MARK)
  values = stack[place + 1:]
  del stack[place:]
  return values


def _pop(stack: list[Any], count: int) -> tuple[Any, ...]:
  if len(stack) < count:
    raise ValueError("the pickle takes more than there is")
  values = tuple(stack[-count:])
  del stack[-count:]
  return values


def _set_items(stack: list[Any], values: Any) -> None:
  if not isinstance(stack[-1], dict):
    raise errors.DataError(f"It sets items of a {type(stack[-1]).__name__}.")
  stack[-1].update(zip(values[::2], values[1::2]))


def _extend(stack: list[Any], values: Any) -> None:
  if not isinstance(stack[-1], list):
    raise errors.DataError(f"It appends to a {type(stack[-1]).__name__}.")
  stack[-1].extend(values)


def _reduce(stack: list[Any]) -> None:
  """Interprets the calls in files of tensors; no call is made, and others are refused."""
  function, arguments = _pop(stack, 2)
  called = function.name if isinstance(function, _Global) else function
  if called == _ORDERED and not arguments:
    stack.append({})
  elif called in _REBUILD and isinstance(arguments[0], _Storage):
    storage, offset, shape, strides = arguments[:4]
    if not all(isinstance(number, int) and number >= 0 for number in (offset, *shape, *strides)):
      raise ValueError(f"a tensor of shape {shape}, strides {strides}")
    stack.append(_Tensor(storage, offset, tuple(shape), tuple(strides)))
  elif called == _PARAMETER and isinstance(arguments[0], _Tensor):
    stack.append(arguments[0])
  else:
    raise errors.DataError(f"It would call {called!r}; files that run code are not read.")


def _build(stack: list[Any]) -> None:
  """Drops the versions of layers, `_metadata`, that state dictionaries carry; nothing else."""
  state, = _pop(stack, 1)
  if not (isinstance(stack[-1], dict) and isinstance(state, dict) and set(state) == {"_metadata"}):
    raise errors.DataError(f"It sets attributes of a {type(stack[-1]).__name__}; only "
                           "dictionaries, lists, texts, numbers and tensors are read.")


def _persistent(stack: list[Any]) -> None:
  identity, = _pop(stack, 1)
  kind, storage, key, _, size = identity[:5]
  name = storage.name.split(" ")[-1] if isinstance(storage, _Global) else ""
  if kind != "storage" or name not in _DTYPES:
    raise errors.DataError(f"It holds a storage of kind {storage!r}; known: {sorted(_DTYPES)}.")
  stack.append(_Storage(_DTYPES[name], str(key), int(size)))


_STACK: Mapping[str, Callable[[list[Any]], None]] = {
    "TUPLE": lambda stack: stack.append(tuple(_pop_mark(stack))),
    "TUPLE1": lambda stack: stack.append(_pop(stack, 1)),
    "TUPLE2": lambda stack: stack.append(_pop(stack, 2)),
    "TUPLE3": lambda stack: stack.append(_pop(stack, 3)),
    "LIST": lambda stack: stack.append(_pop_mark(stack)),
    "SETITEM": lambda stack: _set_items(stack, _pop(stack, 2)),
    "SETITEMS": lambda stack: _set_items(stack, _pop_mark(stack)),
    "APPEND": lambda stack: _extend(stack, _pop(stack, 1)),
    "APPENDS": lambda stack: _extend(stack, _pop_mark(stack)),
    "POP": lambda stack: stack.pop() and None,
    "STACK_GLOBAL": lambda stack: stack.append(_Global(" ".join(_pop(stack, 2)))),
    "REDUCE": _reduce,
    "BUILD": _build,
    "BINPERSID": _persistent,
}


def _filled(value: Any, read: Callable[[str], bytes]) -> Any:
  """Returns the same structure with arrays in place of tensors."""
  return _replaced(value, lambda tensor: _array(tensor, read(tensor.storage.key)), {})


def _replaced(value: Any, replace: Callable[[_Tensor], Any], done: dict[int, Any]) -> Any:
  """Returns the structure with `replace` of each tensor; shared parts stay shared (`done`)."""
  if id(value) in done:
    return done[id(value)]
  made = value
  if isinstance(value, _Tensor):
    made = replace(value)
  elif isinstance(value, dict):
    made = {key: _replaced(part, replace, done) for key, part in value.items()}
  elif isinstance(value, (list, tuple)) and not isinstance(value, (_Global, _Storage)):
    made = type(value)(_replaced(part, replace, done) for part in value)
  done[id(value)] = made
  return made


def _array(tensor: _Tensor, data: bytes) -> np.ndarray:
  flat = np.frombuffer(data, tensor.storage.dtype)
  if len(tensor.shape) != len(tensor.strides):
    raise ValueError(f"a tensor of shape {tensor.shape} with strides {tensor.strides}")
  if 0 in tensor.shape:
    return np.zeros(tensor.shape, flat.dtype)
  last = tensor.offset + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.strides))
  if last >= len(flat):
    raise ValueError(f"a tensor of shape {tensor.shape} is larger than its storage")
  steps = [step * flat.itemsize for step in tensor.strides]
  view = np.lib.stride_tricks.as_strided(flat[tensor.offset:], tensor.shape, steps)
  if view.nbytes > _MAX_BYTES:  # A stride of 0 repeats values without limit.
    raise errors.DataError(f"A tensor of shape {tensor.shape} has more than {_MAX_BYTES} bytes.")
  return view.copy()
