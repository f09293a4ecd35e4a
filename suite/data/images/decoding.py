# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Decoding encoded images: all at once into an array, or batch by batch inside a pipeline.

An image that cannot be decoded stops the run with an error that names its data set and its id.

The shape of a PNG or JPEG image, read from its header without decoding it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import functools
import os
import struct
from typing import Any

import numpy as np
import tensorflow as tf

from suite.compute import private_tensorflow
from suite.contracts import examples
from suite.data.images import image_ops
from suite.data.pipelines import traced_maps

_as_it_is = tf.autograph.experimental.do_not_convert

_CHUNK = 512
_BATCHES_AT_ONCE = min(16, os.cpu_count() or 1)
BLANK_HEADER = (1, 1, 1)  # As of `headers`.
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PNG_GRAY = 0
# Start-of-frame markers C0..CF without DHT (C4), JPG (C8) and DAC (CC).
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


@functools.cache
def blank() -> bytes:
  """A black JPEG of one pixel, for rows that pad a batch."""
  with tf.init_scope():  # The first call may come while a pipeline is traced.
    return tf.io.encode_jpeg(tf.zeros([1, 1, 3], tf.uint8)).numpy()


@private_tensorflow.plain_data_functions()
def decode_all(encoded: Sequence[bytes], shape: tuple[int, int, int], *, name: str,
               ids: np.ndarray) -> np.ndarray:
  """Decodes images of one shape (height, width, channels) into one array [N, H, W, C]."""
  images = np.empty((len(encoded),) + tuple(shape), np.uint8)

  @_as_it_is
  def decode(image: tf.Tensor) -> Any:
    image = tf.io.decode_image(image, channels=shape[2], expand_animations=False)
    return tf.ensure_shape(image, shape)

  dataset = tf.data.Dataset.from_tensor_slices(tf.constant(encoded, tf.string))
  dataset = dataset.map(decode, num_parallel_calls=tf.data.AUTOTUNE).batch(_CHUNK)
  start = 0
  try:
    for chunk in dataset.prefetch(2):
      images[start:start + len(chunk)] = chunk.numpy()
      start += len(chunk)
  except tf.errors.InvalidArgumentError:
    for image, image_id in zip(encoded[start:start + _CHUNK], ids[start:]):
      try:
        decode(image)
      except (tf.errors.InvalidArgumentError, ValueError) as error:
        raise ValueError(
            f"Image {str(image_id)!r} of data set {name!r} cannot be decoded: {error}. "
            "Build the data set again from a good copy of its source.") from error
    raise
  return images


@private_tensorflow.plain_data_functions()
def decoded_batches(batches: tf.data.Dataset, transform: examples.Transform, *, training: bool,
                    name: str, are_jpeg: bool = False) -> tf.data.Dataset:
  """Decodes and transforms the images of batches, one by one, several batches at a time.

  Boxes of an `examples.Cropping` transform are drawn for a batch at once, from the sides in the
  images' headers, and no more of a JPEG is decoded than they need; the pixels are those of boxes
  cut out of whole images.

  Args:
    batches: of {"image": string [R], "id": string [R], "seed": uint64 [R], ...}, R static; with
      "header" int32 [R, 3] if headers were read before, see `headers`.
    transform: of the images, which come one by one, uint8 [1, H, W, 3].
    training: whether they are training examples, augmented by their seeds, or evaluated.
    name: of the data set.
    are_jpeg: whether a window can be decoded of all images.

  Returns:
    The same batches in the same order with "image": uint8 [R, *shape], without "seed" and "header".
  """
  num_rows, shape = batches.element_spec["image"].shape[0], tuple(transform.shape)
  blank_image = tf.zeros(shape, tf.uint8)

  @_as_it_is
  def decode(encoded: tf.Tensor, seed: Any) -> Any:
    image = tf.io.decode_image(encoded, channels=3, expand_animations=False)
    image = tf.ensure_shape(image, [None, None, 3])[None]
    image = transform.train(image, seed[None]) if training else transform.evaluate(image)
    return tf.ensure_shape(image[0], shape)

  @_as_it_is
  def whole_images(batch: Any) -> Any:
    images = _each_row(decode, (batch["image"], batch["seed"]), num_rows, blank_image)
    return images.map(lambda numbers, found: {
        "image": _checked(numbers, found, batch["id"], name), **_others(batch)})

  crops = image_ops.cropping(transform)

  @_as_it_is
  def decode_boxes(encoded: tf.Tensor, seed: Any, has_window: tf.Tensor, window: tf.Tensor) -> Any:
    def whole() -> Any:
      image = tf.io.decode_image(encoded, channels=3, expand_animations=False)
      y, x, height, width = tf.unstack(window.crop)
      return tf.slice(image, [y, x, 0], [height, width, 3])

    def part() -> Any:
      return tf.io.decode_and_crop_jpeg(encoded, window.crop, channels=3)

    pixels = part() if are_jpeg else tf.cond(has_window > 0, part, whole)
    image = image_ops.resampled_window(
        tf.ensure_shape(pixels, [None, None, 3]), window, transform.size)
    image = tf.reshape(image, [1, *shape])
    if training:
      assert crops is not None
      image = crops.changed(image, seed[None])
    return tf.reshape(image, shape)

  @_as_it_is
  def boxes(batch: Any, header: tf.Tensor) -> Any:
    assert crops is not None
    sides = header[:, :2]
    windows = image_ops.windows_of(image_ops.drawn_corners(
        crops, sides, batch["seed"], transform.size, training), sides)
    decoded = _each_row(decode_boxes, (batch["image"], batch["seed"], header[:, 2], windows),
                        num_rows, blank_image)
    return decoded.map(lambda numbers, found: {
        "image": _checked(numbers, found, batch["id"], name), **_others(batch)})

  @_as_it_is
  def with_headers(batch: Any) -> Any:
    if "header" in batch:
      return boxes(batch, batch["header"])
    found = _each_row(_header, (batch["image"],), num_rows, tf.ones([3], tf.int32))
    return found.flat_map(lambda numbers, headers: boxes(
        batch, _checked(numbers, headers, batch["id"], name)))

  # One batch comes out of each inner data set, so the order does not depend on how many are open.
  return traced_maps.with_fixed_order(batches.interleave(
      whole_images if crops is None else with_headers, cycle_length=_BATCHES_AT_ONCE,
      block_length=1, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True))


