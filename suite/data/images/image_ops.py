# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Image transforms over batches, stateless and as cheap as one `crop_and_resize`.

A transform is a frozen object with `size` S, `shape` (S, S, 3) and two functions:

  train(images [B, H, W, C], seeds uint64 [B]) -> uint8 [B, S, S, 3]
  evaluate(images [B, H, W, C])                -> uint8 [B, S, S, 3]

Row b of the result depends on image b and seed b only, so a batch of one gives what the same row of
a large batch gives. Boxes are (y, x, height, width) in pixels and need not be whole numbers.

`of` returns the form in which a learner keeps examples that it will train on, an
`examples.Storage`.
"""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
import math
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from suite.compute import byte_rows
from suite.contracts import examples
from suite.data.images import sampling
from suite.models import addons
from suite.models import keras_cv_models

_NUM_ATTEMPTS = 10
_DRAWS_PER_ATTEMPT = 4

Op = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]  # Images [B, S, S, 3] and seeds [B] to images.
_MARGIN = 2  # Pixels: rounding of samples, and colors that a decoder takes from beyond.
_BYTES = np.array([1, 3], np.int32)  # A row of pixels as one of bytes.


def mirrored(images: tf.Tensor, margin: int, *, axis: int) -> tf.Tensor:
  """Images [B, H, W, C] with `margin` pixels at either end of an axis, 1 or 2, mirrored.

  As `tf.pad(..., "SYMMETRIC")`, whose kernel is slow on a CPU. The margin is at most the side.
  """
  first, last = ((images[:, :margin], images[:, -margin:]) if axis == 1 else
                 (images[:, :, :margin], images[:, :, -margin:]))
  if margin > 1:
    first, last = tf.reverse(first, [axis]), tf.reverse(last, [axis])
  return tf.concat([first, images, last], axis)


def resample(images: tf.Tensor, boxes: tf.Tensor, size: int | tf.Tensor,
             flip: tf.Tensor | None = None) -> tf.Tensor:
  """Cuts a box out of every image and resizes it bilinearly, without antialiasing.

  Equals `tf.image.resize` (half-pixel centers) for a box that covers the image. Near the border of
  an inner box the pixels beyond it contribute, where crop-then-resize would repeat the edge.

  Args:
    images: uint8 [B, H, W, C].
    boxes: float [B, 4] of (y, x, height, width) in pixels.
    size: S, or the height and width of the result, int32 [2].
    flip: bool [B], rows to mirror left to right.

  Returns:
    uint8 [B, S, S, C], rounded.
  """
  images = byte_rows.as_floats(images)
  shape = tf.shape(images)
  # crop_and_resize puts its corner samples ON the box's corners and knows nothing beyond the image;
  # a border of one repeated pixel and boxes drawn in by half a sample give half-pixel centers.
  padded = mirrored(mirrored(images, 1, axis=2), 1, axis=1)
  corners = tf.ensure_shape(corners_of(boxes, shape[1:3], size, flip), [images.shape[0], 4])
  sides = [size, size] if isinstance(size, int) else size
  crops = tf.image.crop_and_resize(padded, corners, tf.range(shape[0]), sides)
  return tf.cast(tf.round(crops), tf.uint8)


def corners_of(boxes: tf.Tensor, sides: tf.Tensor, size: int | tf.Tensor,
               flip: tf.Tensor | None = None) -> tf.Tensor:
  """The first and the last samples of boxes, as fractions of an image with its border of one pixel.

  Args:
    boxes, size, flip: see `resample`; boxes [..., 4] and flip [...].
    sides: height and width of the images, int32 [2] or [..., 2].

  Returns:
    float32 [..., 4] of (top, left, bottom, right), as `tf.image.crop_and_resize` takes them.
  """
  y, x, height, width = tf.unstack(tf.cast(boxes, tf.float64), axis=-1)
  rows, columns = tf.unstack(tf.cast(sides + 1, tf.float64), axis=-1)
  num_rows, num_columns = (size, size) if isinstance(size, int) else (size[0], size[1])
  top, bottom = _sample_ends(y, height, rows, num_rows)
  left, right = _sample_ends(x, width, columns, num_columns)
  if flip is not None:  # A box whose right end comes first is read mirrored.
    left, right = tf.where(flip, right, left), tf.where(flip, left, right)
  return tf.cast(tf.stack([top, left, bottom, right], axis=-1), tf.float32)


def drawn_corners(crops: examples.Cropping, sides: tf.Tensor, seeds: tf.Tensor, size: int,
                  training: bool) -> tf.Tensor:
  """The corners float32 [B, V, 4] of a transform's boxes, of sides int32 [B, 2] and seeds [B]."""
  boxes, flip = (crops.train_boxes(sides, seeds) if training else
                 (crops.evaluate_boxes(sides), None))
  if boxes.shape.rank == 2:  # One view.
    boxes, flip = boxes[:, None], None if flip is None else flip[:, None]
  return corners_of(boxes, sides[:, None], size, flip)


