# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Writes a timeline as the TFDS data set `timeline/NAME`; images are decoded by `own_images`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import functools
import pathlib
from typing import Any

from suite.data.images import file_damage
from suite.data.images import own_images
from suite.data.own import image_folders


def of_files(name: str, images: Sequence[Any], *, class_names: Sequence[str],
             files: Sequence[pathlib.Path], facts: Mapping[str, Any], data_dir: str | None = None,
             again: bool = False) -> Any:
  """Builds it of image files; returns the TFDS builder.

  Args:
    name: "mine".
    images: objects with `split`, `id`, `label`, `path`, `where` and `features`, as
      `tfds_builders.timelines.DatedImage`.
    class_names: sorted.
    files: the tables they are from.
    facts: for the metadata.
    data_dir: of the prepared data sets.
    again: replace one that was made of other files or in another way.

  Raises:
    ValueError: files are empty, cut off or no images.
  """
  file_damage.check(
      name, ((str(one.id), pathlib.Path(one.path).read_bytes()) for one in images),
      "Replace them, or take their lines out of the table.")
  paths = [pathlib.Path(one.path) for one in images]
  image_folders.warn_of_copies(
      name, [str(one.id) for one in images], [one.label for one in images],
      [path.stat().st_size for path in paths], lambda place: paths[place].read_bytes())
  import tfds_builders  # pylint: disable=import-outside-toplevel
  contents = tfds_builders.timelines.of_files(images, class_names=class_names, files=files,
                                              facts=facts, decode=_decode())
  return tfds_builders.timelines.build(name, contents, data_dir, again=again)


def of_archives(name: str, train: pathlib.Path, test: pathlib.Path | None = None, *,
                data_dir: str | None = None, again: bool = False) -> Any:
  """Builds it of archives in CLEAR's layout, such as `suite curate export` writes."""
  import tfds_builders  # pylint: disable=import-outside-toplevel
  contents = tfds_builders.timelines.of_archives(train, test, decode=_decode())
  return tfds_builders.timelines.build(name, contents, data_dir, again=again)


def check_name(name: str) -> str:
  """Returns the name; an error if it cannot be one."""
  import tfds_builders  # pylint: disable=import-outside-toplevel
  return tfds_builders.timelines.check_name(name)


def _decode() -> Any:
  """`own_images.normalized` with the encoder of the data sets, which no version of zlib changes."""
  from tfds_builders.parsers import images  # pylint: disable=import-outside-toplevel
  return functools.partial(own_images.normalized, png=images.png)
