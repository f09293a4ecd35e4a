# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Preparing data sets from Python: `tfds_builders.build("nevis/mnist")`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
import contextlib
import errno
import fcntl
import os
import pathlib
import shutil
from typing import Any

from absl import logging

from tfds_builders import catalog
from tfds_builders import errors
from tfds_builders import spool
from tfds_builders import status
from tfds_builders import unions


def build(name: str, data_dir: status.DataDir = None, *, beam_options: str = "",
          without: Sequence[str] = ()) -> Any:
  """Prepares `name` unless it is prepared; returns the TFDS builder, ready for `as_dataset`.

  If two processes build one data set, the second waits for the first and finds it prepared.

  Args:
    name: "nevis/mnist".
    data_dir: where data sets are prepared; TFDS's own folder if not given.
    beam_options: of Apache Beam (extra `beam`), to build there, in the form that the command `tfds`
      takes: "runner=DirectRunner,direct_num_workers=2".
    without: of a union such as "lifelong_imagenet/union", the members that are left out.

  Raises:
    errors.DataError: the name is unknown, the files are missing or do not match the row, or the
      disk is full. No partially prepared data are left behind.
  """
  from google.protobuf import json_format  # pylint: disable=g-import-not-at-top
  import tensorflow_datasets as tfds  # pylint: disable=g-import-not-at-top
  if status.is_timeline(name):
    found = status.inspect(name, data_dir)
    raise errors.DataError(f"{name}: {found.reason}. It is made by: "
                           f"{found.command or 'suite data timeline'}")
  _, row = catalog.find(name)
  if without:
    unions.members(row, without)
  directory = status.data_directory(data_dir)
  found = status.inspect(name, data_dir)
  logging.info("%s: %s (%s)", name, found.state, found.reason)
  try:
    builder = tfds.builder(name, data_dir=directory)
  except json_format.ParseError as error:
    folder = next((directory / name).glob("*/dataset_info.json")).parent
    raise errors.DataError(f"{name}: {folder}/dataset_info.json cannot be read, so it was cut or "
                           f"edited. Delete {folder} and give the same command.") from error
  if found.state == status.PREPARED:
    left_out = builder.info.metadata["left_out"] if without else ()
    if sorted(without) != list(left_out):
      raise errors.DataError(f"{name} is prepared with {', '.join(left_out) or 'nothing'} left "
                             f"out. Delete {builder.data_dir} to build it without "
                             f"{', '.join(without)}.")
    return builder
  builder.without = tuple(without)
  with only_builder(directory, name):
    prepare(builder, name, directory, _needed(name), beam_options)
  return builder


def prepare(builder: Any, name: str, directory: pathlib.Path, needed: str = "more",
            beam_options: str = "") -> None:
  """Prepares the data set of a TFDS builder; the caller holds the lock of `only_builder`.

  Args:
    builder: of the data set.
    name: "nevis/mnist".
    directory: where data sets are prepared.
    needed: the disk space that it takes, in words.
    beam_options: as of `build`.

  Raises:
    errors.DataError: as of `build`.
  """
  import tensorflow as tf  # pylint: disable=g-import-not-at-top
  import tensorflow_datasets as tfds  # pylint: disable=g-import-not-at-top
  _sweep(directory / name)
  try:
    builder.download_and_prepare(
        download_config=tfds.download.DownloadConfig(beam_options=_pipeline(beam_options)))
    spool.flush(pathlib.Path(builder.data_dir))
  except OSError as error:
    if error.errno != errno.ENOSPC:
      raise
    _sweep(directory / name)
    free = shutil.disk_usage(directory).free
    raise errors.DataError(
        f"The disk of {directory} is full ({os.strerror(errno.ENOSPC)}) while {name} is prepared: "
        f"{free / 1e9:.1f} GB are free, {needed} are needed. What was written is removed. Free "
        "some space, or prepare it elsewhere with --data_dir DIR.") from error
  except RuntimeError as error:  # TFDS's, of an error of TensorFlow's files.
    if not isinstance(error.__cause__, tf.errors.OpError):
      raise
    raise errors.DataError(f"{name} cannot be prepared in {directory}: {error}. Look after the "
                           "disk, then run the same command again.") from error


def _pipeline(options: str) -> Any:
  """Beam's options; None: without Beam."""
  if not options:
    return None
  try:
    from apache_beam.options import pipeline_options  # pylint: disable=g-import-not-at-top
  except ImportError as error:
    raise errors.DataError("Beam options need the extra beam: pip install '.[beam]'"
                           ) from error
  return pipeline_options.PipelineOptions([f"--{one}" for one in options.split(",")])


@contextlib.contextmanager
def only_builder(directory: pathlib.Path, name: str) -> Iterator[None]:
  """Holds the lock of this data set in this folder; the system frees it when the process ends."""
  path = directory / f".{name.replace('/', '.')}.lock"
  path.parent.mkdir(parents=True, exist_ok=True)
  with open(path, "a", encoding="ascii") as lock:
    try:
      fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
      logging.warning("%s is being built by another process; waiting for it (%s)", name, path)
      fcntl.flock(lock, fcntl.LOCK_EX)
    yield


def _sweep(folder: pathlib.Path) -> None:
  """Removes the incomplete folders that interrupted builds have left."""
  for left in sorted(folder.glob("incomplete.*")) if folder.is_dir() else ():
    logging.info("removing %s, left by an interrupted build", left)
    shutil.rmtree(left, ignore_errors=True)


def _needed(name: str) -> str:
  _, row = catalog.find(name)
  sizes = [layout.size_bytes for layout in row.layouts if layout.size_bytes]
  return f"about {2 * sizes[0] / 1e9:.1f} GB (twice its archive)" if sizes else "more"