class Windows(NamedTuple):
  """The parts of images that their boxes are resampled from; of B images, or of one without B.

  Attributes:
    crop: int32 [B, 4] of (y, x, height, width) in pixels.
    rows: int32 [B, 2], its shape as rows of bytes.
    paddings: int32 [B, 2, 2], rows and bytes that the image has beyond it.
    whole: int32 [B, 4], the shape (1, H + 2, W + 2, 3) of the image with its border.
    corners: float32 [B, V, 4], see `corners_of`.
  """

  crop: tf.Tensor
  rows: tf.Tensor
  paddings: tf.Tensor
  whole: tf.Tensor
  corners: tf.Tensor


def windows_of(corners: tf.Tensor, sides: tf.Tensor) -> Windows:
  """The windows of boxes, each with a margin.

  Decoders of JPEG smooth colors over the edge of a window, so pixels at an edge may be others than
  those of the whole image; no sample is taken there.

  Args:
    corners: float32 [B, V, 4], see `corners_of`.
    sides: int32 [B, 2].
  """
  # In pixels of the image with its border, which begins one earlier.
  places = tf.cast(corners, tf.float64) * tf.cast(tf.tile(sides + 1, [1, 2]), tf.float64)[:, None]
  places = tf.reshape(places, [tf.shape(sides)[0], -1, 2])
  first = tf.cast(tf.floor(tf.reduce_min(places, 1)), tf.int32) - 1 - _MARGIN
  last = tf.cast(tf.math.ceil(tf.reduce_max(places, 1)), tf.int32) + _MARGIN - 1
  first = tf.clip_by_value(first, 0, sides - 1)
  lengths = tf.clip_by_value(last, 0, sides - 1) - first + 1
  one = tf.ones_like(sides[:, :1])
  return Windows(
      tf.concat([first, lengths], 1), lengths * _BYTES,
      tf.stack([first, sides - first - lengths], 2) * _BYTES[:, None],
      tf.concat([one, sides + 2, 3 * one], 1), corners)


def resampled_window(pixels: tf.Tensor, window: Windows, size: int) -> tf.Tensor:
  """What `resample` makes of the boxes of one image, from the image's window alone.

  The coordinates are those of the whole image: the pixels beyond the window are left black, since
  the same box given as a part of a smaller image is rounded to other corners.

  Args:
    pixels: uint8 [h, w, 3], the window.
    window: of the image.
    size: S.

  Returns:
    uint8 [V, S, S, 3].
  """
  # Rows of bytes are padded in a tenth of the time of rows of pixels.
  rows = tf.reshape(pixels, window.rows)
  rows = tf.concat([rows[:, :3], rows, rows[:, -3:]], 1)  # See `resample`.
  rows = tf.pad(tf.concat([rows[:1], rows, rows[-1:]], 0), window.paddings)
  views = tf.zeros([window.corners.shape[0]], tf.int32)
  crops = tf.image.crop_and_resize(
      tf.reshape(rows, window.whole), window.corners, views, [size, size])
  return tf.cast(tf.round(crops), tf.uint8)


def whole_boxes(images: tf.Tensor) -> tf.Tensor:
  """Boxes [B, 4] that cover each of images [B, H, W, C]."""
  batch, height, width, _ = tf.unstack(tf.cast(tf.shape(images), tf.float64))
  return tf.tile(tf.stack([0.0, 0.0, height, width])[None], [tf.cast(batch, tf.int32), 1])


def center_boxes(images: tf.Tensor) -> tf.Tensor:
  """Boxes [B, 4] of the central square; an odd margin's spare pixel is left at bottom or right."""
  shape = tf.shape(images)
  return tf.tile(centers(shape[1:3])[None], [shape[0], 1])


