# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Decoded images of several sizes in one file, mapped into memory: shared by all that read it.

  pixels.bin   the images one after the other, each uint8 [h + 2, w + 2, 3], its edges repeated
  index.npz    offsets int64 [N] of their first bytes, sides int32 [N, 2] of (h, w), labels, ids
  packed.json  the manifest, written last: what the images are of, format, bytes, digests, seconds

An image has the width that it has, so nothing is cut or padded, and a crop is one slice of the file
and one resampling. The file is mapped, not read: processes, trials and learners share its pages,
which the system drops when memory is needed. `write` makes a folder; it resumes after a kill.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
import hashlib
import json
import os
import pathlib
import shutil
import time
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from suite.compute import private_tensorflow
from suite.contracts import examples
from suite.data.images import image_ops
from suite.data.images import image_store
from suite.data.images import sampling
from suite.data.pipelines import traced_maps
from suite.system import atomic_files
from suite.system import sealed_json

FORMAT = 1
PIXELS, INDEX, MANIFEST = "pixels.bin", "index.npz", "packed.json"
OF, _PARTS = "of.json", "parts"
_WORD = 4  # Bytes.
_BORDER = 2  # Rows, and columns, of a stored image beyond its own.
_BATCHES_AT_ONCE = min(16, os.cpu_count() or 1)
# The pixels of larger files are not read before they are used; their size and index are checked.
_CHECKED_BYTES = 2 * 2**30


class Part(NamedTuple):
  """Some images in a row, and how many of them were resized."""

  images: list[np.ndarray]  # uint8 [h, w, 3] each.
  labels: np.ndarray
  ids: np.ndarray
  resized: int


def bordered(image: np.ndarray) -> np.ndarray:
  """Image uint8 [h, w, 3] as it is stored."""
  return np.pad(image, ((1, 1), (1, 1), (0, 0)), mode="edge")


def manifest(folder: pathlib.Path) -> dict[str, Any]:
  """The manifest of a folder that is complete; {} of another one."""
  return sealed_json.load(folder / MANIFEST, "list of images",
                          f"Delete {folder}; it is then made again.", or_none=True)


def write(folder: pathlib.Path, of: Mapping[str, Any],
          parts: Callable[[int], Iterable[Part]]) -> dict[str, Any]:
  """Makes the file, its index and its manifest, which is returned.

  Args:
    folder: for this file alone.
    of: what the images are of; what another one left unfinished is deleted.
    parts: (parts to skip) -> the parts of images that follow, of one number of images each.
  """
  began = time.monotonic()
  made_of = folder / OF
  if not made_of.is_file() or made_of.read_text() != json.dumps(of):
    shutil.rmtree(folder, ignore_errors=True)
    (folder / _PARTS).mkdir(parents=True)
    atomic_files.write(made_of, json.dumps(of).encode())
  done: list[dict[str, np.ndarray]] = []
  while (path := _part(folder, len(done))).is_file():
    with np.load(path, allow_pickle=False) as saved:
      done.append(dict(saved))
  with open(folder / PIXELS, "ab") as file:
    file.truncate(int(done[-1]["end"]) if done else 0)  # Of a part that was not finished.
    for part in parts(len(done)):
      digest, size = hashlib.sha256(), 0
      for image in part.images:
        data = bordered(image).tobytes()
        file.write(data)
        digest.update(data)
        size += len(data)
      atomic_files.sync_file(file)
      end = size + (int(done[-1]["end"]) if done else 0)
      done.append({
          "sides": np.asarray([image.shape[:2] for image in part.images], np.int32),
          "labels": part.labels, "ids": part.ids, "end": np.asarray(end, np.int64),
          "resized": np.asarray(part.resized), "sha256": np.asarray(digest.hexdigest()),
          "seconds": np.asarray(time.monotonic() - began)})
      began = time.monotonic()
      _save(_part(folder, len(done) - 1), done[-1])
  sides = np.concatenate([part["sides"] for part in done])
  _save(folder / INDEX, {
      "offsets": offsets_of(sides), "sides": sides,
      "labels": np.concatenate([part["labels"] for part in done]),
      "ids": np.concatenate([part["ids"] for part in done])})
  found = {
      "of": dict(of), "format": FORMAT, "num_bytes": int(done[-1]["end"]),
      "resized": int(sum(part["resized"] for part in done)),
      "seconds": round(float(sum(part["seconds"] for part in done)), 1),
      "index_sha256": atomic_files.sha256(folder / INDEX),
      "parts": [{"end": int(part["end"]), "sha256": str(part["sha256"])} for part in done],
      "tensorflow": tf.__version__}
  atomic_files.write(folder / MANIFEST, sealed_json.text(found).encode())
  shutil.rmtree(folder / _PARTS)
  return found


