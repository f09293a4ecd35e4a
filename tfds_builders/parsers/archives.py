# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Safe reading of archives as streams of (member name, bytes).

Nothing is unpacked to disk. Formats are detected from the first bytes, not from file names.
"""

from __future__ import annotations

import bz2
from collections.abc import Callable, Iterator
import contextlib
import gzip
import lzma
import os
import re
import stat
import struct
import tarfile
from typing import IO, cast
import zipfile
import zlib

from tfds_builders import errors
from tfds_builders.parsers import rar
from tfds_builders.parsers import tar_headers

MAX_MEMBER_BYTES = 256 << 20
# An archive may hold 1 GiB, or 200 times its size if that is more (published ones reach 100, for
# tables of zeros). Larger content is treated as a decompression bomb.
MAX_TOTAL_BYTES = 1 << 30
MAX_RATIO = 200
_BLOCK = 1 << 20

_OPENERS = ((b"\x1f\x8b", gzip.open), (b"\xfd7zXZ\x00", lzma.open), (b"BZh", bz2.open))
# What the standard library raises on damaged headers goes beyond its own errors.
_DAMAGE = (EOFError, OSError, lzma.LZMAError, zlib.error, tarfile.TarError, zipfile.BadZipFile,
           NotImplementedError, ValueError, LookupError, ArithmeticError, TypeError, struct.error,
           MemoryError, RecursionError)

Member = tuple[str, bytes]


@contextlib.contextmanager
def named_errors(path: os.PathLike, member: str = "") -> Iterator[None]:
  """Converts the standard library's errors on damaged archives to a DataError that names them."""
  try:
    yield
  except tar_headers.HeaderError as error:
    raise errors.DataError(f"{path} is not read. {error}") from error
  except errors.DataError:
    raise
  except _DAMAGE as error:
    where = f"{path}, member {member!r}" if member else f"{path}"
    raise errors.DataError(
        f"{where} cannot be read: {type(error).__name__}: {error}. The file is truncated or "
        "damaged: get it again (delete this copy first), then build again.") from error


def open_content(path: str | os.PathLike) -> IO[bytes]:
  """Opens the file, decompressed if it is gzip, xz or bzip2."""
  with open(path, "rb") as stream:
    magic = stream.read(6)
  for start, opener in _OPENERS:
    if magic.startswith(start):
      return cast(IO[bytes], opener(path, "rb"))
  return open(path, "rb")


def read_content(path: os.PathLike, max_bytes: int = MAX_MEMBER_BYTES) -> bytes:
  """Returns the decompressed content of one file."""
  with named_errors(path), open_content(path) as stream:
    data = stream.read(max_bytes + 1)
  if len(data) > max_bytes:
    raise errors.DataError(f"{path} holds more than the {max_bytes} bytes that are allowed here.")
  return data


def members(path: os.PathLike, wanted: Callable[[str], bool] = lambda name: True,
            max_bytes: int = MAX_MEMBER_BYTES) -> Iterator[Member]:
  """Yields the wanted files of a zip, tar(.gz, .xz, .bz2) or rar, in one pass.

  Members come in stored order (for a zip, that of its directory). Only a draw that is documented as
  positional may depend on it. Members with unsafe names, links and devices are errors, wanted or
  not; files that macOS adds ("__MACOSX", "._x", ".DS_Store") are left out.
  """
  with named_errors(path), open(path, "rb") as stream:
    magic = stream.read(4)
  if magic == b"Rar!":
    yield from rar.members(path, lambda name: not _is_debris(name) and wanted(name), max_bytes)
    return
  read = _zip_members if magic.startswith(b"PK") else _tar_members
  with named_errors(path):
    yield from read(path, lambda name: not _is_debris(name) and wanted(name), max_bytes)


def names(path: os.PathLike) -> Iterator[str]:
  """Yields the names of all files of an archive in stored order; a zip is not read."""
  with open(path, "rb") as stream:
    is_zip = stream.read(2) == b"PK"
  if not is_zip:
    yield from (name for name, _ in members(path))
    return
  with named_errors(path), zipfile.ZipFile(path) as archive:
    for info in archive.infolist():
      name = _checked_name(path, info.filename)
      if not info.is_dir() and not _is_debris(name):
        yield name


