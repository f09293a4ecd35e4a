# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Where the images of a sequence are: in folders, in tars, or in tars within a tar.

Images are found by their base names, such as n01440764_10026.JPEG, or by the last parts of their
paths where base names repeat, and stay where they are: a place is a file, a first byte and a number
of bytes. Tars must not be compressed.
"""

from __future__ import annotations

import collections
from collections.abc import Container, Iterable, Iterator, Sequence
import io
import os
import pathlib
import re
import tarfile
from typing import IO, Any, NamedTuple, Protocol

import numpy as np

from tfds_builders import errors
from tfds_builders.parsers import archives
from tfds_builders.parsers import tar_headers

_TAR = ".tar"
_NAMED = 20  # Classes in a message.


class MissingImagesError(errors.DataError):
  """Images of a sequence are in none of the places."""


class _Names(Container[str], Iterable[str], Protocol):
  """Base names, or ends of paths; of a class that is wanted as a whole at least one."""


class Places(NamedTuple):
  """The places of N images.

  Attributes:
    files: paths.
    file: int32 [N], which of them. first: int64 [N], first byte. length: int64 [N], bytes.
  """

  files: tuple[str, ...]
  file: np.ndarray
  first: np.ndarray
  length: np.ndarray

  def read(self, number: int) -> bytes:
    """The bytes of an image."""
    path, wanted = self.files[self.file[number]], int(self.length[number])
    with open(path, "rb") as stream:
      stream.seek(int(self.first[number]))
      data = stream.read(wanted)
    if len(data) < wanted:
      raise errors.DataError(f"{path} ends {wanted - len(data)} bytes before image {number} does. "
                             "It has changed since it was searched: get it again.")
    return data


def find(names: Sequence[str], roots: Sequence[str | os.PathLike], where: str) -> Places:
  """Finds images by name.

  Args:
    names: base names, or ends of paths with as many folders each, N; a name may be there several
      times.
    roots: folders, searched with their subfolders, and tars.
    where: what the images are of, for messages.

  Raises:
    MissingImagesError: the message counts all missing images and names their classes.
  """
  places, is_there = find_present(names, roots, where)
  if not is_there.all():
    raise MissingImagesError(_missing(
        names, {name for name, there in zip(names, is_there) if there}, roots, where))
  return places


def find_present(names: Sequence[str], roots: Sequence[str | os.PathLike], where: str
                 ) -> tuple[Places, np.ndarray]:
  """As `find`, but the places are of those images that are there: bool [N] says which.

  Raises:
    MissingImagesError: none of them is there.
  """
  wanted = set(names)
  found: dict[str, tuple[str, int, int]] = {}
  for root in map(pathlib.Path, roots):
    if not root.exists():
      raise FileNotFoundError(f"There is no folder or tar {str(root)!r} with images of {where}.")
    for name, path, first, length in _images(root, wanted):
      found.setdefault(name, (path, first, length))
    if len(found) == len(wanted):
      break
  if not found:
    raise MissingImagesError(_missing(names, found, roots, where))
  is_there = np.array([name in found for name in names])
  return of_rows([found[name] for name in names if name in found]), is_there


def find_classes(wnids: Sequence[str], root: str | os.PathLike, where: str, every: bool = True
                 ) -> tuple[list[str], Places]:
  """Finds all images of some classes, as n01440764_10026.JPEG; sorted base names, and places.

  Args:
    wnids: "n01440764", ...
    root: a folder, searched with its subfolders, or a tar.
    where: what the images are of, for messages.
    every: whether each class must be there; otherwise one of them must.

  Raises:
    MissingImagesError: a class has no image there.
  """
  if not pathlib.Path(root).exists():
    raise FileNotFoundError(f"There is no folder or tar {str(root)!r} with images of {where}.")
  found: dict[str, tuple[str, int, int]] = {}
  for name, path, first, length in _images(pathlib.Path(root), _OfClasses(wnids)):
    found.setdefault(name, (path, first, length))
  lacking = sorted(set(wnids) - {_class_of(name) for name in found})
  if lacking if every else not found:
    raise MissingImagesError(
        f"{len(lacking)} of the {len(set(wnids))} classes of {where} have no image in {root}: "
        f"{', '.join(lacking[:_NAMED])}{', ...' if len(lacking) > _NAMED else ''}. Add the "
        "folders or tars of these classes.")
  names = sorted(found)
  return names, of_rows([found[name] for name in names])


class _OfClasses:
  """The base names of all images of some classes, as a set that is not written out."""

  def __init__(self, wnids: Sequence[str]) -> None:
    self.wnids = frozenset(wnids)

  def __contains__(self, name: object) -> bool:
    match = re.fullmatch(r"(n\d{8})_\d+\.JPEG", str(name))
    return match is not None and match[1] in self.wnids

  def __iter__(self) -> Iterator[str]:
    return (f"{wnid}_0.JPEG" for wnid in self.wnids)


def by_class(names: Sequence[str]) -> dict[str, list[str]]:
  """Names by their class, in the order of classes and names."""
  found: dict[str, list[str]] = collections.defaultdict(list)
  for name in sorted(names):
    found[_class_of(name)].append(name)
  return dict(sorted(found.items()))


def of_rows(places: Sequence[tuple[str, int, int]]) -> Places:
  """Makes the places of (path, first byte, bytes) of each image."""
  files = sorted({path for path, _, _ in places})
  number = {path: i for i, path in enumerate(files)}
  return Places(tuple(files), np.array([number[path] for path, _, _ in places], np.int32),
                np.array([first for _, first, _ in places], np.int64),
                np.array([length for *_, length in places], np.int64))


def _images(root: pathlib.Path, wanted: _Names) -> Iterator[tuple[str, str, int, int]]:
  """Yields (base name, path, first byte, bytes) of the wanted images of a folder or tar."""
  depth = _depth(wanted)
  if root.is_file():
    with root.open("rb") as stream:
      yield from _in_tar(str(root), stream, 0, root.stat().st_size, wanted)
    return
  wnids = {_class_of(name) for name in wanted}
  for folder, folders, files in os.walk(root):
    folders.sort()
    for name in sorted(files):
      path = os.path.join(folder, name)
      end = _end(pathlib.Path(path).as_posix(), depth)
      if end in wanted:
        yield end, path, 0, os.path.getsize(path)
      elif name.endswith(_TAR) and (name[:-len(_TAR)] in wnids or not name.startswith("n")):
        with open(path, "rb") as stream:
          yield from _in_tar(path, stream, 0, os.path.getsize(path), wanted)


def _in_tar(path: str, stream: IO[bytes], first: int, size: int, wanted: _Names
            ) -> Iterator[tuple[str, str, int, int]]:
  """Yields the wanted images of a tar at bytes first ... first + size of a file."""
  wnids, depth = {_class_of(name) for name in wanted}, _depth(wanted)
  with archives.named_errors(pathlib.Path(path)), tarfile.open(
      fileobj=io.BufferedReader(_Part(stream, first, size), 1 << 16), mode="r:",
      tarinfo=tar_headers.Info) as tar:
    for info in tar:
      name, end = archives.base_name(info.name), _end(info.name, depth)
      start = first + info.offset_data
      if not info.isfile():
        continue
      if end in wanted:
        yield end, path, start, info.size
      elif name.endswith(_TAR) and name[:-len(_TAR)] in wnids:
        with open(path, "rb") as inner:
          yield from _in_tar(path, inner, start, info.size, wanted)


class _Part(io.RawIOBase):
  """Bytes first ... first + size of a file, as a file."""

  def __init__(self, stream: IO[bytes], first: int, size: int) -> None:
    super().__init__()
    self._stream, self._first, self._size, self._place = stream, first, size, 0

  def readable(self) -> bool:
    return True

  def seekable(self) -> bool:
    return True

  def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
    self._place = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[
        whence]
    return self._place

  def tell(self) -> int:
    return self._place

  def readinto(self, buffer: Any) -> int:
    self._stream.seek(self._first + self._place)
    data = self._stream.read(max(0, min(len(buffer), self._size - self._place)))
    buffer[:len(data)] = data
    self._place += len(data)
    return len(data)


def _class_of(name: str) -> str:
  """The folder of an end of a path, or the WordNet id that a base name begins with."""
  return name.rsplit("/", 1)[0] if "/" in name else name.split("_", 1)[0]


def _depth(wanted: _Names) -> int:
  return next(iter(wanted)).count("/") + 1


def _end(path: str, depth: int) -> str:
  return "/".join(path.split("/")[-depth:])


def _missing(names: Sequence[str], found: Any, roots: Sequence[str | os.PathLike], where: str
             ) -> str:
  """The message about images that were not found: all counted, their classes named."""
  of_class = collections.Counter(_class_of(name) for name in set(names))
  lacking = by_class(list(set(names) - set(found)))
  whole = [wnid for wnid, lost in lacking.items() if len(lost) == of_class[wnid]]
  parts = [f"{wnid} ({len(lost)} of {of_class[wnid]}: {', '.join(lost)})"
           for wnid, lost in lacking.items() if len(lost) < of_class[wnid]]
  total = sum(map(len, lacking.values()))
  said = [f"{total} of the {len(of_class) and len(set(names))} images of {where} are missing, of "
          f"{len(lacking)} of its {len(of_class)} classes, in {', '.join(map(str, roots))}"]
  if whole:
    said.append(f"{len(whole)} classes are missing altogether: {', '.join(whole)}")
  if parts:
    said.append(f"{len(parts)} classes lack images: {', '.join(parts)}")
  return ". ".join(said) + ". Add the folders or tars of these classes."
