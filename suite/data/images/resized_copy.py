# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A copy of a prepared split in which large images are resized, made once and kept beside the data.

  DATA_SET/VERSION/resized/74/train/00000.tfrecord    128 examples, in stored order
  DATA_SET/VERSION/resized/74/train/00000.json        their number, bytes and sha256
  DATA_SET/VERSION/resized/74/train/copy.json         written last: the copy is complete

An image whose shorter side is longer than `side` is resized to it, keeping its aspect ratio,
bilinearly and with antialiasing, and stored as PNG; all others keep their bytes. A process that
makes a copy holds a lock; others wait. One that is killed leaves complete shards, and the next
resumes after them. A copy of other data (version, number of examples, bytes or content digests) is
made again.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import pathlib
import shutil
from typing import Any, Dict, Iterator, List, Mapping, Tuple

from absl import logging
import numpy as np
import tensorflow as tf

from suite.contracts import tasks
from suite.data.images import decoding
from suite.data.images import tfds_source
from suite.system import atomic_files
from suite.system import file_lock

FOLDER, MANIFEST = "resized", "copy.json"
SHARD_SIZE = 128
METHOD = "bilinear, antialiased, shorter side"


def least_side(size: int) -> int:
  """The shortest allowed side for a transform to `size` pixels: 8/7 of it, as 256 is of 224."""
  return -(-size * 8 // 7)


def open_split(base: tfds_source.SplitSource, side: int) -> ResizedSource:
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
  of: Dict[str, Any] = {
      "data_set": base.name, "split": base.split, "version": base.version,
      "num_examples": base.size, "num_bytes": base.num_bytes, "digest": digest, "side": side,
      "method": METHOD, "shard_size": SHARD_SIZE}
  if base.is_own:
    of["decoder"] = "own_images"
  manifest = _read(folder / MANIFEST)
  if manifest.get("of") != of:
    with _writable(folder), file_lock.held(folder.parent / f"{base.split}.lock"):
      manifest = _read(folder / MANIFEST)  # Another process may have made it meanwhile.
      if manifest.get("of") != of:
        manifest = _make(base, folder, of)
  # An error if a shard is missing or was changed since it was made.
  for number, facts in enumerate(manifest["shards"]):
    path = _shard(folder, number)
    if not path.is_file() or path.stat().st_size != facts["bytes"] or (
        atomic_files.sha256(path) != facts["sha256"]):
      raise ValueError(f"{path} is missing or was changed after it was made. Delete {folder}; the "
                       "copy is then made again.")
  return ResizedSource(base, folder, manifest, 0, base.size)


class ResizedSource:
  """Examples first ... end - 1 of a copy; has what image sets use of `tfds_source.SplitSource`.

  Attributes:
    title, name, kind, num_classes, class_names, has_id: of the split itself.
    size: N. num_bytes: of its encoded images.
    side: pixels of the shorter side of a resized image.
  """

  def __init__(self, base: tfds_source.SplitSource, folder: pathlib.Path,
               manifest: Mapping[str, Any], first: int, end: int):
    self._base, self._folder, self._manifest, self._first = base, folder, manifest, first
    self.title, self.name, self.kind = base.title, base.name, base.kind
    self.num_classes, self.class_names, self.has_id = base.num_classes, base.class_names, True
    self.size, self.side = end - first, int(manifest["of"]["side"])
    self.num_bytes = manifest["num_bytes"] * self.size // max(1, base.size)

  def describe(self) -> Dict[str, Any]:
    """The part of a record about the copy: its side, how many images are resized, a digest."""
    shards = "".join(shard["sha256"] for shard in self._manifest["shards"])
    return {"side": self.side, "resized": self._manifest["resized"],
            "sha256": hashlib.sha256(shards.encode()).hexdigest()[:16]}

  def part(self, edges: str) -> ResizedSource:
    """The examples "FIRST:END" of the split, in stored order."""
    first, end = (int(edge) if edge else default for edge, default in zip(
        edges.split(":"), (0, self._base.size)))
    return ResizedSource(self._base, self._folder, self._manifest, first, end)

  @property
  def files(self) -> List[Tuple[str, int, int]]:
    """(path, records to skip, records to take) of each shard that has some of the examples."""
    found = []
    for number in range(len(self._manifest["shards"])):
      start = number * SHARD_SIZE
      skip = max(0, self._first - start)
      take = min(self._first + self.size - start, SHARD_SIZE, self._base.size - start) - skip
      if take > 0 and skip < SHARD_SIZE:
        found.append((str(_shard(self._folder, number)), skip, take))
    return found

  def parse(self, serialized: tf.Tensor) -> Dict[str, tf.Tensor]:
    """A record -> {"image": encoded string, "label": [] or multi-hot [C], "id": string}."""
    is_single = self.kind == tasks.SINGLE_LABEL
    label = tf.io.FixedLenFeature([] if is_single else [self.num_classes], tf.int64)
    text = tf.io.FixedLenFeature([], tf.string)
    found = tf.io.parse_single_example(serialized, {"image": text, "label": label, "id": text})
    return {**found, "label": found["label"] if is_single else tf.cast(found["label"], tf.uint8)}

  def examples(self) -> tf.data.Dataset:
    """All examples, in the order in which they are stored."""
    paths, skips, takes = zip(*self.files)
    files = tf.data.Dataset.from_tensor_slices(
        (list(paths), np.array(skips, np.int64), np.array(takes, np.int64)))
    records = files.flat_map(
        lambda path, skip, take: tf.data.TFRecordDataset(path).skip(skip).take(take))
    return records.map(self.parse, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)

  def read(self) -> Tuple[List[bytes], np.ndarray, List[str]]:
    """(encoded images, labels [N] or [N, C], ids) of all examples."""
    return tfds_source.columns(self.examples())


def _read(path: pathlib.Path) -> Dict[str, Any]:
  return json.loads(path.read_text()) if path.is_file() else {}


@contextlib.contextmanager
def _writable(folder: pathlib.Path) -> Iterator[None]:
  """Makes the parent of the folder; turns errors of the disk into a next step."""
  try:
    atomic_files.make_folder(folder.parent)
    yield
  except OSError as error:
    raise OSError(f"Cannot write resized images to {folder} ({error}). Make room and give write "
                  "access there, or set resized_side to None to decode the images as they are."
                  ) from error


def _shard(folder: pathlib.Path, number: int) -> pathlib.Path:
  return folder / f"{number:05d}.tfrecord"


def _make(base: tfds_source.SplitSource, folder: pathlib.Path, of: Mapping[str, Any]
          ) -> Dict[str, Any]:
  """Makes the shards that are missing, then the manifest, which is returned."""
  if _read(folder / "of.json") != of:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    atomic_files.write(folder / "of.json", json.dumps(of).encode())
  shards: List[Dict[str, Any]] = []
  num_shards = -(-base.size // SHARD_SIZE)
  while len(shards) < num_shards:
    found = _read(_shard(folder, len(shards)).with_suffix(".json"))
    if not found:
      break
    shards.append(found)
  logging.info("%s: resizing images to a shorter side of %d pixels, once; %d of %d shards are done",
               base.title, of["side"], len(shards), num_shards)
  rest = base.examples().skip(len(shards) * SHARD_SIZE)
  for chunk in rest.batch(SHARD_SIZE).as_numpy_iterator():
    shards.append(_write_shard(base, _shard(folder, len(shards)), chunk, of["side"],
                               len(shards) * SHARD_SIZE))
    logging.log_every_n_seconds(
        logging.INFO, "%s: %d of %d shards", 10, base.title, len(shards), num_shards)
  manifest = {"of": of, "num_bytes": sum(shard["image_bytes"] for shard in shards),
              "resized": sum(shard["resized"] for shard in shards), "shards": shards,
              "tensorflow": tf.__version__}
  atomic_files.write(folder / MANIFEST, json.dumps(manifest, indent=1).encode())
  logging.info("%s: %d of %d images were resized", base.title, manifest["resized"], base.size)
  return manifest


def _write_shard(base: tfds_source.SplitSource, path: pathlib.Path, chunk: Mapping[str, Any],
                 side: int, first: int) -> Dict[str, Any]:
  """Writes the records, then their facts, which mark the shard as complete and are returned."""
  images = _resized_all(base, chunk, side, first)
  changed = [a != b for a, b in zip(images, chunk["image"])]
  with atomic_files.replacing(path) as temporary, tf.io.TFRecordWriter(str(temporary)) as writer:
    for row, image in enumerate(images):
      name = chunk["id"][row] if base.has_id else str(first + row).encode()
      label = chunk["label"][row]
      def text(value: bytes) -> tf.train.Feature:
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))

      labels = tf.train.Int64List(value=np.atleast_1d(label).astype(np.int64))
      record = tf.train.Example(features=tf.train.Features(feature={
          "image": text(image), "label": tf.train.Feature(int64_list=labels),
          "id": text(name)})).SerializeToString(deterministic=True)
      writer.write(record)
  facts = {"num_examples": len(images), "resized": sum(changed), "bytes": path.stat().st_size,
           "image_bytes": sum(map(len, images)), "sha256": atomic_files.sha256(path)}
  atomic_files.write(path.with_suffix(".json"), json.dumps(facts).encode())
  return facts


