# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Data sets of a user's own dated images: `timeline/NAME`, one split for each time bucket."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
import functools
import hashlib
import json
import pathlib
import re
import shutil
from typing import Any, NamedTuple

from tfds_builders import building
from tfds_builders import checksums
from tfds_builders import clear_splits
from tfds_builders import errors
from tfds_builders import sources
from tfds_builders import status
from tfds_builders.parsers import clear_images
from tfds_builders.parsers import clear_listing
from tfds_builders.parsers import example
from tfds_builders.parsers import images
from tfds_builders.rows import row as row_lib

FEATURES = {"time": "int64", **clear_splits.DECLARED}
Decode = Callable[[bytes, str], bytes]
_DECODER = "decoder"  # In the metadata of timelines whose images were decoded by a given function.
_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")


class DatedImage(NamedTuple):
  """One image file.

  Attributes:
    split: "bucket_03", "unlabelled_bucket_03" or "test_bucket_03".
    id: unique among all images.
    label: its class; None: no label.
    path: of the file.
    where: its line and path, for messages.
    features: of its record, as `FEATURES`.
  """

  split: str
  id: str
  label: str | None
  path: pathlib.Path
  where: str
  features: Mapping[str, Any]


class Contents(NamedTuple):
  """The images of a timeline and what is known of them before they are read.

  Attributes:
    examples: makes an iterator over all of them.
    counts: number of examples by split.
    class_names: sorted; () if no image has a label.
    files: the tables or archives it is made of; the first one, then that for testing.
    title: for the data set's description.
    facts: for its metadata, plain values.
    stored: makes an iterator over all of them with the bytes of their files; None if they are not
      decoded by a given function.
  """

  examples: Callable[[], Iterator[example.Example]]
  counts: Mapping[str, int]
  class_names: Sequence[str]
  files: Sequence[pathlib.Path]
  title: str
  facts: Mapping[str, Any]
  stored: Callable[[], Iterator[example.Example]] | None = None


def check_name(name: str) -> str:
  """Returns the name; DataError if it cannot be one of a TFDS configuration."""
  if not _NAME.fullmatch(name):
    raise errors.DataError(f"A timeline cannot be called {name!r}; a name is 1 to 60 lower-case "
                           "letters, digits and '_', and begins with a letter, such as mine.")
  return name


def of_files(found: Sequence[DatedImage], *, class_names: Sequence[str],
             files: Sequence[pathlib.Path], facts: Mapping[str, Any], decode: Decode | None = None
             ) -> Contents:
  """Returns the contents of a timeline of image files.

  Args:
    found: the files.
    class_names: sorted.
    files: the tables they are from.
    facts: for the metadata.
    decode: (a file's bytes, its location) -> JPEG or PNG, or a ValueError that names it; None:
      `images.encoded`.
  """
  counts: dict[str, int] = {}
  for one in found:
    counts[one.split] = counts.get(one.split, 0) + 1
  size = sum(one.path.stat().st_size for one in found)
  stored = functools.partial(_read, found)
  return Contents(functools.partial(_decoded, stored, decode), counts, class_names, files,
                  f"Dated images of {files[0].name}", {**facts, "image_bytes": size},
                  stored if decode else None)


def of_archives(train: pathlib.Path, test: pathlib.Path | None = None, *,
                decode: Decode | None = None) -> Contents:
  """Returns the contents of archives in CLEAR's layout, with any number of classes and buckets.

  `suite curate export` writes them. `decode`: as of `of_files`.
  """
  counts: dict[str, int] = {}
  names: set[str] = set()
  for path, is_test in ((train, False), *(((test, True),) if test else ())):
    listing = clear_listing.read(path, clear_listing.PRESENT, clear_listing.ANY_NUMBER)
    for bucket, members in listing.buckets.items():
      counts[clear_listing.split_name(bucket, is_test)] = len(members)
      if not is_test:
        names.update(one.label for one in members)
      unknown = sorted({one.label for one in members} - names)
      if unknown:
        raise errors.DataError(f"{path} has images of {', '.join(unknown[:5])}, of which {train} "
                               "has none. Give the test archive of the same classes.")
  paths = {path.name if path is train else f"test/{path.name}": path
           for path in (train, test) if path}
  stored = functools.partial(_of_archives, paths, [name for name in paths if "/" in name])
  return Contents(functools.partial(_decoded, stored, decode), dict(sorted(counts.items())),
                  sorted(names), list(paths.values()), f"Images of {train.name}",
                  {"by": "archive"}, stored if decode else None)


