# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Rows of bytes as rows of words: TensorFlow has GPU kernels that take rows of words only.

Its `gather`, and the lists behind `tf.map_fn`, have none for uint8: on a GPU they would run on the
host, with a copy there and back at every step. The bits are the same, so are all results.
"""

from __future__ import annotations

from collections.abc import Sequence
import math

import tensorflow as tf

_WORD = tf.float32  # int32 is kept on the host where functions and loops pass it on.


def gather(rows: tf.Tensor, places: tf.Tensor) -> tf.Tensor:
  """Rows [N, ...] at places int [B, ...]; as `tf.gather`."""
  shape = rows.shape[1:]
  if not _has_words(rows.dtype, shape):
    return tf.gather(rows, places)
  return unpacked(tf.gather(packed(rows), places), tf.TensorSpec(shape, rows.dtype))


def packed(rows: tf.Tensor) -> tf.Tensor:
  """Rows uint8 [N, ...] as words [N, W], if each has a multiple of 4 bytes; else unchanged."""
  shape = rows.shape[1:]
  if not _has_words(rows.dtype, shape):
    return rows
  return tf.bitcast(tf.reshape(rows, [-1, math.prod(shape) // _WORD.size, _WORD.size]), _WORD)


def unpacked(words: tf.Tensor, row: tf.TensorSpec) -> tf.Tensor:
  """The rows [..., *row.shape] of words [..., W]; rows that `packed` left are unchanged.

  Args:
    words: of rows that were packed.
    row: the shape and the type of a row before that.
  """
  if not _has_words(row.dtype, row.shape):
    return words
  shape = tf.concat([tf.shape(words)[:-1], row.shape], 0)
  return tf.ensure_shape(tf.reshape(tf.bitcast(words, tf.uint8), shape),
                         [*words.shape[:-1], *row.shape])


def as_floats(images: tf.Tensor) -> tf.Tensor:
  """Images uint8 [B, H, W, C] as float32 where a GPU is at hand, whose crops take no bytes.

  Unchanged elsewhere, and if their size is not known: those come one by one from a decoder, which
  runs on the host.
  """
  if images.dtype == tf.uint8 and None not in list(images.shape[1:]) and _on_gpu():
    return tf.cast(images, tf.float32)
  return images


def _on_gpu() -> bool:
  return bool(tf.config.list_logical_devices("GPU"))


def _has_words(dtype: tf.DType, shape: Sequence[int]) -> bool:
  sides = list(shape)
  return dtype == tf.uint8 and None not in sides and math.prod(sides) % _WORD.size == 0