def _resized_all(base: tfds_source.SplitSource, chunk: Mapping[str, Any], side: int, first: int
                 ) -> List[bytes]:
  """The images of a shard, encoded; only those that may be large are decoded."""
  images = list(chunk["image"])
  # Also those whose header does not tell the shape.
  shapes = map(decoding.shape, images)
  large = [row for row, shape in enumerate(shapes) if shape is None or min(shape[:2]) > side]
  if not large:
    return images
  dataset = tf.data.Dataset.from_tensor_slices(tf.constant([images[row] for row in large])).map(
      functools.partial(resized, side=side), num_parallel_calls=tf.data.AUTOTUNE)
  try:
    for row, image in zip(large, dataset.as_numpy_iterator()):
      images[row] = image
  except tf.errors.InvalidArgumentError:
    for row in large:  # TensorFlow's error does not say which image it is.
      try:
        resized(tf.constant(chunk["image"][row]), side=side)
      except tf.errors.InvalidArgumentError as error:
        name = chunk["id"][row].decode() if base.has_id else str(first + row)
        raise ValueError(f"Image {name!r} of data set {base.title!r} cannot be decoded: {error}. "
                         "Build the data set again from a good copy of its source.") from error
    raise
  return images


def resized(encoded: tf.Tensor, *, side: int) -> tf.Tensor:
  """An encoded image, string [], or a PNG of it if its shorter side is longer than `side`."""
  image = tf.io.decode_image(encoded, channels=3, expand_animations=False)
  shape = tf.shape(image)
  shorter = tf.reduce_min(shape[:2])

  def smaller() -> tf.Tensor:
    scale = tf.cast(side, tf.float64) / tf.cast(shorter, tf.float64)
    sides = tf.cast(tf.round(tf.cast(shape[:2], tf.float64) * scale), tf.int32)
    found = tf.image.resize(tf.ensure_shape(image, [None, None, 3]), sides, antialias=True)
    return tf.io.encode_png(tf.cast(tf.round(found), tf.uint8))

  return tf.cond(shorter > side, smaller, lambda: encoded)
