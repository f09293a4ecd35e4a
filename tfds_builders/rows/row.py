# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The fields of a row: the facts of one data set. Code that reads data is in the parsers."""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
import functools
import types
from typing import Any

from tfds_builders import paper_draws
from tfds_builders import splits

SINGLE_LABEL = "single_label"
MULTI_LABEL = "multi_label"
NO_INPUT = -1  # `Row.feature_size` of a data set without images or vectors.
STORED = "stored"
SORTED = "sorted"


@dataclasses.dataclass(frozen=True)
class File:
  """One file of a source, identified by its name.

  Attributes:
    name: the file's name, by which a mirror is searched.
    url: where it is published; "kaggle:owner/name" if it needs Kaggle's credentials; None if
      it is not published in this form.
    checksums: accepted "sha256:..." or "md5:..." of the file. (): the file is not verified.
    content_checksums: the same of its decompressed content; they identify a copy that was
      compressed again.
    size: bytes, as published.
  """

  name: str
  url: str | None = None
  checksums: tuple[str, ...] = ()
  content_checksums: tuple[str, ...] = ()
  size: int | None = None

  @property
  def downloadable(self) -> bool:
    return self.url is not None and self.url.startswith(("http://", "https://"))


@dataclasses.dataclass(frozen=True, eq=False)
class Layout:
  """One form in which the data set is distributed, and the parser that reads it.

  Attributes:
    parser: a module of `tfds_builders.parsers`.
    files: the files that the parser needs.
    args: keyword arguments of the parser.
    num_examples: examples by source split; a source with other counts is refused. {}: unknown.
    notes: what differs from the other layouts.
    separate_files: each file can be parsed without the others (one worker per file on Beam).
    built_from_real: whether this layout was built from the published archive, not only from a
      small archive of the same layout.
    links: where files without a `url` are published, if it is unknown which link is whose.
    steps: how the files are made by hand, where nobody publishes them in this form; a line each.
  """

  parser: types.ModuleType
  files: tuple[File, ...]
  args: Mapping[str, Any] = dataclasses.field(default_factory=dict)
  num_examples: Mapping[str, int] = dataclasses.field(default_factory=dict)
  notes: str = ""
  separate_files: bool = False
  built_from_real: bool = False
  links: tuple[str, ...] = ()
  steps: tuple[str, ...] = ()

  @property
  def downloadable(self) -> bool:
    return all(file.downloadable for file in self.files)

  @property
  def size_bytes(self) -> int | None:
    """The size as published; None if the size of a file is unknown."""
    sizes = [file.size for file in self.files if file.size is not None]
    return sum(sizes) if len(sizes) == len(self.files) else None


@dataclasses.dataclass(frozen=True, eq=False)
class TfdsSet:
  """One or more data sets that TFDS builds itself.

  Attributes:
    names: as `tfds.builder` takes them: "caltech101:3.*.*".
    splits: split in TFDS -> source split.
    label: the feature that holds the class, a list of classes, or a dictionary of yes and no.
    key: a feature that identifies an image within its split; None: use a digest of its pixels.
    split_by: a class feature that divides source splits further, by `split_values`.
    split_values: source split -> {source split: values of `split_by`}; others stay as they are.
    sources: name without version -> {source split: another}, where several sets differ.
    manual: the files that a user must fetch by hand, and the folder they belong to.
  """

  names: tuple[str, ...]
  splits: Mapping[str, str]
  label: str = "label"
  key: str | None = None
  split_by: str | None = None
  split_values: Mapping[str, Mapping[str, tuple[int, ...]]] = dataclasses.field(
      default_factory=dict)
  sources: Mapping[str, Mapping[str, str]] = dataclasses.field(default_factory=dict)
  manual: str = ""

  @property
  def features(self) -> tuple[str, ...]:
    """The features that are read."""
    return tuple(name for name in ("image", self.label, self.key, self.split_by) if name)