def build(name: str, contents: Contents, data_dir: status.DataDir = None, *, again: bool = False
          ) -> Any:
  """Prepares `timeline/NAME`; returns its TFDS builder.

  What is prepared from equal files in the same way is left as it is.

  Args:
    name: "mine".
    contents: its images.
    data_dir: where data sets are prepared; TFDS's own folder if not given.
    again: replace a timeline of this name that was made of other files or in another way.

  Raises:
    errors.DataError: the name is taken or cannot be one, or images are damaged. No partially
      prepared data are left behind.
  """
  import tensorflow_datasets as tfds  # pylint: disable=g-import-not-at-top
  full = f"{status.TIMELINE}/{check_name(name)}"
  directory = status.data_directory(data_dir)
  sums = {("test/" if number else "") + path.name: checksums.compute(path)["sha256"]
          for number, path in enumerate(contents.files)}
  row = _row(name, contents)
  facts = {**contents.facts, "made_of": hashlib.sha256(json.dumps(
      [sums, contents.facts, contents.counts, list(contents.class_names)], sort_keys=True).encode()
  ).hexdigest()}
  if contents.stored:
    facts[_DECODER] = "own"
  folder = directory / full / row.version
  with building.only_builder(directory, full):
    before = _metadata(folder)
    if before.get("made_of") == facts["made_of"] and not again:
      other = "" if before.get(_DECODER) == facts.get(_DECODER) else _decoded_otherwise(contents)
      if other:
        raise errors.DataError(
            f"{full} in {folder} was made by an earlier version, which decoded {other} in another "
            "way (it did not turn images, or clipped them). Give --again to replace it, or another "
            "--name.")
      return tfds.builder(full, data_dir=str(directory))
    if folder.exists() and not again:
      raise errors.DataError(
          f"{full} is prepared in {folder} already, of {', '.join(before.get('files', {}))}, and "
          "would differ. Give another --name, or --again to replace it.")
    source = sources.Source("own files", sums, {}, (contents.examples,))
    if not folder.exists():
      building.prepare(_builder(name, row, source, facts, directory), full, directory)
    else:  # The old one stays until the new one is complete.
      beside = directory / f".new.{name}"
      try:
        builder = _builder(name, row, source, facts, beside)
        building.prepare(builder, full, beside)
        shutil.rmtree(folder)
        pathlib.Path(builder.data_dir).rename(folder)
      finally:
        shutil.rmtree(beside, ignore_errors=True)
  return tfds.builder(full, data_dir=str(directory))


def _builder(name: str, row: row_lib.Row, source: sources.Source, facts: Mapping[str, Any],
             directory: pathlib.Path) -> Any:
  from tfds_builders.timeline import timeline_dataset_builder as module  # pylint: disable=g-import-not-at-top
  config = module.TimelineConfig(name=name, version=row.version, description=row.title, row=row,
                                 source=source, facts=facts)
  # As a configuration of its class: TFDS warns of others.
  made = type("Timeline", (module.Timeline,), {"name": status.TIMELINE, "BUILDER_CONFIGS": [config],
                                               "__module__": module.__name__},
              skip_registration=True)
  return made(config=config, data_dir=str(directory))


def _row(name: str, contents: Contents) -> row_lib.Row:
  return row_lib.Row(
      name, title=contents.title, layouts=(), citation="", homepage="", channels=3,
      splits={split: {split: 1.0} for split in contents.counts}, unique=False,
      num_classes=max(1, len(contents.class_names)), features=FEATURES,
      class_names=tuple(contents.class_names) or ("unlabelled",), version=status.TIMELINE_VERSION)


def _read(found: Sequence[DatedImage]) -> Iterator[example.Example]:
  for one in found:
    try:
      data = one.path.read_bytes()
    except OSError as error:
      raise errors.DataError(f"{one.where} cannot be read: {error.strerror}.") from error
    yield example.Example(one.split, one.id, () if one.label is None else one.label, data,
                          one.where, extra=one.features)


def _of_archives(paths: Mapping[str, pathlib.Path], tests: Sequence[str]
                 ) -> Iterator[example.Example]:
  for one in clear_images.parse(paths, edition=clear_listing.PRESENT, tests=tests,
                                num_buckets=clear_listing.ANY_NUMBER,
                                encoded=lambda data, where: data):
    yield one._replace(extra={"time": 0, **(one.extra or {})})


def _decoded(stored: Callable[[], Iterator[example.Example]], decode: Decode | None
             ) -> Iterator[example.Example]:
  for one in stored():
    try:
      yield one._replace(image=(decode or images.encoded)(one.image, one.where))
    except ValueError as error:
      yield one._replace(image=b"", problem=str(error))


def _decoded_otherwise(contents: Contents) -> str:
  """The location of the first image that `images.encoded` decodes in another way; "" if none."""
  assert contents.stored is not None
  return next((new.where for old, new in zip(contents.stored(), contents.examples())
               if not new.problem and images.encoded(old.image, old.where) != new.image), "")


def _metadata(folder: pathlib.Path) -> Mapping[str, Any]:
  try:
    found = json.loads((folder / "metadata.json").read_text())
  except (OSError, ValueError):
    return {}
  return found if isinstance(found, dict) else {}