def base_name(name: str) -> str:
  """Returns the name of a member without its folders."""
  return name.rsplit("/", 1)[-1]


def stem(name: str) -> str:
  """Returns the name of a member without its folders and its last extension."""
  return base_name(name).rsplit(".", 1)[0]


def _zip_members(path, wanted, max_bytes) -> Iterator[Member]:
  limit = _limit(path)
  total = 0
  with zipfile.ZipFile(path) as archive:
    for info in archive.infolist():
      name = _checked_name(path, info.filename)
      if stat.S_ISLNK(info.external_attr >> 16):
        raise errors.DataError(f"{path}, member {name!r} is a link; only files are read.")
      if info.is_dir() or not wanted(name):
        continue
      _check_size(path, name, info.file_size, max_bytes)
      total += info.file_size
      _check_total(path, total, limit)
      if info.flag_bits & 1:
        raise errors.DataError(f"{path}, member {name!r} is encrypted; unpack and pack it again.")
      with named_errors(path, name):
        data = archive.read(info)  # Stops at the declared size and checks the CRC.
      yield name, data


def _tar_members(path, wanted, max_bytes) -> Iterator[Member]:
  # The content is opened here, because tarfile accepts a truncated stream as complete.
  with open_content(path) as content:
    stream = _Counted(content, path)
    archive = tarfile.open(  # type: ignore[call-overload]  # noqa: SIM115
        fileobj=stream, mode="r|", tarinfo=tar_headers.Info)
    for info in archive:
      name = _checked_name(path, info.name)
      if info.isdir():
        continue
      if not info.isfile():
        raise errors.DataError(f"{path}, member {name!r} is a link or a device; only files "
                               "are read.")
      if not wanted(name):
        continue
      _check_size(path, name, info.size, max_bytes)
      with named_errors(path, name):
        data = archive.extractfile(info).read()
      yield name, data
    while stream.read(_BLOCK):  # The checksum of a compressed stream is at its end.
      pass
    # A tar ends with blocks of zeros; tarfile does not detect that they are missing.
    if stream.num_bytes < archive.offset + tarfile.BLOCKSIZE:
      raise EOFError("its end-of-archive mark is missing")


class _Counted:
  """A stream that counts the bytes read, and raises DataError above the limit of its file."""

  def __init__(self, stream: IO[bytes], path: os.PathLike):
    self._stream = stream
    self._path = path
    self._limit = _limit(path)
    self.num_bytes = 0

  def read(self, size: int) -> bytes:
    data = self._stream.read(size)
    self.num_bytes += len(data)
    _check_total(self._path, self.num_bytes, self._limit)
    return data


def _limit(path: os.PathLike) -> int:
  return max(MAX_TOTAL_BYTES, MAX_RATIO * os.path.getsize(path))


def _check_total(path: os.PathLike, num_bytes: int, limit: int) -> None:
  if num_bytes > limit:
    raise errors.DataError(f"{path} unpacks to more than {limit} bytes, far more than "
                           "expected of its size. Get it from its publisher.")


def _checked_name(path, name: str) -> str:
  parts = name.replace("\\", "/").split("/")
  if not name or "\x00" in name or parts[0] == "" or ".." in parts or re.match("[A-Za-z]:", name):
    raise errors.DataError(
        f"{path}, member {name!r} has an unsafe name (absolute, or with '..'); such an archive is "
        "not read at all. Get it from its publisher, or pack it again.")
  return "/".join(part for part in parts if part not in ("", "."))


def _check_size(path, name: str, size: int, max_bytes: int) -> None:
  if size > max_bytes:
    raise errors.DataError(f"{path}, member {name!r} has {size} bytes; at most {max_bytes} are "
                           "allowed in one member.")


def _is_debris(name: str) -> bool:
  base = base_name(name)
  return name.startswith("__MACOSX/") or base.startswith("._") or base == ".DS_Store"
