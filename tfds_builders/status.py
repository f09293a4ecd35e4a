# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The state of a data set on this machine; fast, and missing data are not an error."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib

from tfds_builders import access
from tfds_builders import catalog
from tfds_builders import errors
from tfds_builders import links as links_lib
from tfds_builders import mirror
from tfds_builders import sources
from tfds_builders.rows import row as row_lib

PREPARED = "prepared"
MIRRORED = "mirrored"
DOWNLOADABLE = "downloadable"
LISTED = "listed"
DEAD_LINK = "dead link"
CREDENTIALS = "credentials"
MANUAL = "manual"
UNKNOWN = "unknown"

TIMELINE = "timeline"  # The family of data sets that users make: `tfds_builders.timelines`.
TIMELINE_VERSION = "1.0.0"

_IMAGE_BYTES = 64 * 64 * 3  # An image in memory, at the usual size.

DataDir = str | os.PathLike | None


@dataclasses.dataclass(frozen=True)
class Status:
  """The state of one data set on this machine.

  Attributes:
    name: the requested name.
    state: PREPARED, MIRRORED, DOWNLOADABLE (it was, on the dates of its links), LISTED (other code
      has its links, and nobody says that they work), DEAD_LINK, CREDENTIALS, MANUAL or UNKNOWN.
    size_bytes: on disk if prepared or mirrored, else of the download; None if unknown.
    size_is_about: whether that is rounded, or of another archive of the same images.
    reason: one line that explains the state.
    command: the command to run next; "" if there is none.
    disk_bytes: upper bound of what a build takes: the download, and the same again for the records;
      0 if it is prepared. None: unknown.
    memory_bytes: size of all images as 64 x 64 x 3 bytes, or of all vectors. None: unknown.
    links: where it is downloaded from, or would be.
    num_examples: None: unknown.
    license: in a few words; "" if unknown.
  """

  name: str
  state: str
  size_bytes: int | None
  reason: str
  command: str
  disk_bytes: int | None = None
  memory_bytes: int | None = None
  links: tuple[links_lib.Link, ...] = ()
  size_is_about: bool = False
  num_examples: int | None = None
  license: str = ""


@dataclasses.dataclass(frozen=True)
class Facts:
  """Facts of a data set that need none of its files; `num_examples` is None if unknown."""

  title: str
  num_classes: int
  num_examples: int | None
  source: str


def facts(dataset_name: str) -> Facts:
  """Returns the facts of "nevis/mnist"; DataError if there is no such data set."""
  _, row = catalog.find(dataset_name)
  return Facts(row.title, row.num_classes, _num_examples(row), access.kind(row))


def data_directory(data_dir: DataDir = None) -> pathlib.Path:
  """Returns the folder of prepared data sets: the given one, else TFDS's default."""
  chosen = data_dir or os.environ.get("TFDS_DATA_DIR") or "~/tensorflow_datasets"
  return pathlib.Path(chosen).expanduser()


def inspect(dataset_name: str, data_dir: DataDir = None, *, check_links: bool = False,
            deep: bool = False) -> Status:
  """Returns whether "nevis/mnist" is prepared, or how it can be prepared.

  Args:
    dataset_name: the name.
    data_dir: where data sets are prepared.
    check_links: ask the servers, instead of relying on what is recorded of the links.
    deep: read every record of what is prepared, too.
  """
  if is_timeline(dataset_name):
    return _timeline(dataset_name, data_dir, deep)
  try:
    family, row = catalog.find(dataset_name)
  except errors.DataError as error:
    return Status(dataset_name, UNKNOWN, None, str(error), "")
  links = links_lib.of(row)
  if check_links:
    links = tuple(map(links_lib.check, links))
  found = _inspect(dataset_name, family, row, data_dir, links, deep)
  num = found.num_examples if found.num_examples is not None else _num_examples(row)
  return dataclasses.replace(found, links=links, num_examples=num, license=row.license)


def is_timeline(dataset_name: str) -> bool:
  """Returns whether this is the name of a data set that users make of their own images."""
  return dataset_name.startswith(f"{TIMELINE}/")


