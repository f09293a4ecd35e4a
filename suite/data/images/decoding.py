# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Decoding encoded images: all at once into an array, or batch by batch inside a pipeline.

An image that cannot be decoded stops the run with an error that names its data set and its id.

The shape of a PNG or JPEG image, read from its header without decoding it.
"""

from __future__ import annotations

import functools
import os
import struct
from typing import Any, Callable, Dict, Optional, Sequence, Tuple

import numpy as np
import tensorflow as tf

from suite.compute import private_tensorflow

Transform = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]

_CHUNK = 512
_BATCHES_AT_ONCE = min(16, os.cpu_count() or 1)


@functools.cache
def blank() -> bytes:
  """A black PNG of one pixel, for rows that pad a batch."""
  with tf.init_scope():  # The first call may come while a pipeline is traced.
    return tf.io.encode_png(tf.zeros([1, 1, 3], tf.uint8)).numpy()


@private_tensorflow.plain_data_functions()
def decode_all(encoded: Sequence[bytes], shape: Tuple[int, int, int], *, name: str,
               ids: np.ndarray) -> np.ndarray:
  """Decodes images of one shape (height, width, channels) into one array [N, H, W, C]."""
  images = np.empty((len(encoded),) + tuple(shape), np.uint8)

  def decode(image):
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
def decoded_batches(batches: tf.data.Dataset, transform: Transform, *,
                    shape: Tuple[int, ...], name: str) -> tf.data.Dataset:
  """Decodes and transforms the images of batches, one by one, several batches at a time.

  TensorFlow's error has no names, and a graph cannot catch it. So the rows of a batch have numbers,
  failing rows are dropped, and a gap in the numbers identifies the missing image.

  Args:
    batches: of {"image": string [R], "id": string [R], "seed": uint64 [R], ...}, R static.
    transform: (uint8 [1, H, W, 3], seeds uint64 [1]) -> uint8 [1, *shape].
    shape: of an image after it, (S, S, 3) as a rule.
    name: of the data set.

  Returns:
    The same batches in the same order with "image": uint8 [R, *shape] and without "seed".
  """
  num_rows = batches.element_spec["image"].shape[0]
  nothing = (tf.constant(-1, tf.int64), tf.zeros(shape, tf.uint8))

  @tf.autograph.experimental.do_not_convert
  def decode(row, encoded, seed):
    image = tf.io.decode_image(encoded, channels=3, expand_animations=False)
    image = transform(tf.ensure_shape(image, [None, None, 3])[None], seed[None])[0]
    return row, tf.ensure_shape(image, shape)

  @tf.autograph.experimental.do_not_convert
  def one_batch(batch):
    rows = tf.range(num_rows, dtype=tf.int64)
    decoded = tf.data.Dataset.from_tensor_slices((rows, batch["image"], batch["seed"]))
    decoded = decoded.map(decode).ignore_errors(log_warning=True)
    decoded = decoded.concatenate(tf.data.Dataset.from_tensors(nothing).repeat(num_rows))
    decoded = decoded.take(num_rows).batch(num_rows, drop_remainder=True)
    return decoded.map(lambda numbers, images: check(numbers, images, batch))

  def check(numbers, images, batch) -> Dict[str, Any]:
    is_gap = tf.not_equal(numbers, tf.range(num_rows, dtype=tf.int64))
    lost = batch["id"][tf.argmax(tf.cast(is_gap, tf.int32))]
    message = f"An image of data set {name} cannot be decoded; its id is"
    with tf.control_dependencies([tf.debugging.Assert(~tf.reduce_any(is_gap), [message, lost])]):
      images = tf.identity(images)
    rest = {key: value for key, value in batch.items() if key not in ("image", "seed")}
    return {"image": images, **rest}

  # One batch comes out of each inner data set, so the order does not depend on how many are open.
  return batches.interleave(one_batch, cycle_length=_BATCHES_AT_ONCE, block_length=1,
                            num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)


_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PNG_GRAY = 0
# Start-of-frame markers C0..CF without DHT (C4), JPG (C8) and DAC (CC).
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def shape(encoded: bytes) -> Optional[Tuple[int, int, int]]:
  """(height, width, 1 or 3) of a PNG or JPEG; None if the header is neither or is cut off."""
  try:
    if encoded[:8] == _PNG_SIGNATURE:
      width, height = struct.unpack(">II", encoded[16:24])
      return height, width, 1 if encoded[25] == _PNG_GRAY else 3
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
          return height, width, 1 if encoded[place + 9] == 1 else 3
        place += 2 + length
  except (struct.error, IndexError):
    pass
  return None
