# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Samples by number: a transform that reads an image from disk when it is looked at.

A sequence of 90,000 images of 224 pixels would take 13.5 GB. Here it is a sequence of numbers,
int64 [T]; `Samples`, the learners' transform, makes images of numbers: the central square in
evaluation, and another part of the image each time that it is trained on. What learners store are
numbers, too.

Views of one image as torchvision's transforms make them, as TensorFlow ops.

  whole     Resize(resize), CenterCrop(size)
  random    RandomResizedCrop(size), RandomHorizontalFlip()

Both resize with antialiasing, as Pillow does; results differ from Pillow's by rounding only, which
it does after either axis.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent import futures
import dataclasses
import functools
import math
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from suite.compute import user_code
from suite.contracts import examples
from suite.data.images import decoding
from suite.data.images import sampling
from suite.data.published import image_places

FIRST_TRAINING = 1 << 40  # The number of the first training image.
_AT_ONCE = 16  # Images of a batch that are read, and then decoded, side by side.
INTERPOLATIONS = ("bilinear", "bicubic")
_AREA, _RATIO = (0.08, 1.0), (3 / 4, 4 / 3)
_ATTEMPTS = 10


class Further(NamedTuple):
  """M images besides the samples of a sequence: numbers from N on, or from FIRST_TRAINING on.

  Attributes:
    ids: str [M]. labels: int64 [M].
    places: of the images; None: black ones, in a rehearsal.
  """

  ids: np.ndarray
  labels: np.ndarray
  places: image_places.Places | None


class Reader:
  """Encoded images of N samples.

  Args:
    name: of the data, for messages.
    ids: [N].
    places: of the images; None: black ones, in a rehearsal.
    further: finds images besides, when one of them is read; None: there are none.
    training: the same of training images, whose numbers begin with FIRST_TRAINING.
  """

  def __init__(self, name: str, ids: np.ndarray, places: image_places.Places | None,
               further: Callable[[], Further] | None = None,
               training: Callable[[], Further] | None = None):
    self.name, self.ids, self._places, self._further = name, ids, places, further
    self._training = training

  def __repr__(self) -> str:
    return f"Reader({self.name!r}, {len(self.ids)})"

  def read(self, numbers: np.ndarray) -> np.ndarray:
    """The encoded images of samples int64 [B]: bytes [B], several read at the same time."""
    return np.array(list(_readers().map(self._read, map(int, numbers))), object)

  def _read(self, place: int) -> bytes:
    places = self._places
    if place >= FIRST_TRAINING:
      places, place = self.training().places, place - FIRST_TRAINING
    elif place >= len(self.ids):
      places, place = self.further().places, place - len(self.ids)
    return decoding.blank() if places is None else places.read(place)

  def further(self) -> Further:
    """The images besides the samples."""
    if self._further is None:
      raise ValueError(f"{self.name} has {len(self.ids)} images, and none besides.")
    return self._further()

  def training(self) -> Further:
    """The training images."""
    if self._training is None:
      raise ValueError(f"{self.name} has no training images: give `samples` their folder, too.")
    return self._training()

  def with_training(self, training: Callable[[], Further]) -> Reader:
    """The same images, and training images."""
    return Reader(self.name, self.ids, self._places, self._further, training)

  def id_of(self, number: int) -> str:
    """The id of a sample or of an image besides."""
    num = len(self.ids)
    if number >= FIRST_TRAINING:
      return str(self.training().ids[number - FIRST_TRAINING])
    return str(self.ids[number] if number < num else self.further().ids[number - num])

  def encoded(self, numbers: tf.Tensor) -> tf.Tensor:
    """The same as an op: string [B]."""
    found = tf.numpy_function(self.read, [numbers], tf.string, stateful=False)
    return tf.ensure_shape(found, [numbers.shape[0]])


