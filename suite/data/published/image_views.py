# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Views of one image as torchvision's transforms make them, as TensorFlow ops.

  whole     Resize(resize), CenterCrop(size)
  random    RandomResizedCrop(size), RandomHorizontalFlip()

Both resize with antialiasing, as Pillow does; results differ from Pillow's by rounding only, which
it does after either axis.
"""

from __future__ import annotations

import math

import tensorflow as tf

from suite.data.images import sampling

INTERPOLATIONS = ("bilinear", "bicubic")
_AREA, _RATIO = (0.08, 1.0), (3 / 4, 4 / 3)
_ATTEMPTS = 10


def check(interpolation: str) -> str:
  """Returns the name, or raises an error that lists the allowed ones."""
  if interpolation not in INTERPOLATIONS:
    raise ValueError(f"interpolation is {interpolation!r}; allowed are "
                     f"{', '.join(INTERPOLATIONS)}.")
  return interpolation


def decode(encoded: tf.Tensor) -> tf.Tensor:
  """Decodes an image to uint8 [H, W, 3]; JPEG with the exact transform, as Pillow does."""
  return tf.ensure_shape(tf.cond(
      tf.io.is_jpeg(encoded),
      lambda: tf.io.decode_jpeg(encoded, channels=3, dct_method="INTEGER_ACCURATE"),
      lambda: tf.io.decode_image(encoded, channels=3, expand_animations=False)), [None, None, 3])


def resized(image: tf.Tensor, height: tf.Tensor, width: tf.Tensor, interpolation: str) -> tf.Tensor:
  """Resizes uint8 [H, W, 3] to uint8 [height, width, 3]."""
  found = tf.image.resize(image, tf.stack([height, width]), interpolation, antialias=True)
  return tf.cast(tf.clip_by_value(tf.floor(found + 0.5), 0.0, 255.0), tf.uint8)


def whole(image: tf.Tensor, resize: int, size: int, interpolation: str) -> tf.Tensor:
  """The central square of `size` pixels of an image whose shorter side becomes `resize`."""
  height, width = tf.shape(image)[0], tf.shape(image)[1]
  short = tf.minimum(height, width)
  height, width = resize * height // short, resize * width // short
  image = tf.cond(tf.equal(short, resize), lambda: image,
                  lambda: resized(image, height, width, interpolation))
  top, left = _middle(height - size), _middle(width - size)
  return tf.ensure_shape(image[top:top + size, left:left + size], [size, size, 3])


def _middle(spare: tf.Tensor) -> tf.Tensor:
  """Half of a number of pixels, as Python rounds it: 0.5 to the even number."""
  half = spare // 2
  return half + (spare % 2) * (half % 2)


def random(image: tf.Tensor, seed: tf.Tensor, size: int, interpolation: str) -> tf.Tensor:
  """A random part of an image, of `size` x `size` pixels, perhaps mirrored; seed: uint64 []."""
  draws = sampling.uniform(seed[None], 4 * _ATTEMPTS + 1)[0]
  top, left, height, width = tf.unstack(
      box(tf.shape(image)[0], tf.shape(image)[1], tf.reshape(draws[:-1], [_ATTEMPTS, 4])))
  part = resized(image[top:top + height, left:left + width], size, size, interpolation)
  part = tf.ensure_shape(part, [size, size, 3])
  return tf.cond(draws[-1] < 0.5, lambda: tf.reverse(part, [1]), lambda: part)


def box(height: tf.Tensor, width: tf.Tensor, draws: tf.Tensor) -> tf.Tensor:
  """The first attempt of RandomResizedCrop that fits, else the largest central part.

  Args:
    height, width: of the image, int32 [].
    draws: float64 [A, 4] in [0, 1): area, logarithm of width / height, top, left.

  Returns:
    int32 [4]: top, left, height, width.
  """
  rows, columns = tf.cast(height, tf.float64), tf.cast(width, tf.float64)
  areas = (_AREA[0] + draws[:, 0] * (_AREA[1] - _AREA[0])) * rows * columns
  low, high = (math.log(ratio) for ratio in _RATIO)
  ratios = tf.exp(low + draws[:, 1] * (high - low))
  widths, heights = tf.round(tf.sqrt(areas * ratios)), tf.round(tf.sqrt(areas / ratios))
  fits = (widths > 0) & (widths <= columns) & (heights > 0) & (heights <= rows)
  tops = tf.floor(draws[:, 2] * (rows - heights + 1))
  lefts = tf.floor(draws[:, 3] * (columns - widths + 1))
  first = tf.argmax(tf.cast(fits, tf.int32))
  drawn = tf.stack([tops[first], lefts[first], heights[first], widths[first]])
  ratio = columns / rows
  tall = tf.where(ratio < _RATIO[0], tf.round(columns / _RATIO[0]), rows)
  wide = tf.where(ratio > _RATIO[1], tf.round(rows * _RATIO[1]), columns)
  central = tf.stack([(rows - tall) // 2, (columns - wide) // 2, tall, wide])
  return tf.cast(tf.where(tf.reduce_any(fits), drawn, central), tf.int32)