def centers(sides: tf.Tensor) -> tf.Tensor:
  """The central squares of images of sides int32 [..., 2]: float64 [..., 4]."""
  side = tf.reduce_min(sides, axis=-1, keepdims=True)
  return tf.cast(tf.concat([(sides - side) // 2, side, side], axis=-1), tf.float64)


def random_boxes(draws: tf.Tensor, height: Any, width: Any, *, area: tuple[float, float],
                 aspect: tuple[float, float]) -> tf.Tensor:
  """The first of 10 attempted boxes that fits into the image, else the whole image.

  Args:
    draws: float64 [B, 40] in [0, 1): (area, aspect, y, x) of every attempt.
    height: image height in pixels, a scalar or [B].
    width: image width in pixels, likewise.
    area: least and greatest fraction of the image's area, drawn uniformly.
    aspect: least and greatest width / height, drawn uniformly.

  Returns:
    float64 [B, 4]. All arithmetic is float64 +, *, / and sqrt, which are rounded the same way in
    vector and in scalar kernels: a row is bit for bit the same in a batch of any size.
  """
  height, width = (tf.reshape(tf.cast(side, tf.float64), [-1, 1]) for side in (height, width))
  draws = tf.reshape(draws, [-1, _NUM_ATTEMPTS, _DRAWS_PER_ATTEMPT])
  areas = (area[0] + draws[..., 0] * (area[1] - area[0])) * height * width
  aspects = aspect[0] + draws[..., 1] * (aspect[1] - aspect[0])
  widths, heights = tf.sqrt(areas * aspects), tf.sqrt(areas / aspects)
  fits = (widths <= width) & (heights <= height)
  boxes = tf.stack([draws[..., 2] * (height - heights), draws[..., 3] * (width - widths),
                    heights, widths], axis=-1)
  whole = tf.concat([tf.zeros_like(height), tf.zeros_like(width), height, width], axis=1)
  return _first_that_fits(boxes, fits, whole)


def random_boxes_by_height(draws: tf.Tensor, height: Any, width: Any, *,
                           area: tuple[float, float],
                           aspect: tuple[float, float], covered: float = 0.1) -> tf.Tensor:
  """As `random_boxes`, but uniform in the height, as `tf.image.sample_distorted_bounding_box`.

  Of the heights for which a box of the drawn aspect has an allowed area and fits into the image,
  one is drawn. So a long image does not fail because most of its areas allow no such box, and small
  boxes are more frequent.

  Args:
    draws: float64 [B, 40] in [0, 1): (aspect, height, y, x) of every attempt.
    height, width, area, aspect: see `random_boxes`.
    covered: least fraction of the image that a box must cover, else the attempt fails.

  Returns:
    float64 [B, 4]; after 10 failures the central square.
  """
  height, width = (tf.reshape(tf.cast(side, tf.float64), [-1, 1]) for side in (height, width))
  draws = tf.reshape(draws, [-1, _NUM_ATTEMPTS, _DRAWS_PER_ATTEMPT])
  aspects = aspect[0] + draws[..., 0] * (aspect[1] - aspect[0])
  lowest = tf.sqrt(area[0] * height * width / aspects)
  highest = tf.minimum(tf.minimum(tf.sqrt(area[1] * height * width / aspects), height),
                       width / aspects)
  heights = lowest + draws[..., 1] * (highest - lowest)
  widths = heights * aspects
  fits = (lowest <= highest) & (heights * widths >= covered * height * width)
  boxes = tf.stack([draws[..., 2] * (height - heights), draws[..., 3] * (width - widths),
                    heights, widths], axis=-1)
  side = tf.minimum(height, width)
  center = tf.concat([tf.floor((height - side) / 2), tf.floor((width - side) / 2), side, side],
                     axis=1)
  return _first_that_fits(boxes, fits, center)


def _first_that_fits(boxes: tf.Tensor, fits: tf.Tensor, other: tf.Tensor) -> tf.Tensor:
  """Selects the first of boxes [B, A, 4] with `fits` [B, A], else `other` [1 or B, 4]: [B, 4]."""
  first = tf.argmax(tf.cast(fits, tf.float32), axis=1)
  chosen = tf.gather(boxes, first, axis=1, batch_dims=1)
  return tf.where(tf.reduce_any(fits, axis=1)[:, None], chosen, other)


def to_rgb(images: tf.Tensor) -> tf.Tensor:
  """[B, H, W, 1 or 3] -> [B, H, W, 3]; gray is repeated."""
  channels = images.shape[-1]
  if channels == 3:
    return images
  if channels == 1:
    return tf.repeat(images, 3, axis=-1)
  raise ValueError(f"Images have {channels} channels; 1 (gray) and 3 (color) are known.")


def to_gray(images: tf.Tensor) -> tf.Tensor:
  """[B, H, W, 1 or 3] -> [B, H, W, 1], the luminance of colors."""
  return images if images.shape[-1] == 1 else tf.image.rgb_to_grayscale(images)


@dataclasses.dataclass(frozen=True)
class Plain:
  """Resizes the whole image to `size`, in training and in evaluation.

  Attributes:
    size: S. channels: C, 3, or 1 for gray images.
  """

  size: int
  channels: int = 3

  def __post_init__(self) -> None:
    if self.channels not in (1, 3):
      raise ValueError(f"Plain.channels is {self.channels}; allowed are 1 (gray) and 3 (color).")

  @property
  def shape(self) -> tuple[int, int, int]:
    """(S, S, C)."""
    return (self.size, self.size, self.channels)

  def train(self, images: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """uint8 [B, H, W, C] -> uint8 [B, S, S, 3]; nothing is random."""
    del seeds
    return self.evaluate(images)

  def evaluate(self, images: tf.Tensor) -> tf.Tensor:
    """uint8 [B, H, W, 1 or 3] -> uint8 [B, S, S, C]."""
    convert = to_rgb if self.channels == 3 else to_gray
    if images.shape[1:3] == (self.size, self.size):
      return convert(images)
    return convert(resample(images, whole_boxes(images), self.size))


@dataclasses.dataclass(frozen=True)
class AsStored:
  """Leaves images as they are, one channel or three; they must have `size` pixels a side."""

  size: int

  @property
  def shape(self) -> tuple[int, int, int]:
    """(S, S, 3)."""
    return (self.size, self.size, 3)

  def train(self, images: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """uint8 [B, S, S, C] -> the same; nothing is random."""
    del seeds
    return self.evaluate(images)

  def evaluate(self, images: tf.Tensor) -> tf.Tensor:
    """uint8 [B, S, S, C] -> the same."""
    if images.shape[1:3] != (self.size, self.size):
      raise ValueError(f"Images have {images.shape[1]} x {images.shape[2]} pixels; AsStored.size "
                       f"is {self.size}. Set it to their size, or use image_ops.Plain to resize.")
    return images


@dataclasses.dataclass(frozen=True)
class Nevis(examples.Cropping):
  """NEVIS'22 preprocessing: random resized crop and mirror; central square in evaluation.

  Attributes:
    size: S, 64 in the paper.
    area: range of the crop's share of the image.
    aspect: range of the crop's width / height.
    uniform_in: "height" as in the reference (`random_boxes_by_height`, of at least a tenth of the
      image), or "area" as in torchvision (`random_boxes`).
    flip_probability: of mirroring left to right, for every task, digits too.
    crop: whether training crops are random; False: the central square, as in evaluation.
  """

  size: int = 64
  area: tuple[float, float] = (0.08, 1.0)
  aspect: tuple[float, float] = (3 / 4, 4 / 3)
  uniform_in: str = "height"
  flip_probability: float = 0.5
  crop: bool = True

  def __post_init__(self) -> None:
    if self.uniform_in not in ("height", "area"):
      raise ValueError(f"Nevis.uniform_in is {self.uniform_in!r}; allowed are 'height', 'area'.")

  @property
  def shape(self) -> tuple[int, int, int]:
    """(S, S, 3)."""
    return (self.size, self.size, 3)

  def train(self, images: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """uint8 [B, H, W, C], uint64 [B] -> uint8 [B, S, S, 3]."""
    boxes, flip = self.train_boxes(tf.shape(images)[1:3], seeds)
    return to_rgb(resample(images, boxes, self.size, flip))

  def train_boxes(self, sides: tf.Tensor, seeds: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Boxes [B, 4] and flips [B] of images of sides [2] or [B, 2], from seeds [B]."""
    num_draws = _NUM_ATTEMPTS * _DRAWS_PER_ATTEMPT
    draws = sampling.uniform(seeds, num_draws + 1)
    draw = random_boxes_by_height if self.uniform_in == "height" else random_boxes
    if self.crop:
      boxes = draw(draws[:, :num_draws], sides[..., 0], sides[..., 1], area=self.area,
                   aspect=self.aspect)
    else:
      boxes = centers(sides) + tf.zeros_like(draws[:, :4])
    return boxes, draws[:, num_draws] < self.flip_probability

  def evaluate_boxes(self, sides: tf.Tensor) -> tf.Tensor:
    """The central squares [B, 4] of images of sides [B, 2]."""
    return centers(sides)

  def evaluate(self, images: tf.Tensor) -> tf.Tensor:
    """uint8 [B, H, W, C] -> uint8 [B, S, S, 3]."""
    return to_rgb(resample(images, center_boxes(images), self.size))

  def varied(self, *, crop: bool, flip: bool) -> Nevis:
    """The same without random crops or without flips, as a search may choose."""
    probability = self.flip_probability if flip else 0.0
    return dataclasses.replace(self, crop=self.crop and crop, flip_probability=probability)


def cropping(transform: examples.Transform) -> examples.Cropping | None:
  """The transform, if a pipeline may decode and resample only its boxes; else None."""
  if not isinstance(transform, examples.Cropping) or not transform.is_cropping:
    return None

  def maker(name: str) -> type:
    return next(kind for kind in type(transform).__mro__ if name in vars(kind))

  # A subclass may override what is done to whole images, and nothing else.
  is_own = (maker("train") is maker("train_boxes")
            and maker("evaluate") is maker("evaluate_boxes"))
  return transform if is_own else None


@dataclasses.dataclass(frozen=True)
class Rotate:
  """Turns each image by an angle drawn from -max_degrees..max_degrees."""

  max_degrees: float = 15.0

  def __call__(self, images: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """uint8 [B, S, S, 3], uint64 [B] -> uint8 [B, S, S, 3]."""
    turns = sampling.uniform(seeds, 1)[:, 0] * 2.0 - 1.0
    return addons.rotate(images, tf.cast(turns * math.radians(self.max_degrees), tf.float32))


@dataclasses.dataclass(frozen=True)
class Cutout:
  """Blackens one square of `length` pixels (even) at a random place of each image."""

  length: int = 16

  def __call__(self, images: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """uint8 [B, S, S, 3], uint64 [B] -> uint8 [B, S, S, 3]."""
    sides = tf.cast(tf.shape(images)[1:3], tf.float64)
    centers = tf.cast(sampling.uniform(seeds, 2) * sides[None, :], tf.int32)
    return addons.cutout(images, self.length, centers)


@dataclasses.dataclass(frozen=True)
class RandAugment:
  """Changes each image by operations drawn for it, one after the other (Cubuk et al., 2020).

  Attributes:
    num_ops: operations of an image; each is drawn from `keras_cv_models.ops`, of which one is none.
    magnitude: strength of all of them, 0..1; their directions are drawn.
  """

  num_ops: int = 2
  magnitude: float = 0.5

  def __post_init__(self) -> None:
    if self.num_ops < 1 or not 0.0 <= self.magnitude <= 1.0:
      raise ValueError(f"RandAugment has num_ops={self.num_ops}, magnitude={self.magnitude}; "
                       "allowed are a number from 1, and a magnitude from 0 to 1.")

  def __call__(self, images: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """uint8 [B, S, S, 3], uint64 [B] -> uint8 [B, S, S, 3]."""
    draws = tf.unstack(sampling.uniform(seeds, 2 * self.num_ops), 2 * self.num_ops, axis=1)
    ops = list(keras_cv_models.ops().values())
    now = tf.cast(images, tf.float32)
    for chosen, direction in zip(draws[::2], draws[1::2]):
      number = tf.cast(chosen * len(ops), tf.int32)
      strength = tf.where(direction < 0.5, -self.magnitude, self.magnitude)
      changed = now
      for i, op in enumerate(ops):
        changed = tf.where((number == i)[:, None, None, None], op(now, strength), changed)
      now = tf.clip_by_value(changed, 0.0, 255.0)
    return tf.ensure_shape(tf.cast(tf.round(now), tf.uint8), images.shape)


@dataclasses.dataclass(frozen=True)
class Augmented(examples.Cropping):
  """A transform followed, in training only, by further ops such as Rotate and Cutout."""

  base: examples.Transform
  ops: tuple[Op, ...] = ()

  @property
  def size(self) -> int:
    """S, the size of the base transform."""
    return self.base.size

  @property
  def shape(self) -> tuple[int, ...]:
    """That of the base transform."""
    return self.base.shape

  @property
  def storage(self) -> examples.Storage:
    """That of the base transform, its training examples changed by the ops."""
    return AugmentedStorage(of(self.base), self)

  def train(self, images: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """uint8 [B, H, W, C], uint64 [B] -> uint8 [B, S, S, 3]."""
    return self.augmented(self.base.train(images, seeds), seeds)

  @property
  def is_cropping(self) -> bool:
    """Whether the base transform is."""
    return cropping(self.base) is not None

  def train_boxes(self, sides: tf.Tensor, seeds: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor | None]:
    """Those of the base transform."""
    return self._cropping.train_boxes(sides, seeds)

  def evaluate_boxes(self, sides: tf.Tensor) -> tf.Tensor:
    """Those of the base transform."""
    return self._cropping.evaluate_boxes(sides)

  @property
  def _cropping(self) -> examples.Cropping:
    assert isinstance(self.base, examples.Cropping)
    return self.base

  def varied(self, *, crop: bool, flip: bool) -> Augmented:
    """As `Nevis.varied`, of the base transform."""
    if not hasattr(self.base, "varied"):
      raise ValueError(f"Augmented.base is {type(self.base).__name__}, which has no crop or flip "
                       "to search. Use image_ops.Nevis, or remove both from Search.space.")
    return dataclasses.replace(self, base=self.base.varied(crop=crop, flip=flip))

  def changed(self, images: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """Training images from resampled boxes of the base transform."""
    return self.augmented(self._cropping.changed(images, seeds), seeds)

  def augmented(self, images: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """Applies the ops to the base transform's training images."""
    for number, op in enumerate(self.ops, start=1):
      images = op(images, sampling.derive(seeds, -number))
    return images

  def evaluate(self, images: tf.Tensor) -> tf.Tensor:
    """uint8 [B, H, W, C] -> uint8 [B, S, S, 3]."""
    return self.base.evaluate(images)


@dataclasses.dataclass(frozen=True)
class AugmentedStorage(examples.Storage):
  """A storage whose training examples pass the ops of `augmented`."""

  base: examples.Storage
  augmented: Augmented

  @property
  def shape(self) -> tuple[int, ...]:
    """That of the base storage."""
    return self.base.shape

  def store(self, images: tf.Tensor) -> tf.Tensor:
    """As the base storage."""
    return self.base.store(images)

  def train(self, rows: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """Stored [B, ...], uint64 [B] -> uint8 [B, S, S, 3]."""
    return self.augmented.augmented(self.base.train(rows, seeds), seeds)

  def evaluate(self, rows: tf.Tensor) -> tf.Tensor:
    """As the base storage."""
    return self.base.evaluate(rows)


def _sample_ends(start: tf.Tensor, length: tf.Tensor, last: tf.Tensor, size: int | tf.Tensor
                 ) -> tuple[tf.Tensor, tf.Tensor]:
  """Where the first and the last sample of a box lie, as fractions of the padded side."""
  half = 0.5 * length / tf.cast(size, tf.float64)
  return (start + half + 0.5) / last, (start + length - half + 0.5) / last


@dataclasses.dataclass(frozen=True)
class AsEvaluated(examples.Storage):
  """Keeps examples as they are evaluated; training augments these."""

  transform: examples.Transform

  @property
  def shape(self) -> tuple[int, ...]:
    """That of prepared examples."""
    return tuple(self.transform.shape)

  def store(self, images: tf.Tensor) -> tf.Tensor:
    """Images [B, H, W, C] -> examples [B, S, S, 3]."""
    return self.transform.evaluate(images)

  def train(self, rows: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """Examples [B, S, S, 3], uint64 [B] -> augmented examples."""
    return self.transform.train(rows, seeds)

  def evaluate(self, rows: tf.Tensor) -> tf.Tensor:
    """Examples [B, S, S, 3] -> the same."""
    return rows


def of(transform: examples.Transform, *, as_evaluated: bool = False) -> examples.Storage:
  """The form in which a transform's examples are kept: its own, or as they are evaluated."""
  own = None if as_evaluated else getattr(transform, "storage", None)
  return own or AsEvaluated(transform)


@dataclasses.dataclass(frozen=True)
class Storing:
  """A transform whose `evaluate` stores, for the batches of a set."""

  storage: examples.Storage

  @property
  def size(self) -> int:
    """The number of lines of a row."""
    return self.shape[0]

  @property
  def shape(self) -> tuple[int, ...]:
    """That of stored examples."""
    return tuple(self.storage.shape)

  def train(self, images: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """Images [B, H, W, C] -> stored [B, ...]; nothing is random."""
    del seeds
    return self.storage.store(images)

  def evaluate(self, images: tf.Tensor) -> tf.Tensor:
    """Images [B, H, W, C] -> stored [B, ...]."""
    return self.storage.store(images)
