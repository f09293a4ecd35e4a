# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Search for the files of a row: in the mirror, then TFDS's own copy, then by download."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
import contextlib
import csv
import dataclasses
import functools
import itertools
import pathlib
import struct
import tarfile
import tempfile
import tokenize
from typing import Any
import zlib

from absl import logging

from tfds_builders import access
from tfds_builders import checksums
from tfds_builders import errors
from tfds_builders import links
from tfds_builders import mirror
from tfds_builders.parsers import archives
from tfds_builders.parsers import example
from tfds_builders.parsers import tfds_copy
from tfds_builders.rows import row as row_lib

# What parsers and the modules that they use raise on content that nobody expected.
_UNEXPECTED = (ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError,
               RecursionError, SyntaxError, TypeError, ValueError, csv.Error, struct.error,
               tokenize.TokenError, zlib.error)
Candidates = dict[str, list[pathlib.Path]]


@dataclasses.dataclass(frozen=True)
class Source:
  """Verified data, ready to be parsed.

  Attributes:
    origin: "mirror", "download", "tfds" or "union".
    sha256: by file name; for TFDS's copy or a union's member, its full name and version with an
      empty sum.
    num_examples: expected number of examples by source split.
    class_names: in the order of ids, if the source lists them separately.
    parts: functions that return an iterator over a part of the examples; together, over all.
  """

  origin: str
  sha256: Mapping[str, str]
  num_examples: Mapping[str, int]
  parts: tuple[Callable[[], Iterator[example.Example]], ...]
  class_names: tuple[str, ...] = ()

  @property
  def examples(self) -> Iterator[example.Example]:
    """All examples."""
    return itertools.chain.from_iterable(part() for part in self.parts)


def in_mirror(row: row_lib.Row) -> tuple[row_lib.Layout, Candidates] | None:
  """Returns the first layout whose files are all in the mirror, with all paths of each file."""
  found = mirror.find([file.name for layout in row.layouts for file in layout.files], row.name)
  for layout in row.layouts:
    if all(found[file.name] for file in layout.files):
      return layout, {file.name: found[file.name] for file in layout.files}
  return None


def locate(full_name: str, row: row_lib.Row, dl_manager, data_dir: pathlib.Path) -> Source:
  """Finds and verifies what the row needs; DataError names all sources that were tried.

  Args:
    full_name: "nevis/mnist".
    row: its facts.
    dl_manager: TFDS's download manager.
    data_dir: where TFDS keeps data sets.
  """
  mirrored = in_mirror(row)
  public = row.public_layout
  if mirrored:
    layout, candidates = mirrored
    try:
      valid = {file.name: _first_valid(file, candidates[file.name]) for file in layout.files}
    except errors.DataError as error:
      if not row.tfds or any(row.name in path.parts for p in candidates.values() for path in p):
        raise
      # Files that several data sets call alike: MNIST's in the place of Fashion-MNIST's.
      logging.warning("%s: the mirror has files of these names that are of another data set: %s",
                      full_name, error)
    else:
      paths = {name: path for name, (path, _) in valid.items()}
      logging.info("%s: reading %s", full_name, ", ".join(str(path) for path in paths.values()))
      return Source("mirror", {name: digest for name, (_, digest) in valid.items()},
                    layout.num_examples, _parts(layout, paths))
  try:
    with _two_tries():
      if row.tfds:
        return _from_tfds(row.tfds, public, data_dir, dl_manager)
      if public:
        return _download(public, dl_manager)
  except errors.DataError:
    raise
  except Exception as error:  # Any error of a network.  pylint: disable=broad-except
    raise errors.DataError(
        f"{not_found(full_name, row)}\nThe download failed: {type(error).__name__}: {error}"
    ) from error
  raise errors.DataError(not_found(full_name, row))


def not_found(full_name: str, row: row_lib.Row) -> str:
  """Returns which files are missing, where they were searched for, and what to do."""
  wanted = [row.tfds.manual] if row.tfds and row.tfds.manual else []
  if row.tfds and not wanted and not row.layouts:
    wanted = [" and ".join(link.url for link in links.of_tfds(row.tfds))]
  for layout in row.layouts:
    unknown = ("behind one of the links below" if layout.links else
               "by hand, see below" if layout.steps else "no direct link")
    wanted.append(" and ".join(
        f"{file.name} ({file.url or unknown})" for file in layout.files))
  by_hand = "" if not row.layouts else (
      f"\nBy hand:\n{access.instructions(row, row.layouts[0], full_name)}")
  return (f"{full_name} needs {', or '.join(wanted)}. Not found in: {mirror.describe()}. Put the "
          f"file(s) into a folder DIR and run: suite data build {full_name} --mirror DIR, or in "
          f"Python: tfds_builders.mirror.use(DIR), then tfds.load({full_name!r}){by_hand}")


def _first_valid(file: row_lib.File, paths: list[pathlib.Path]) -> tuple[pathlib.Path, str]:
  """Returns the first path that verifies and its sha256; raises the first error if none does."""
  failures = []
  for path in paths:
    try:
      return path, checksums.verify(file, path, trust=mirror.trusted())
    except errors.DataError as error:
      failures.append(error)
  raise failures[0]


