# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What a row of facts holds. No code that reads data belongs here."""

from __future__ import annotations

import dataclasses
import types
from typing import Any, Mapping, Optional, Tuple

SINGLE_LABEL = "single_label"
MULTI_LABEL = "multi_label"


@dataclasses.dataclass(frozen=True)
class File:
  """One file of a source, known by its name.

  Attributes:
    name: the file's name, by which a mirror is searched.
    url: where it is published; "kaggle:owner/name" for what needs Kaggle's credentials; None if
      nowhere as it is.
    checksums: accepted "sha256:..." or "md5:..." of the file. None listed: nothing to verify.
    content_checksums: the same of what the file holds once decompressed; a copy that was
      compressed again is still recognised by these.
    size: bytes, as published.
  """

  name: str
  url: Optional[str] = None
  checksums: Tuple[str, ...] = ()
  content_checksums: Tuple[str, ...] = ()
  size: Optional[int] = None

  @property
  def downloadable(self) -> bool:
    return self.url is not None and self.url.startswith(("http://", "https://"))


@dataclasses.dataclass(frozen=True, eq=False)
class Layout:
  """One form in which the data set is distributed, and the parser that reads it.

  Attributes:
    parser: a module of `tfds_builders.parsers`.
    files: all that the parser needs.
    args: keyword arguments of the parser.
    num_examples: examples by source split; a source with other counts is refused. {}: unknown.
    notes: what differs from the other layouts.
  """

  parser: types.ModuleType
  files: Tuple[File, ...]
  args: Mapping[str, Any] = dataclasses.field(default_factory=dict)
  num_examples: Mapping[str, int] = dataclasses.field(default_factory=dict)
  notes: str = ""

  @property
  def downloadable(self) -> bool:
    return all(file.downloadable for file in self.files)

  @property
  def size_bytes(self) -> Optional[int]:
    """As published; None if one of the files has no known size."""
    sizes = [file.size for file in self.files if file.size is not None]
    return sum(sizes) if len(sizes) == len(self.files) else None


@dataclasses.dataclass(frozen=True, eq=False)
class Row:
  """The facts of one data set.

  Attributes:
    name: its name in the family: "mnist" in "nevis/mnist".
    title: its name for people.
    layouts: in order of preference.
    splits: a rule of `tfds_builders.splits`.
    num_classes: labels run from 0 to num_classes - 1.
    channels: of the decoded images.
    kind: SINGLE_LABEL or MULTI_LABEL.
    class_names: in the order of their ids. None: the sorted names found in the source.
    tfds: the data set in TFDS that holds the same images ("mnist:3.*.*"), if any.
    notes: defects and differences from the reference that a user should know.
    version: raised whenever the records change.
  """

  name: str
  title: str
  layouts: Tuple[Layout, ...]
  splits: Mapping[str, Mapping[str, float]]
  num_classes: int
  channels: int
  citation: str
  homepage: str
  kind: str = SINGLE_LABEL
  class_names: Optional[Tuple[str, ...]] = None
  tfds: Optional[str] = None
  notes: str = ""
  version: str = "1.0.0"

  @property
  def public_layout(self) -> Optional[Layout]:
    """The first layout that can be downloaded without credentials."""
    return next((layout for layout in self.layouts if layout.downloadable), None)