def offsets_of(sides: np.ndarray) -> np.ndarray:
  """Where images of sides int [N, 2] begin: int64 [N]."""
  sizes = 3 * np.prod(np.asarray(sides, np.int64) + _BORDER, axis=1)
  return np.cumsum(sizes) - sizes


def check(folder: pathlib.Path, found: Mapping[str, Any], *, deep: bool = False) -> None:
  """Refuses a file of another format, or that was changed since it was made.

  Args:
    folder: of the file.
    found: its manifest.
    deep: read all pixels, also of a file above 2 GiB.
  """
  pixels = folder / PIXELS
  again = f"Delete {folder}; it is then made again."
  if found.get("format") != FORMAT:
    raise ValueError(f"{folder} has packed images of format {found.get('format')}; this version "
                     f"reads format {FORMAT}. {again}")
  size = pixels.stat().st_size if pixels.is_file() else None
  if size != found["num_bytes"]:
    raise ValueError(f"{pixels} has {'no' if size is None else f'{size:,}'} bytes, but "
                     f"{found['num_bytes']:,} were written. {again}")
  index = folder / INDEX
  if not index.is_file() or atomic_files.sha256(index) != found["index_sha256"]:
    raise ValueError(f"{index} is missing or was changed after it was made. {again}")
  if deep or found["num_bytes"] <= _CHECKED_BYTES:
    pages, start = np.memmap(pixels, np.uint8, mode="r"), 0
    for part in found["parts"]:
      if hashlib.sha256(pages[start:part["end"]].data).hexdigest() != part["sha256"]:
        raise ValueError(f"{pixels} was changed after it was made. {again}")
      start = part["end"]


def index(folder: pathlib.Path) -> dict[str, np.ndarray]:
  """The columns of the index."""
  with np.load(folder / INDEX, allow_pickle=False) as saved:
    return dict(saved)


class PackedStore:
  """N images of their own sizes in a mapped file; an `image_store.Store`.

  Args:
    pixels: the whole file, uint8 [bytes], see `mapped`.
    offsets: int64 [N], the images' first bytes.
    sides: int32 [N, 2], their heights and widths.
  """

  def __init__(self, pixels: tf.Tensor, offsets: np.ndarray, sides: np.ndarray) -> None:
    self.pixels, self.offsets, self.sides = pixels, offsets, sides

  def __len__(self) -> int:
    return len(self.offsets)

  def image(self, place: int) -> np.ndarray:
    """One image, uint8 [h, w, 3]."""
    start, (height, width) = int(self.offsets[place]), map(int, self.sides[place] + _BORDER)
    flat = tf.slice(self.pixels, [start], [height * width * 3])
    return flat.numpy().reshape(height, width, 3)[1:-1, 1:-1]

  def take(self, indices: np.ndarray) -> PackedStore:
    """The store of some of the images; none is copied."""
    return PackedStore(self.pixels, self.offsets[indices], self.sides[indices])

  def num_bytes(self) -> np.ndarray:
    """int64 [N] of zeros: mapped images are in no process's own memory."""
    return np.zeros([len(self)], np.int64)

  def batches(self, plan: sampling.Plan, transform: examples.Transform,
              describe: image_store.Describe, columns: image_store.Columns) -> tf.data.Dataset:
    """A data set of batches {"image": [R, S, S, 3], ...}, cut out of the file one by one."""
    rows = traced_maps.mapped(
        image_store.numbers(plan.num_elements), _located, static=(plan.form, describe),
        tensors=(plan.numbers, self.offsets, self.sides, tuple(columns)))
    return cut_batches(rows, lambda batch: self.pixels, transform, training=plan.is_training)