def _timeline(name: str, data_dir: DataDir, deep: bool) -> Status:
  folder = data_directory(data_dir) / name / TIMELINE_VERSION
  problem = _problem(folder) or (damage(folder) if deep else "")
  if not problem:
    return Status(name, PREPARED, _size(folder), f"prepared in {folder}", "", 0,
                  _num_prepared(folder) * _IMAGE_BYTES)
  reason = (f"{folder} is unusable ({problem}): delete it, and make it again" if folder.exists()
            else f"it is made of your own images, and is not in {folder.parent.parent.parent}")
  return Status(name, MANUAL, None, reason,
                f"suite data timeline TABLE --by year --name {name.partition('/')[2]}")


def _inspect(dataset_name: str, family: str, row: row_lib.Row, data_dir: DataDir,
             links: tuple[links_lib.Link, ...], deep: bool) -> Status:
  folder = data_directory(data_dir) / family / row.name / row.version
  problem = _problem(folder) or (damage(folder) if deep else "")
  if not problem:
    found = Status(dataset_name, PREPARED, _size(folder), f"prepared in {folder}", "")
    num = _num_prepared(folder)
    return dataclasses.replace(found, disk_bytes=0, memory_bytes=_memory(row, num),
                               num_examples=num)
  found = _unprepared(dataset_name, row, data_directory(data_dir), links)
  found = dataclasses.replace(
      found, disk_bytes=None if found.size_bytes is None else
      found.size_bytes * (1 if found.state == MIRRORED else 2),
      memory_bytes=_memory(row, _num_examples(row)))
  if folder.exists():
    return dataclasses.replace(found, reason=f"{folder} is unusable ({problem}): delete it; then: "
                                             f"{found.reason}")
  others = sorted(info.parent.name for info in folder.parent.glob("*/dataset_info.json"))
  if others:
    return dataclasses.replace(found, reason=f"prepared as version {', '.join(others)}, whose "
                                             f"records differ from those of {row.version}: build "
                                             f"it again; {found.reason}")
  return found


def _unprepared(name: str, row: row_lib.Row, data_dir: pathlib.Path,
                links: tuple[links_lib.Link, ...]) -> Status:
  command = f"suite data build {name}"
  if row.union:
    return _union(name, row, data_dir, command)
  mirrored = sources.in_mirror(row)
  if mirrored:
    paths = [candidates[0] for candidates in mirrored[1].values()]
    return Status(name, MIRRORED, sum(path.stat().st_size for path in paths),
                  "in the mirror: " + ", ".join(str(path) for path in paths),
                  _with_mirror(command))
  published = links_lib.download_size(row)
  size = published.num_bytes if published else None
  found = _to_download(name, row, data_dir, links, command, size)
  return dataclasses.replace(found, size_is_about=bool(
      published and published.is_about and found.size_bytes == size))


def _union(name: str, row: row_lib.Row, data_dir: pathlib.Path, command: str) -> Status:
  family = name.partition("/")[0]
  lacking = [full for full in (f"{family}/{one}" for one in row.union)
             if inspect(full, data_dir).state != PREPARED]
  if not lacking:
    return Status(name, DOWNLOADABLE, 0, f"made of {len(row.union)} data sets, which are prepared",
                  command)
  return Status(name, MANUAL, None, f"made of {len(row.union)} data sets; not prepared: "
                f"{', '.join(lacking)}. Build them first, or leave them out: {command} --without "
                f"{','.join(full.partition('/')[2] for full in lacking)}",
                f"suite data build {' '.join(lacking)}")