def _each_row(function: Callable[..., tf.Tensor], columns: Sequence[Any], num_rows: int,
              nothing: tf.Tensor) -> tf.data.Dataset:
  """One element: int64 [R] and the results of a function of each row, [R, ...].

  TensorFlow's error has no names, and a graph cannot catch it. So rows have numbers, failing ones
  are dropped, and a gap in the numbers, before rows of -1 and `nothing`, identifies the first one.
  """
  rows = tf.data.Dataset.from_tensor_slices((tf.range(num_rows, dtype=tf.int64), *columns))
  found = rows.map(_as_it_is(lambda row, *values: (row, function(*values))))
  found = found.ignore_errors(log_warning=True)
  missing = tf.data.Dataset.from_tensors((tf.constant(-1, tf.int64), nothing)).repeat(num_rows)
  return found.concatenate(missing).take(num_rows).batch(num_rows, drop_remainder=True)


def _checked(numbers: tf.Tensor, values: tf.Tensor, ids: tf.Tensor, name: str) -> tf.Tensor:
  """The results of `_each_row`, if no row is missing; else an error with the id of the first."""
  is_gap = tf.not_equal(numbers, tf.range(tf.size(numbers, tf.int64)))
  lost = ids[tf.argmax(tf.cast(is_gap, tf.int32))]
  message = f"An image of data set {name} cannot be decoded; its id is"
  with tf.control_dependencies([tf.debugging.Assert(~tf.reduce_any(is_gap), [message, lost])]):
    return tf.identity(values)


def _others(batch: dict[str, Any]) -> dict[str, Any]:
  return {key: value for key, value in batch.items() if key not in ("image", "seed", "header")}


def _header(encoded: tf.Tensor) -> tf.Tensor:
  """A row of `headers`, int32 [3], of an encoded image of any format."""
  def of_jpeg() -> tf.Tensor:
    shape = tf.io.extract_jpeg_shape(encoded)
    return tf.concat([shape[:2], [tf.cast((shape[2] == 1) | (shape[2] == 3), tf.int32)]], 0)

  def of_png() -> tf.Tensor:
    sides = tf.io.decode_raw(tf.strings.substr(encoded, 16, 8), tf.int32, little_endian=False)
    return tf.concat([sides[::-1], [0]], 0)

  def of_others() -> tf.Tensor:
    image = tf.io.decode_image(encoded, channels=3, expand_animations=False)
    return tf.concat([tf.shape(image)[:2], [0]], 0)

  found = tf.cond(
      tf.strings.substr(encoded, 0, 3) == b"\xff\xd8\xff", of_jpeg,
      lambda: tf.cond(tf.strings.substr(encoded, 0, 8) == _PNG_SIGNATURE, of_png, of_others))
  return tf.ensure_shape(found, [3])


def shape(encoded: bytes) -> tuple[int, int, int] | None:
  """(height, width, 1 or 3) of a PNG or JPEG; None if the header is neither or is cut off."""
  found = _frame(encoded)
  return found and (*found[:2], 1 if found[2] == 1 else 3)


def headers(encoded: Sequence[bytes]) -> np.ndarray | None:
  """int32 [N, 3] of PNGs and JPEGs; None if one of the images is neither, or damaged.

  Height, width, and 1 if TensorFlow can decode a window of the image, else 0: it cuts windows out
  of JPEGs with one or three components only.
  """
  found = np.zeros([len(encoded), 3], np.int32)
  for row, image in enumerate(encoded):
    frame = _frame(image)
    if frame is None or not 0 < min(frame[:2]) <= max(frame[:2]) < 2**31:
      return None
    found[row] = (*frame[:2], frame[3] and frame[2] in (1, 3))
  return found


def _frame(encoded: bytes) -> tuple[int, int, int, bool] | None:
  """(height, width, components, whether it is a JPEG); a PNG's components are 1 if it is gray."""
  try:
    if encoded[:8] == _PNG_SIGNATURE:
      width, height = struct.unpack(">II", encoded[16:24])
      return height, width, 1 if encoded[25] == _PNG_GRAY else 3, False
    if encoded[:2] == b"\xff\xd8":
      place = 2
      while encoded[place] == 0xFF:
        marker = encoded[place + 1]
        if marker == 0xFF:  # Fill byte.
          place += 1
          continue
        length, = struct.unpack(">H", encoded[place + 2:place + 4])
        if marker in _JPEG_FRAMES:
          height, width = struct.unpack(">HH", encoded[place + 5:place + 9])
          return height, width, encoded[place + 9], True
        place += 2 + length
  except (struct.error, IndexError):
    pass
  return None