class ResidentPixels:
  """Completes training batches with crops of packed images in the memory of a device.

  The file is held as words, since TensorFlow gathers no bytes on a GPU. Samples are those of
  `tf.image.crop_and_resize`, by the same arithmetic, but taken from the file at their places: the
  images need not have one size, and none is copied.

  Args:
    store: the images.
    transform: of the batches; see `image_ops.cropping`.
    device: its name.
  """

  def __init__(self, store: PackedStore, transform: examples.Transform, device: str) -> None:
    self._transform, self._crops = transform, image_ops.cropping(transform)
    whole = int(store.pixels.shape[0]) // _WORD * _WORD
    last = np.zeros([_WORD], np.uint8)  # What is left of the file, less than a word.
    last[:int(store.pixels.shape[0]) - whole] = store.pixels[whole:].numpy()
    with tf.device("CPU:0"):  # No copy. Lengths are int64: TensorFlow would cut them to int32.
      words = tf.slice(store.pixels, np.zeros([1], np.int64), np.array([whole], np.int64))
      words = tf.bitcast(tf.reshape(words, [-1, _WORD]), tf.float32)
    with tf.device(device):
      self._words, self._last = tf.identity(words), tf.constant(last.view(np.float32)[0])
      self._offsets, self._sides = tf.constant(store.offsets), tf.constant(store.sides)

  def __call__(self, batch: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    """A batch of "place" and "seed" [B] as one with "image", in the graph of a step."""
    rest = {key: value for key, value in batch.items() if key not in ("place", "seed")}
    assert self._crops is not None
    places, size = batch["place"], self._transform.size
    sides = tf.gather(self._sides, places)
    corners = image_ops.drawn_corners(self._crops, sides, batch["seed"], size, training=True)
    found = self._resampled(tf.gather(self._offsets, places), sides, corners, size)
    images = tf.reshape(tf.cast(tf.round(found), tf.uint8),
                        [places.shape[0], *self._transform.shape])
    return {"image": self._crops.changed(images, batch["seed"]), **rest}

  def _resampled(self, offsets: tf.Tensor, sides: tf.Tensor, corners: tf.Tensor, size: int
                 ) -> tf.Tensor:
    """Floats [B, V, S, S, 3] of the boxes with corners [B, V, 4] of images [B]."""
    lasts = tf.cast(sides + 1, tf.float32)[:, None]  # [B, 1, 2], of an image with its border.
    first, end = corners[..., :2], corners[..., 2:]
    if size > 1:
      scale = (end - first) * lasts / float(size - 1)
      at = (first * lasts)[..., None] + tf.range(size, dtype=tf.float32) * scale[..., None]
    else:
      at = (0.5 * (first + end) * lasts)[..., None]
    inside = (at >= 0.0) & (at <= lasts[..., None])  # [B, V, 2, S]
    low, high = tf.floor(at), tf.math.ceil(at)
    share = at - low
    widths = tf.cast(sides[:, 1] + _BORDER, tf.int64)[:, None, None, None, None]
    colors = tf.range(3, dtype=tf.int64)

    low, high = (tf.cast(tf.clip_by_value(part, 0.0, lasts[..., None]), tf.int64)
                 for part in (low, high))
    across, down = share[:, :, 1, None, :, None], share[:, :, 0, :, None, None]

    def row(rows: tf.Tensor) -> tf.Tensor:
      starts = offsets[:, None, None, None, None] + rows[:, :, 0, :, None, None] * widths * 3
      left, right = (self._bytes(starts + columns[:, :, 1, None, :, None] * 3 + colors)
                     for columns in (low, high))
      return left + (right - left) * across

    top, bottom = row(low), row(high)
    seen = inside[:, :, 0, :, None, None] & inside[:, :, 1, None, :, None]
    return tf.where(seen, top + (bottom - top) * down, 0.0)

  def _bytes(self, places: tf.Tensor) -> tf.Tensor:
    """The bytes of the file at places int64 [...], as floats."""
    words, number = tf.bitwise.right_shift(places, tf.constant(2, tf.int64)), self._words.shape[0]
    found = tf.gather(self._words, tf.minimum(words, number - 1))
    bits = tf.bitcast(tf.where(words < number, found, self._last), tf.int32)
    shifts = 8 * tf.bitwise.bitwise_and(places, tf.constant(_WORD - 1, tf.int64))
    shifted = tf.bitwise.right_shift(tf.cast(bits, tf.int64), shifts)  # int32 stays on the host.
    return tf.cast(tf.bitwise.bitwise_and(shifted, tf.constant(255, tf.int64)), tf.float32)


_as_it_is = tf.autograph.experimental.do_not_convert


@private_tensorflow.plain_data_functions()
def cut_batches(rows: tf.data.Dataset, pixels_of: Callable[[dict[str, tf.Tensor]], tf.Tensor],
                transform: examples.Transform, *, training: bool) -> tf.data.Dataset:
  """Batches with images that are cut out of mapped files, one by one, several batches at a time.

  Args:
    rows: of {"offset": int64 [R], "sides": int32 [R, 2], "seed": uint64 [R], "mask", ...}.
    pixels_of: the file of a batch of rows, uint8 [bytes].
    transform: of the images.
    training: whether they are training examples or evaluated.

  Returns:
    The same batches in the same order with "image" [R, *shape] in place of the first three.
  """
  num_rows = rows.element_spec["offset"].shape[0]
  crops, shape = image_ops.cropping(transform), tuple(transform.shape)

  @_as_it_is
  def one_batch(batch: Any) -> Any:
    pixels, sides = pixels_of(batch), batch["sides"]

    def stored(place: tf.Tensor, whole: tf.Tensor) -> tf.Tensor:
      return tf.reshape(tf.slice(pixels, place[:1], place[1:]), whole)

    @_as_it_is
    def cut(place: tf.Tensor, seed: Any, whole: tf.Tensor, corners: tf.Tensor) -> Any:
      views = tf.zeros([corners.shape[0]], tf.int32)
      found = tf.image.crop_and_resize(
          stored(place, whole), corners, views, [transform.size, transform.size])
      found = tf.reshape(tf.cast(tf.round(found), tf.uint8), [1, *shape])
      if training and crops is not None:
        found = crops.changed(found, seed[None])
      return tf.reshape(found, shape)

    @_as_it_is
    def prepared(place: tf.Tensor, seed: Any, whole: tf.Tensor) -> Any:
      image = tf.ensure_shape(stored(place, whole)[:, 1:-1, 1:-1], [1, None, None, 3])
      found = transform.train(image, seed[None]) if training else transform.evaluate(image)
      return tf.ensure_shape(found[0], shape)

    one = tf.ones_like(sides[:, :1])
    whole = tf.concat([one, sides + _BORDER, 3 * one], 1)
    lengths = tf.reduce_prod(tf.cast(whole, tf.int64), 1)
    located = (tf.stack([batch["offset"], lengths], 1), batch["seed"])
    if crops is None:
      each = tf.data.Dataset.from_tensor_slices((*located, whole)).map(prepared)
    else:
      corners = image_ops.drawn_corners(crops, sides, batch["seed"], transform.size, training)
      each = tf.data.Dataset.from_tensor_slices((*located, whole, corners)).map(cut)
    rest = {key: value for key, value in batch.items() if key not in ("sides", "offset", "seed")}

    def described(images: tf.Tensor) -> Any:
      if not training:
        valid = tf.reshape(batch["mask"], [num_rows] + [1] * len(shape))
        images = tf.where(valid, images, tf.zeros_like(images))
      return {"image": images, **rest}

    return each.batch(num_rows, drop_remainder=True).map(_as_it_is(described))

  return traced_maps.with_fixed_order(rows.interleave(
      one_batch, cycle_length=_BATCHES_AT_ONCE, block_length=1,
      num_parallel_calls=tf.data.AUTOTUNE, deterministic=True))


def _located(plan: sampling.Form, describe: image_store.Describe, element: tf.Tensor,
             plan_numbers: Any, offsets: tf.Tensor, sides: tf.Tensor,
             columns: image_store.Columns) -> dict[str, tf.Tensor]:
  """Where the images of a batch are, with labels, ids and mask."""
  indices, seeds, valid = plan.at(plan_numbers, element, tf.range(plan.rows, dtype=tf.int64))
  return {"offset": tf.ensure_shape(tf.gather(offsets, indices), [plan.rows]), "seed": seeds,
          "sides": tf.ensure_shape(tf.gather(sides, indices), [plan.rows, 2]),
          **describe(plan, columns, indices, valid)}


def mapped(path: pathlib.Path) -> tf.Tensor:
  """A file of bytes as uint8 [bytes] on the CPU, of which pages are read as they are used."""
  # TensorFlow copies arrays, but for those that are handed over by DLPack, which takes none that is
  # read-only: a private map is never written to, and its pages are those of the file.
  pages = np.asarray(np.memmap(path, np.uint8, mode="c"))
  with tf.device("CPU:0"):
    return tf.experimental.dlpack.from_dlpack(pages.__dlpack__())


def _part(folder: pathlib.Path, number: int) -> pathlib.Path:
  return folder / _PARTS / f"{number:06d}.npz"


def _save(path: pathlib.Path, columns: Mapping[str, np.ndarray]) -> None:
  with atomic_files.opening(path) as file:
    np.savez(file, **columns)

