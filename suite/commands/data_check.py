# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite data check`: decodes every image of a folder or of a prepared data set.

What opening data finds (empty files, files that are cut off) is found here, too, and flipped bytes
among the pixels, which only a decoder sees.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator
import concurrent.futures
import functools
import itertools
import os
import pathlib
import time
from typing import NamedTuple

from absl import logging
import numpy as np
import tensorflow as tf

from suite.data.images import file_damage
from suite.data.images import own_images
from suite.data.images import tfds_source
from suite.data.own import image_folders

_LOG_EVERY_SECONDS = 30.0
_AT_ONCE = 256


class Part(NamedTuple):
  """A folder in a folder, or a split of a data set, after its images were decoded.

  Attributes:
    name: of the folder or split.
    images: their number.
    classes: how many classes they have; None for a folder.
    damaged: {id: what is wrong}.
    shapes: {(height, width, channels): number of images}.
  """

  name: str
  images: int
  classes: int | None
  damaged: dict[str, str]
  shapes: collections.Counter[tuple[int, ...]]

  def told_shapes(self) -> str:
    """ "28 x 28 x 1"; of several shapes the number and the extremes."""
    if len(self.shapes) < 2:
      return "".join(" x ".join(map(str, shape)) for shape in self.shapes)
    sides = np.array([shape[:2] for shape in self.shapes])
    channels = sorted({shape[2] for shape in self.shapes})
    (low, narrow), (high, wide) = sides.min(0), sides.max(0)
    return (f"{len(self.shapes)} shapes, {low}..{high} x {narrow}..{wide} x "
            f"{' or '.join(map(str, channels))}")


def folder(root: pathlib.Path) -> tuple[list[Part], str]:
  """(the images of each folder in `root`, decoded; why `from_directory` refuses it, or "")."""
  try:
    image_folders.read(root)
    refused = ""
  except ValueError as error:
    refused = str(error)
  groups: dict[str, list[str]] = collections.defaultdict(list)
  for name in image_folders.every_image(root):
    groups[name.split(os.sep)[0] if os.sep in name else "."].append(name)
  parts = []
  for name, members in sorted(groups.items()):
    files = ((one, (root / one).read_bytes()) for one in members)
    damaged, shapes = _decoded(name, files, is_file=True)
    parts.append(Part(name, len(members), None, damaged, shapes))
  return parts, refused


def data_set(name: str, data_dir: str | None) -> list[Part]:
  """Decodes the images of each split of a prepared data set."""
  tfds_source.check_prepared(name, data_dir=data_dir)
  parts = []
  for split, num in sorted(tfds_source.num_examples(name, data_dir=data_dir).items()):
    if not num:
      continue
    source = tfds_source.open_split(name, split, data_dir=data_dir)
    if "image" not in source.builder.info.features:
      raise ValueError(f"Data set {name!r} has no images, but features; their records are read by: "
                       f"suite data doctor {name} --deep")
    seen: set[int] = set()

    def images(source: tfds_source.SplitSource = source, seen: set[int] = seen
               ) -> Iterator[tuple[str, bytes]]:
      for number, one in enumerate(source.examples().as_numpy_iterator()):
        label = one["label"]
        seen.update([int(label)] if label.ndim == 0 else np.flatnonzero(label).tolist())
        yield one["id"].decode() if source.has_id else str(number), one["image"]

    damaged, shapes = _decoded(split, images())
    parts.append(Part(split, num, len(seen - {-1}), damaged, shapes))
  return parts


def _decoded(name: str, images: Iterator[tuple[str, bytes]], is_file: bool = False
             ) -> tuple[dict[str, str], collections.Counter[tuple[int, ...]]]:
  """({id: what is wrong}, {shape: number}) of (id, bytes) of images."""
  damaged: dict[str, str] = {}
  shapes: collections.Counter[tuple[int, ...]] = collections.Counter()
  logged, total = time.monotonic(), 0
  decode = functools.partial(_decode, is_file)
  with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
    while chunk := list(itertools.islice(images, _AT_ONCE)):
      for (image_id, _), (what, shape) in zip(chunk, pool.map(decode, chunk)):
        if what:
          damaged[image_id] = what
        else:
          shapes[shape] += 1
      total += len(chunk)
      if time.monotonic() - logged > _LOG_EVERY_SECONDS:
        logged = time.monotonic()
        logging.info("%s: %d images decoded, %d damaged", name, total, len(damaged))
  return damaged, shapes


def _decode(is_file: bool, image: tuple[str, bytes]) -> tuple[str, tuple[int, ...]]:
  """(what is wrong, shape of the pixels); a user's file is decoded as `own_images` does."""
  what = file_damage.problem(image[1])
  if what:
    return what, ()
  try:
    data = own_images.normalized(image[1], "it") if is_file else image[1]
  except ValueError as error:
    return str(error).partition(". ")[0], ()
  try:
    pixels = tf.io.decode_image(data, expand_animations=False)
  except tf.errors.InvalidArgumentError as error:
    told = error.message.split("}} ")[-1].split(" [Op:")[0]  # Without the name of the function.
    return f"it cannot be decoded: {told}", ()
  return "", tuple(pixels.shape)