@dataclasses.dataclass(frozen=True)
class Samples:
  """The transform of sample numbers; of images [B, H, W, 3] it makes the same views.

  Attributes:
    reader: of the images.
    size: S. resize: pixels of the shorter side before the central square is cut.
    interpolation: one of `numbered_samples.INTERPOLATIONS`.
    augments: whether `train` makes random views; otherwise it does as `evaluate`.
  """

  reader: Reader
  size: int = 224
  resize: int = 256
  interpolation: str = "bilinear"
  augments: bool = True

  takes_numbers = True

  def __post_init__(self) -> None:
    check_interpolation(self.interpolation)
    if not 1 <= self.size <= self.resize:
      raise ValueError(f"Samples.size is {self.size} and resize {self.resize}; the square must fit "
                       "into what is resized: 1 <= size <= resize.")

  @property
  def shape(self) -> tuple[int, int, int]:
    """(S, S, 3)."""
    return (self.size, self.size, 3)

  @property
  def storage(self) -> StoredNumbers:
    """Numbers stay numbers."""
    return StoredNumbers(self)

  def evaluate(self, samples: tf.Tensor) -> tf.Tensor:
    """Samples int64 [B], or images uint8 [B, H, W, 3] -> uint8 [B, S, S, 3]."""
    if tf.executing_eagerly():
      try:
        return _compiled(self)(samples)
      except tf.errors.InvalidArgumentError as error:
        raise self._naming(samples) from error
    return self._evaluated(samples)

  def _evaluated(self, samples: tf.Tensor) -> tf.Tensor:
    return self._each(samples, None, lambda image, _: whole_view(
        image, self.resize, self.size, self.interpolation))

  def train(self, samples: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """Samples int64 [B] or images, and seeds uint64 [B] -> uint8 [B, S, S, 3]."""
    if not self.augments:
      return self.evaluate(samples)
    return self._each(samples, seeds, lambda image, seed: random_view(
        image, seed, self.size, self.interpolation))

  def _each(self, samples: tf.Tensor, seeds: tf.Tensor | None,
            view: Callable[[tf.Tensor, Any], tf.Tensor]) -> tf.Tensor:
    """A view of each sample."""
    is_image = samples.shape.rank == 4
    given = samples if is_image else self.reader.encoded(samples)
    decode = tf.identity if is_image else decode_view
    with tf.device("CPU:0"):
      found = tf.map_fn(
          lambda one: view(decode(one[0]), one[1]),
          (given, tf.zeros(tf.shape(samples)[:1], tf.uint64) if seeds is None else seeds),
          fn_output_signature=tf.TensorSpec(self.shape, tf.uint8), parallel_iterations=_AT_ONCE)
    return tf.ensure_shape(found, [samples.shape[0], *self.shape])

  def _naming(self, samples: tf.Tensor) -> ValueError:
    """The error about the first sample that cannot be decoded."""
    for number in np.asarray(samples).ravel()[:len(samples)].tolist():
      try:
        decode_view(tf.constant(self.reader.read(np.array([number]))[0]))
      except tf.errors.InvalidArgumentError as error:
        return ValueError(f"Image {self.reader.id_of(number)!r} of {self.reader.name} cannot be "
                          f"decoded: {str(error)[:200]}. Get a good copy of it.")
    return ValueError(f"An image of {self.reader.name} cannot be prepared; its sides may be too "
                      f"different for {self.size} pixels.")


@functools.lru_cache(maxsize=1)
def _readers() -> futures.ThreadPoolExecutor:
  """They wait for disks and networks, not for cores."""
  return futures.ThreadPoolExecutor(_AT_ONCE, "read")


@functools.lru_cache(maxsize=8)
def _compiled(samples: Samples) -> Callable[[tf.Tensor], tf.Tensor]:
  return user_code.compiled(samples._evaluated, reduce_retracing=True)


@dataclasses.dataclass(frozen=True)
class StoredNumbers(examples.Storage):
  """The storage of `Samples`: numbers."""

  transform: Samples

  holds_numbers = True

  @property
  def shape(self) -> tuple[int, ...]:
    """(): a number."""
    return ()

  def store(self, samples: tf.Tensor) -> tf.Tensor:
    """Samples int64 [B] -> the same."""
    return samples

  def train(self, rows: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """Samples int64 [B], seeds uint64 [B] -> augmented images."""
    return self.transform.train(rows, seeds)

  def evaluate(self, rows: tf.Tensor) -> tf.Tensor:
    """Samples int64 [B] -> images."""
    return self.transform.evaluate(rows)


def check_interpolation(interpolation: str) -> str:
  """Returns the name, or raises an error that lists the allowed ones."""
  if interpolation not in INTERPOLATIONS:
    raise ValueError(f"interpolation is {interpolation!r}; allowed are "
                     f"{', '.join(INTERPOLATIONS)}.")
  return interpolation


def decode_view(encoded: tf.Tensor) -> tf.Tensor:
  """Decodes an image to uint8 [H, W, 3]; JPEG with the exact transform, as Pillow does."""
  return tf.ensure_shape(tf.cond(
      tf.io.is_jpeg(encoded),
      lambda: tf.io.decode_jpeg(encoded, channels=3, dct_method="INTEGER_ACCURATE"),
      lambda: tf.io.decode_image(encoded, channels=3, expand_animations=False)), [None, None, 3])


def resized_view(
  image: tf.Tensor, height: tf.Tensor, width: tf.Tensor, interpolation: str
) -> tf.Tensor:
  """Resizes uint8 [H, W, 3] to uint8 [height, width, 3]."""
  found = tf.image.resize(image, tf.stack([height, width]), interpolation, antialias=True)
  return tf.cast(tf.clip_by_value(tf.floor(found + 0.5), 0.0, 255.0), tf.uint8)


def whole_view(image: tf.Tensor, resize: int, size: int, interpolation: str) -> tf.Tensor:
  """The central square of `size` pixels of an image whose shorter side becomes `resize`."""
  height, width = tf.shape(image)[0], tf.shape(image)[1]
  short = tf.minimum(height, width)
  height, width = resize * height // short, resize * width // short
  image = tf.cond(tf.equal(short, resize), lambda: image,
                  lambda: resized_view(image, height, width, interpolation))
  top, left = _middle(height - size), _middle(width - size)
  return tf.ensure_shape(image[top:top + size, left:left + size], [size, size, 3])


def _middle(spare: tf.Tensor) -> tf.Tensor:
  """Half of a number of pixels, as Python rounds it: 0.5 to the even number."""
  half = spare // 2
  return half + (spare % 2) * (half % 2)


def random_view(image: tf.Tensor, seed: tf.Tensor, size: int, interpolation: str) -> tf.Tensor:
  """A random part of an image, of `size` x `size` pixels, perhaps mirrored; seed: uint64 []."""
  draws = sampling.uniform(seed[None], 4 * _ATTEMPTS + 1)[0]
  top, left, height, width = tf.unstack(
      view_box(tf.shape(image)[0], tf.shape(image)[1], tf.reshape(draws[:-1], [_ATTEMPTS, 4])))
  part = resized_view(image[top:top + height, left:left + width], size, size, interpolation)
  part = tf.ensure_shape(part, [size, size, 3])
  return tf.cond(draws[-1] < 0.5, lambda: tf.reverse(part, [1]), lambda: part)


def view_box(height: tf.Tensor, width: tf.Tensor, draws: tf.Tensor) -> tf.Tensor:
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
