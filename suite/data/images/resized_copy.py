# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A copy of a prepared split with decoded images, large ones resized; made once, beside the data.

  DATA_SET/VERSION/packed/74/train/    see `packed_images`

An image whose shorter side is longer than `side` is resized to it, keeping its aspect ratio,
bilinearly and with antialiasing; all others have the pixels that they had. A process that makes a
copy holds a lock; others wait. One that is killed leaves complete parts, and the next resumes after
them. A copy of other data (version, number of examples, bytes or content digests) is made again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
import contextlib
import functools
import hashlib
import json
import pathlib
import shutil
from typing import Any, NamedTuple

from absl import logging
import numpy as np
import tensorflow as tf

from suite.data.images import image_set
from suite.data.images import image_store
from suite.data.images import packed_images
from suite.data.images import tfds_source
from suite.data.pipelines import traced_maps
from suite.system import atomic_files
from suite.system import file_lock

FOLDER = "packed"
PART_SIZE = 128  # Images of a part; a process that is killed loses one.
METHOD = "bilinear, antialiased, shorter side"
_OLDER = "resized"  # Where version 1.0 kept copies, as PNG.


def least_side(size: int) -> int:
  """The shortest allowed side for a transform to `size` pixels: 8/7 of it, as 256 is of 224."""
  return -(-size * 8 // 7)


class PackedCopy(NamedTuple):
  """A copy of a whole split; what `read` and records need of it.

  Attributes:
    base: the split. folder: of the copy. manifest: see `packed_images`.
  """

  base: tfds_source.SplitSource
  folder: pathlib.Path
  manifest: Mapping[str, Any]

  @property
  def title(self) -> str:
    """The split's, for messages."""
    return self.base.title

  @property
  def num_bytes(self) -> int:
    """The size of the file."""
    return self.manifest["num_bytes"]

  def describe(self) -> dict[str, Any]:
    """The part of a record about the copy: side, format, number of resized images, a digest."""
    digests = "".join(part["sha256"] for part in self.manifest["parts"])
    return {"side": self.manifest["of"]["side"], "resized": self.manifest["resized"],
            "format": self.manifest["format"],
            "sha256": hashlib.sha256(digests.encode()).hexdigest()[:16]}

  def read(self, memory_limit_bytes: int) -> image_set.ImageSet:
    """The images, mapped; those of one shape that fit into the limit are read as an array."""
    columns = packed_images.index(self.folder)
    store: image_store.Store = packed_images.PackedStore(
        packed_images.mapped(self.folder / packed_images.PIXELS), columns["offsets"],
        columns["sides"])
    if len(np.unique(columns["sides"], axis=0)) == 1 and self.num_bytes <= memory_limit_bytes:
      height, width = columns["sides"][0] + 2
      pixels = np.memmap(self.folder / packed_images.PIXELS, np.uint8, mode="r")
      store = image_store.RawStore(np.ascontiguousarray(
          pixels.reshape(self.base.size, height, width, 3)[:, 1:-1, 1:-1]))
    return image_set.ImageSet(
        self.base.title, store, columns["labels"], kind=self.base.kind,
        num_classes=self.base.num_classes, ids=columns["ids"],
        class_names=self.base.class_names)


def open_split(base: tfds_source.SplitSource, side: int) -> PackedCopy:
  """The copy of a whole split whose images' shorter sides have at most `side` pixels.

  It is made if it is missing, unfinished, or of other data.
  """
  if side < 1:
    raise ValueError(f"resized_side={side}; give the pixels of the shorter side, at least 8/7 of "
                     "the size of the transform, or None to decode the images as they are.")
  folder = pathlib.Path(base.folder, FOLDER, str(side), base.split)
  from tfds_builders import content  # pylint: disable=import-outside-toplevel
  digest, path = None, pathlib.Path(base.folder, content.FILE)
  if path.is_file():
    with np.load(path, allow_pickle=False) as saved:
      if base.split in saved.files:
        digest = hashlib.sha256(saved[base.split].tobytes()).hexdigest()[:16]
  # The source data set, its version, and the settings of its copy.
  of: dict[str, Any] = {
      "data_set": base.name, "split": base.split, "version": base.version,
      "num_examples": base.size, "num_bytes": base.num_bytes, "digest": digest, "side": side,
      "method": METHOD, "part_size": PART_SIZE, "format": packed_images.FORMAT}
  if base.is_own:
    of["decoder"] = "own_images"
  manifest = packed_images.manifest(folder)
  if manifest.get("of") != of:
    with _writable(folder), file_lock.held(folder.parent / f"{base.split}.lock"):
      manifest = packed_images.manifest(folder)  # Another process may have made it meanwhile.
      if manifest.get("of") != of:
        logging.info("%s: decoding images once, to a shorter side of at most %d pixels",
                     base.title, side)
        manifest = packed_images.write(folder, of, functools.partial(_parts, base, side))
        logging.info("%s: %d of %d images were resized; %.1f GB in %s", base.title,
                     manifest["resized"], base.size, manifest["num_bytes"] / 1e9, folder)
  packed_images.check(folder, manifest)
  return PackedCopy(base, folder, manifest)


class Found(NamedTuple):
  """A copy on the disk.

  Attributes:
    folder: of the copy.
    data_set, split, side: what it is of.
    state: "complete", "unfinished", or "older" if this version does not read it.
    num_bytes: of its files.
    seconds: that making it took; None: not known.
  """

  folder: pathlib.Path
  data_set: str
  split: str
  side: int
  state: str
  num_bytes: int
  seconds: float | None


def copies(root: pathlib.Path) -> list[Found]:
  """All copies below a folder of prepared data sets."""
  found = []
  for path in sorted([*root.glob(f"**/{FOLDER}/*/**/{packed_images.OF}"),
                      *root.glob(f"**/{_OLDER}/*/**/{packed_images.OF}")]):
    of, manifest = json.loads(path.read_text()), packed_images.manifest(path.parent)
    is_older = of.get("format") != packed_images.FORMAT
    found.append(Found(
        path.parent, of["data_set"], of["split"], of["side"],
        "older" if is_older else "complete" if manifest else "unfinished",
        sum(file.stat().st_size for file in path.parent.rglob("*") if file.is_file()),
        manifest.get("seconds")))
  return found


def evict(copy: Found) -> None:
  """Deletes a copy, unless a process is making it; those that have mapped it keep what they use."""
  with file_lock.held(copy.folder.parent / f"{copy.folder.name}.lock", wait=False):
    (copy.folder / packed_images.MANIFEST).unlink(missing_ok=True)  # It is incomplete from here on.
    shutil.rmtree(copy.folder)


@contextlib.contextmanager
def _writable(folder: pathlib.Path) -> Iterator[None]:
  """Makes the parent of the folder; turns errors of the disk into a next step."""
  try:
    atomic_files.make_folder(folder.parent)
    yield
  except OSError as error:
    raise OSError(f"Cannot write resized images to {folder} ({error}). What is finished is kept: "
                  "make room and give write access there, or set resized_side to None to decode "
                  "images as they are.") from error


def _parts(base: tfds_source.SplitSource, side: int, done: int) -> Iterator[packed_images.Part]:
  """The parts after the first `done` ones."""
  num_parts = -(-base.size // PART_SIZE)
  rest = base.examples().skip(done * PART_SIZE).batch(PART_SIZE)
  for number, chunk in enumerate(rest.as_numpy_iterator(), start=done):
    first = number * PART_SIZE
    images, resized = _decoded(base, chunk, side, first)
    ids = ([name.decode() for name in chunk["id"]] if base.has_id else
           [str(first + row) for row in range(len(images))])
    yield packed_images.Part(images, chunk["label"], np.asarray(ids), resized)
    logging.log_every_n_seconds(
        logging.INFO, "%s: %d of %d parts", 10, base.title, number + 1, num_parts)


def _decoded(base: tfds_source.SplitSource, chunk: Mapping[str, Any], side: int, first: int
             ) -> tuple[list[np.ndarray], int]:
  """The images of a part, and how many of them were resized."""
  encoded, images, resized = list(chunk["image"]), [], 0
  dataset = traced_maps.mapped(
      tf.data.Dataset.from_tensor_slices(tf.constant(encoded)), limited, static=(side,))
  try:
    for image, is_resized in dataset.as_numpy_iterator():
      images.append(image)
      resized += int(is_resized)
  except tf.errors.InvalidArgumentError as error:  # Images come in order: it is the next one.
    row = len(images)
    name = chunk["id"][row].decode() if base.has_id else str(first + row)
    raise ValueError(f"Image {name!r} of data set {base.title!r} cannot be decoded: {error}. "
                     "Build the data set again from a good copy of its source.") from error
  return images, resized


def limited(side: int, encoded: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
  """An encoded image as uint8 [h, w, 3] whose shorter side is no longer; whether it was resized."""
  image = tf.io.decode_image(encoded, channels=3, expand_animations=False)
  shape = tf.shape(image)
  shorter = tf.reduce_min(shape[:2])

  def smaller() -> tf.Tensor:
    scale = tf.cast(side, tf.float64) / tf.cast(shorter, tf.float64)
    sides = tf.cast(tf.round(tf.cast(shape[:2], tf.float64) * scale), tf.int32)
    found = tf.image.resize(tf.ensure_shape(image, [None, None, 3]), sides, antialias=True)
    return tf.cast(tf.round(found), tf.uint8)

  return tf.cond(shorter > side, smaller, lambda: image), shorter > side