def _to_download(name: str, row: row_lib.Row, data_dir: pathlib.Path,
                 links: tuple[links_lib.Link, ...], command: str, size: int | None) -> Status:
  names = ", ".join(row.tfds.names) if row.tfds else ""
  if row.tfds and all((data_dir / one.split(":")[0]).is_dir() for one in row.tfds.names):
    return Status(name, DOWNLOADABLE, 0, f"TFDS's own {names} is in {data_dir}", command)
  if row.tfds and row.tfds.manual:
    return Status(name, MANUAL, size, row.tfds.manual, command)
  layout = row.public_layout
  if row.tfds or layout:
    dead = next((link for link in links if link.state == links_lib.DEAD), None)
    if dead:
      return _with_a_dead_link(Status(name, DEAD_LINK, size, f"{dead.url} is {dead.describe()}",
                                      command), row, layout, data_dir)
    source = f"by TFDS as {names}" if row.tfds else f"from {links[0].url}"
    weak = next((link for link in links if link.state != links_lib.GOOD), None)
    if weak:
      says = ("no record says that the link works" if weak.state == links_lib.UNKNOWN else
              f"{weak.evidence} of {weak.date} has the link, and nobody says that it works")
      return Status(name, LISTED, size, f"to be downloaded {source}; {says}", command)
    return Status(name, DOWNLOADABLE, size, f"to be downloaded {source}", command)
  state = CREDENTIALS if access.credentials(row) else MANUAL
  return Status(name, state, size, sources.not_found(name, row), f"{command} --mirror DIR")


def _with_a_dead_link(found: Status, row: row_lib.Row, layout: row_lib.Layout | None,
                      data_dir: pathlib.Path) -> Status:
  """Completes the reason by what to do, and the command."""
  if row.tfds:
    names = ", ".join(row.tfds.names)
    return dataclasses.replace(found, reason=f"{found.reason}. TFDS downloads it from there: "
                               f"prepare TFDS's {names} from a copy, in {data_dir}")
  files = " and ".join(file.name for file in layout.files) if layout else ""
  return dataclasses.replace(found, reason=f"{found.reason}. Put a copy of {files} into a folder "
                             "DIR", command=f"{found.command} --mirror DIR")


def _with_mirror(command: str) -> str:
  return " ".join([command] + [f"--mirror {directory}" for directory in mirror.directories()[:1]])


def _num_examples(row: row_lib.Row) -> int | None:
  """Returns the number of examples that the row lists; None if it lists none."""
  counts = next((one.num_examples for one in row.layouts if one.num_examples), None)
  return sum(counts.values()) if counts else None


def _num_prepared(folder: pathlib.Path) -> int:
  return sum(map(sum, _shard_lengths(folder).values()))


def _shard_lengths(folder: pathlib.Path) -> dict[str, list[int]]:
  """The number of records in each file of each split; a ValueError says why it is not known."""
  try:
    info = json.loads((folder / "dataset_info.json").read_text())
    return {str(split["name"]): [int(length) for length in split["shardLengths"]]
            for split in info["splits"]}
  except FileNotFoundError as error:
    raise ValueError("it has no dataset_info.json") from error
  except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
    raise ValueError(
        f"its dataset_info.json cannot be read ({type(error).__name__}: {error})") from error


def _memory(row: row_lib.Row, num_examples: int | None) -> int | None:
  each = _IMAGE_BYTES if row.holds_images else 4 * max(row.feature_size, 0)
  return None if num_examples is None else num_examples * each


def _problem(folder: pathlib.Path) -> str:
  """Returns why a folder is not a prepared data set; "" if it is one."""
  try:
    num_shards = sum(map(len, _shard_lengths(folder).values()))
  except ValueError as error:
    return str(error)
  num_files = sum(1 for path in folder.iterdir() if "record-" in path.name)
  return "" if num_files == num_shards else f"it has {num_files} of {num_shards} record files"


def damage(folder: pathlib.Path) -> str:
  """Returns what of a prepared data set cannot be read; "" if every record is what was written."""
  import tensorflow as tf  # pylint: disable=g-import-not-at-top
  try:
    splits = _shard_lengths(folder)
  except ValueError as error:
    return str(error)
  for split, lengths in splits.items():
    paths = sorted(folder.glob(f"*-{split}.*record-*"))
    if len(paths) != len(lengths):
      return f"split {split!r} has {len(paths)} of {len(lengths)} record files"
    for path, length in zip(paths, lengths):
      try:  # Every record has a checksum.
        num = tf.data.TFRecordDataset(str(path)).reduce(0, lambda count, _: count + 1).numpy()
      except tf.errors.OpError as error:
        return f"{path.name} is damaged: {error.message.splitlines()[0]}"
      if num != length:
        return f"{path.name} has {num} of {length} records"
  return ""


def _size(folder: pathlib.Path) -> int:
  return sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