@dataclasses.dataclass(frozen=True, eq=False)
class Compat:
  """Settings that restore a defect of the reference's data, for comparable numbers.

  Attributes:
    args: arguments of the parser, over those of each layout.
    splits: the rule of splits; None: the row's.
    num_classes: None: the row's.
    paper: the reference's draw of this variant; None: the row's.
    tfds: the data set in TFDS; None: the row's.
    notes: which defect, and what it does to the numbers.
  """

  notes: str
  args: Mapping[str, Any] = dataclasses.field(default_factory=dict)
  splits: Mapping[str, Mapping[str, float]] | None = None
  num_classes: int | None = None
  paper: Mapping[str, Any] | None = None
  tfds: TfdsSet | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class Row:
  """The facts of one data set.

  Attributes:
    name: its name in the family: "mnist" in "nevis/mnist".
    title: its full name.
    layouts: in order of preference.
    splits: a rule of `tfds_builders.splits`.
    num_classes: labels run from 0 to num_classes - 1.
    channels: of the decoded images.
    kind: SINGLE_LABEL or MULTI_LABEL.
    class_names: in the order of their ids. None: the sorted names found in the source.
    tfds: the data set in TFDS that holds the same images, if any.
    notes: defects and differences from the reference that a user should know.
    version: raised whenever the records change.
    license: in a few words; "" if unknown.
    paper_size: "Size" in the paper's appendix L.
    paper: the reference's own draw of splits, by source split (`tfds_builders.paper_draws`).
    paper_order: how the reference enumerates the examples that it draws: STORED (as they lie in
      the archive) or SORTED (by name).
    compat: settings that restore a defect of the reference; the row itself does not have it.
    unique: an image that occurs in two splits is kept in the later one only.
    features: further features of a record, name -> "text", "int64", "float32" or "bool".
    feature_size: D of a data set of vectors: its records hold `feature`, float32 [D], instead of an
      image; an example's `image` is then the vector's bytes. 0: images. NO_INPUT: neither; the
      records are facts about examples of another configuration.
    optional: splits that not all editions of the source have; left out if they are empty.
    base: the row of which this one is a variant.
    union: names of rows of the same family whose prepared data sets together are this one; it has
      no layouts (`tfds_builders.unions`).
  """

  name: str
  title: str
  layouts: tuple[Layout, ...]
  splits: Mapping[str, Mapping[str, float]]
  num_classes: int
  channels: int
  citation: str
  homepage: str
  kind: str = SINGLE_LABEL
  class_names: tuple[str, ...] | None = None
  tfds: TfdsSet | None = None
  notes: str = ""
  version: str = "1.0.0"
  license: str = ""
  paper_size: int | None = None
  paper: Mapping[str, Any] = dataclasses.field(default_factory=dict)
  paper_order: str = STORED
  compat: Compat | None = None
  unique: bool = True
  features: Mapping[str, str] = dataclasses.field(default_factory=dict)
  feature_size: int = 0
  optional: tuple[str, ...] = ()
  base: Row | None = None
  union: tuple[str, ...] = ()

  @property
  def holds_images(self) -> bool:
    return self.feature_size == 0

  @property
  def base_name(self) -> str:
    """The name under which splits are drawn: variants share the draw of their base."""
    return self.base.name if self.base else self.name

  @property
  def drawn_as_in_paper(self) -> bool:
    return self.base is not None and bool(self.paper)

  @property
  def split_names(self) -> tuple[str, ...]:
    """Its splits: those of `splits.NAMES`, then others in the order in which the rule names them.
    """
    if self.drawn_as_in_paper:
      made = dict.fromkeys(paper_draws.SPLITS[part] for draw in self.paper.values()
                           for part in draw.parts)
    else:
      made = dict.fromkeys(name for parts in self.splits.values() for name in parts)
    return tuple(sorted(made, key=lambda name: (splits.NAMES.index(name)
                                                if name in splits.NAMES else len(splits.NAMES))))

  @property
  def public_layout(self) -> Layout | None:
    """The first layout that can be downloaded without credentials."""
    return next((layout for layout in self.layouts if layout.downloadable), None)


@functools.lru_cache(maxsize=1024)  # Looking up one name asks for those of all rows.
def variants(row: Row) -> tuple[Row, ...]:
  """Returns the row and its variants NAME_paper and NAME_paper_compat, if it has them.

  NAME_paper: the same data in the splits of the reference, copies included. NAME_paper_compat: with
  the defect of the reference, in its splits if they can be reproduced.
  """
  found = [row]
  if row.tfds and any(isinstance(draw, paper_draws.Slices) for draw in row.paper.values()):
    row = dataclasses.replace(row, layouts=())  # Ranges of TFDS's store, which has another order.
  if row.paper:
    found.append(dataclasses.replace(
        row, name=f"{row.name}_paper", title=f"{row.title}, split as in the NEVIS'22 reference",
        unique=False, base=row, compat=None))
  if row.compat:
    compat = row.compat
    layouts = tuple(
        dataclasses.replace(layout, args={**layout.args, **compat.args}, num_examples={})
        for layout in row.layouts)
    found.append(dataclasses.replace(
        row, name=f"{row.name}_paper_compat",
        title=f"{row.title}, with a defect of the NEVIS'22 reference",
        notes=" ".join(part for part in (compat.notes, row.notes) if part), layouts=layouts,
        splits=compat.splits or row.splits, num_classes=compat.num_classes or row.num_classes,
        paper=row.paper if compat.paper is None else compat.paper, tfds=compat.tfds or row.tfds,
        unique=False,
        base=row, compat=None))
  return tuple(found)