def _parts(layout: row_lib.Layout, paths: Mapping[str, pathlib.Path]) -> tuple[Any, ...]:
  """Returns one part per file if files can be read separately, else a single part."""
  pieces = ([{name: path} for name, path in paths.items()] if layout.separate_files else
            [dict(paths)])
  return tuple(functools.partial(_parsed, layout.parser.parse, piece, layout.args)
               for piece in pieces)


def _parsed(parse: Callable[..., Iterator[example.Example]], paths: Mapping[str, pathlib.Path],
            args: Mapping[str, Any]) -> Iterator[example.Example]:
  """Yields the examples of files; whatever a parser stumbles over is a DataError that names them.

  Parsers name what they check for. Content that none of them expected raises many errors in the
  modules for csv, XML, tokens and numbers that they use.
  """
  num_examples = 0
  try:
    for one in parse(paths, **args):
      yield one
      num_examples += 1
  except errors.DataError as error:
    inside = "" if num_examples else _inside(paths.values(), str(error))
    if inside:
      raise errors.DataError(f"{error} {inside}") from error
    raise
  except _UNEXPECTED as error:
    names = ", ".join(str(path) for path in paths.values())
    raise errors.DataError(
        f"{names}: the content is not what was expected ({type(error).__name__}: {error}). It is "
        "damaged or of another edition: get it again.") from error


def _inside(paths: Iterable[pathlib.Path], said: str) -> str:
  """The first files of archives that are refused, where the message names none of them."""
  found = []
  for path in paths:
    try:
      with open(path, "rb") as stream:
        is_archive = stream.read(4) == b"PK\3\4" or tarfile.is_tarfile(path)
      names = list(itertools.islice(archives.names(path), 3)) if is_archive else []
    except (errors.DataError, OSError):
      continue
    if names and not any(name in said for name in names):
      found.append(f"{path.name} begins with the files {', '.join(names)}.")
  return " ".join(found[:2])


def _download(layout: row_lib.Layout, dl_manager) -> Source:
  paths = dl_manager.download({file.name: file.url for file in layout.files})
  paths = {name: pathlib.Path(path) for name, path in paths.items()}
  sums = {file.name: _verified(file, paths[file.name]) for file in layout.files}
  return Source("download", sums, layout.num_examples, _parts(layout, paths))


def _verified(file: row_lib.File, path: pathlib.Path) -> str:
  """Returns the sum of a download. A wrong file is renamed: the next build downloads it again."""
  try:
    return checksums.verify(file, path, trust=False)
  except errors.DataError as error:
    aside = path.with_name(f"{path.name}.refused")
    path.replace(aside)
    raise errors.DataError(f"{error} What was downloaded is kept as {aside}; the next build "
                           "downloads it again.") from error


@contextlib.contextmanager
def _two_tries() -> Iterator[None]:
  """TFDS asks a server twice here: without a network its ten tries take minutes."""
  from tensorflow_datasets.core.download import downloader  # pylint: disable=g-import-not-at-top
  before = vars(downloader).get("MAX_RETRIES")
  if before is None:  # A version that counts otherwise.
    yield
    return
  downloader.MAX_RETRIES = 1
  try:
    yield
  finally:
    downloader.MAX_RETRIES = before


def _link_mirrored(builder: Any, folder: pathlib.Path) -> None:
  """Makes links in `folder` to the files of the mirror that TFDS would download."""
  # A builder without stored checksums has no infos.
  wanted = {info.filename: info for info in (builder.url_infos or {}).values() if info.filename}
  for name, paths in mirror.find(wanted, builder.name).items():
    if not paths:
      continue
    try:
      path, _ = _first_valid(row_lib.File(name, checksums=(f"sha256:{wanted[name].checksum}",),
                                          size=wanted[name].size), paths)
    except errors.DataError as error:
      if any(builder.name in path.parts for path in paths):
        raise
      logging.warning("%s: the mirror's %s is another data set's: %s", builder.name, name, error)
      continue
    logging.info("%s: reading %s", builder.name, path)
    (folder / name).symlink_to(path.resolve())


def _from_tfds(wanted: row_lib.TfdsSet, layout: row_lib.Layout | None, data_dir: pathlib.Path,
               dl_manager) -> Source:
  import tensorflow_datasets as tfds  # pylint: disable=g-import-not-at-top
  builders = {name: tfds.builder(name, data_dir=data_dir) for name in wanted.names}
  for builder in builders.values():
    with tempfile.TemporaryDirectory() as linked:
      options = {}
      if mirror.directories() and not builder.MANUAL_DOWNLOAD_INSTRUCTIONS:
        _link_mirrored(builder, pathlib.Path(linked))
        options["download_config"] = tfds.download.DownloadConfig(manual_dir=linked)
      builder.download_and_prepare(download_dir=dl_manager.download_dir, **options)
  first = next(iter(builders.values())).info.features[wanted.label]
  return Source("tfds", {builder.info.full_name: "" for builder in builders.values()},
                layout.num_examples if layout else {}, tfds_copy.parts(wanted, builders),
                tuple(getattr(first, "names", ()) or ()))
