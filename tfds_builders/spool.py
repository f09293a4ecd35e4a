# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Reading a source in one pass and dividing it into splits.

TFDS takes one generator per split, which would read an archive once for each. Here it is read once;
its examples are kept in temporary files, one per source split, in memory up to a limit and on disk
beyond it. Their splits are known when all have been seen (`division.py`).
"""

from __future__ import annotations

import collections
from collections.abc import Iterable, Iterator, Mapping
import json
import os
import pathlib
import struct
import tempfile
from typing import IO, Any, NamedTuple

from tfds_builders import content
from tfds_builders import division
from tfds_builders import errors
from tfds_builders import row_records
from tfds_builders.parsers import example
from tfds_builders.rows import row as row_lib

_MEMORY_BYTES = 64 << 20  # Per temporary file; TFDS's shuffler keeps up to 1 GB.
_CHECKED_AT_ONCE = 256
_LENGTHS = struct.Struct(">II")


class Record(NamedTuple):
  """The content of a TFDS record; `label`: an id, -1 without a label, a list in multi-label."""

  key: str
  label: Any
  extra: Mapping[str, Any]
  image: bytes


def flush(folder: pathlib.Path) -> None:
  """Waits until all files and names of a folder, and its own name, are on the disk.

  TFDS flushes nothing: a data set could have its name, and files that are empty, after a power cut.
  """
  for path in [*sorted(folder.rglob("*")), folder, folder.parent]:
    descriptor = os.open(path, os.O_RDONLY)
    try:
      os.fsync(descriptor)
    finally:
      os.close(descriptor)


class Spool:
  """Checked examples of one row, divided into splits.

  Attributes:
    counts: examples of the source by source split, unreadable ones included.
    unreadable: the images that do not decode and are left out, with the reason.
    digests: the images of each split, for finding duplicates.
  """

  def __init__(self, row: row_lib.Row, directory: str | os.PathLike):
    self._row = row
    self._directory = os.fspath(directory)
    self._files: dict[str, IO[bytes]] = {}
    self._keys: set[str] = set()
    self._found_names: set[str] = set()
    self._members: list[division.Member] = []
    self._digest: dict[str, int] = {}
    self._split: dict[str, str] = {}  # Of the examples that are kept.
    self.counts: dict[str, int] = collections.Counter()
    self.unreadable: list[str] = []
    self.digests = content.Digests(list(row.split_names))

  @property
  def split_names(self) -> list[str]:
    """The splits of the data set; optional ones only if they have examples."""
    return [name for name in self._row.split_names
            if name not in self._row.optional or name in self._split.values()]

  def fill(self, examples: Iterable[example.Example], expected: Mapping[str, int]) -> None:
    """Adds all examples; raises DataError if they do not match the row."""
    waiting: list[example.Example] = []
    for one in examples:
      waiting.append(one)
      if len(waiting) == _CHECKED_AT_ONCE:
        self._add_readable(waiting)
        waiting = []
    self._add_readable(waiting)
    row_records.check_complete(self._row, self.counts, expected, self.unreadable, self._found_names)
    self._divide()

  @property
  def class_names(self) -> list[str]:
    """The class names in the order of ids; [] if the source has only numbers."""
    return list(self._row.class_names or sorted(self._found_names))

  def read(self, split: str) -> Iterator[Record]:
    """Yields the records of one split without the images that a later split holds, too."""
    ids = {name: index for index, name in enumerate(self.class_names)}
    for file in self._files.values():
      file.seek(0)
      while True:
        lengths = file.read(_LENGTHS.size)
        if not lengths:
          break
        head_length, image_length = _LENGTHS.unpack(lengths)
        key, found, extra = json.loads(file.read(head_length))
        if self._split.get(key) == split:
          yield Record(key, row_records.labels_in_record(self._row, found, ids), extra,
                       file.read(image_length))
        else:
          file.seek(image_length, os.SEEK_CUR)

  def _add_readable(self, waiting: list[example.Example]) -> None:
    broken = row_records.unreadable_inputs(self._row, waiting)
    for index, one in enumerate(waiting):
      if index in broken:
        self.unreadable.append(broken[index])
      self._add(one, readable=index not in broken)

  def _add(self, one: example.Example, readable: bool) -> None:
    if one.split not in self._row.splits:
      raise errors.DataError(f"{one.where} is of split {one.split!r}; the row of {self._row.name} "
                             f"has a rule for {sorted(self._row.splits)}.")
    if one.key in self._keys:
      raise errors.DataError(f"{one.where} has the key {one.key!r} of another example.")
    found = row_records.checked_labels(self._row, one)
    self._keys.add(one.key)
    self.counts[one.split] += 1
    if readable or not self._row.drawn_as_in_paper:
      self._members.append(division.Member(one.split, one.key, one.group or one.key, tuple(found)))
    if not readable:
      return
    if self._row.class_names is None:
      self._found_names.update(label for label in found if isinstance(label, str))
    self._digest[one.key] = content.digest(one.image)
    self._write(one.split, json.dumps((one.key, found, one.extra or {})).encode("utf-8"),
                one.image)

  def _write(self, source: str, head: bytes, image: bytes) -> None:
    if source not in self._files:
      self._files[source] = tempfile.SpooledTemporaryFile(  # noqa: SIM115
          _MEMORY_BYTES, dir=self._directory)
    file = self._files[source]
    file.write(_LENGTHS.pack(len(head), len(image)))
    file.write(head)
    file.write(image)

  def _divide(self) -> None:
    """Assigns the splits; images that a later split holds, too, are left out of `unique` rows."""
    split_of = division.divide(self._row, self._members)
    for key, digest in self._digest.items():
      self.digests.add(digest, split_of[key])
    self._split = {key: split_of[key] for key, digest in self._digest.items()
                   if not (self._row.unique and self.digests.held_by_later(digest, split_of[key]))}
    self._members.clear()
    self._digest.clear()
