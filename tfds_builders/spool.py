# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""One pass over a source, three splits out of it.

TFDS asks for one generator a split, which would read an archive three times. Here it is read once;
its examples wait in one temporary file a split, in memory up to a bound and on disk beyond it.
"""

from __future__ import annotations

import collections
import json
import os
import struct
import tempfile
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Set, Tuple, Union

from tfds_builders import errors
from tfds_builders import splits
from tfds_builders.parsers import example
from tfds_builders.parsers import images
from tfds_builders.rows import row as row_lib

_MEMORY_BYTES = 256 << 20
_CHECKED_AT_ONCE = 256
_LENGTHS = struct.Struct(">II")


class Spool:
  """Checked examples of one row, divided into splits."""

  def __init__(self, row: row_lib.Row, directory: Union[str, os.PathLike]):
    self._row = row
    directory = os.fspath(directory)
    self._files = {name: tempfile.SpooledTemporaryFile(_MEMORY_BYTES, dir=directory)  # noqa: SIM115
                   for name in splits.NAMES}
    self._keys: Set[str] = set()
    self._found_names: Set[str] = set()
    self.counts: Dict[str, int] = collections.Counter()

  def fill(self, examples: Iterable[example.Example], expected: Mapping[str, int]) -> None:
    """Takes all examples in; raises DataError if they are not what the row says."""
    unchecked: List[Tuple[bytes, str]] = []
    for one in examples:
      unchecked.append((one.image, one.where))
      if len(unchecked) == _CHECKED_AT_ONCE:
        images.check(unchecked, self._row.channels)
        unchecked = []
      self._add(one)
    images.check(unchecked, self._row.channels)
    if expected and dict(self.counts) != dict(expected):
      raise errors.DataError(
          f"The source of {self._row.name} holds {dict(self.counts)} examples by split, expected "
          f"{dict(expected)}: it is incomplete or another edition. Get it again.")
    if self._row.class_names is None and len(self._found_names) not in (0, self._row.num_classes):
      raise errors.DataError(f"The source of {self._row.name} has {len(self._found_names)} "
                             f"classes, expected {self._row.num_classes}: it is incomplete.")

  @property
  def class_names(self) -> Optional[Tuple[str, ...]]:
    """In the order of ids; None if the source has only numbers."""
    return self._row.class_names or tuple(sorted(self._found_names)) or None

  def read(self, split: str) -> Iterator[Tuple[str, Any, bytes]]:
    """Yields (key, label id or list of ids, image bytes) and forgets the split."""
    ids = {name: index for index, name in enumerate(self.class_names or ())}
    with self._files[split] as file:
      file.seek(0)
      while True:
        lengths = file.read(_LENGTHS.size)
        if not lengths:
          return
        head_length, image_length = _LENGTHS.unpack(lengths)
        key, labels = json.loads(file.read(head_length))
        labels = [ids[label] if isinstance(label, str) else label for label in labels]
        label = labels if self._row.kind == row_lib.MULTI_LABEL else labels[0]
        yield key, label, file.read(image_length)

  def _add(self, one: example.Example) -> None:
    if one.split not in self._row.splits:
      raise errors.DataError(f"{one.where} is of split {one.split!r}; the row of {self._row.name} "
                             f"has a rule for {sorted(self._row.splits)}.")
    if one.key in self._keys:
      raise errors.DataError(f"{one.where} has the key {one.key!r} of another example.")
    labels = self._checked_labels(one)
    split = splits.draw(self._row.name, one.group or one.key, self._row.splits[one.split])
    head = json.dumps((one.key, labels)).encode("utf-8")
    file = self._files[split]
    file.write(_LENGTHS.pack(len(head), len(one.image)))
    file.write(head)
    file.write(one.image)
    self._keys.add(one.key)
    self.counts[one.split] += 1

  def _checked_labels(self, one: example.Example) -> List[example.Label]:
    labels = list(one.label) if isinstance(one.label, tuple) else [one.label]
    for label in labels:
      if not isinstance(label, str):
        known = 0 <= label < self._row.num_classes
      elif self._row.class_names is not None:
        known = label in self._row.class_names
      else:
        known = True
        self._found_names.add(label)
      if not known:
        raise errors.DataError(f"{one.where} has label {label!r}; {self._row.name} has "
                               f"{self._row.num_classes} classes: "
                               f"{self._row.class_names or 'numbered from 0'}.")
    return labels
