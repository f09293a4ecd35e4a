# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The image transform of CLEAR's experiments: shorter side to S, a square of S pixels, a mirror.

Images of any aspect ratio in an array of one shape, so that a graph can cut a square of each.

The shorter side has S pixels, the longer one l, at most L. A stored image is uint8 [1 + L, S, 3]:

  line 0         (l // 256, l % 256, 1 if the image is wide), then zeros
  lines 1 ... l  rows of a tall image from the top, or columns of a wide one from the left
  the others     zeros

A square begins at a line between 0 and l - S.
"""

from __future__ import annotations

import dataclasses

import tensorflow as tf

from suite.compute import byte_rows
from suite.contracts import examples
from suite.data.images import image_ops
from suite.data.images import sampling


@dataclasses.dataclass(frozen=True)
class Clear(examples.Cropping):
  """Resizes the shorter side to S; the square is at a random place in training, else central.

  Attributes:
    size: S, 224 in the paper.
    flip_probability: of mirroring left to right in training.
    longest: the longer side that is stored, as a multiple of S; both ends of a longer one are cut.
      CLEAR's images have an aspect ratio of at most 2. 1 stores the central square. A stored image
      takes as many times the memory of a square.
  """

  size: int = 224
  flip_probability: float = 0.5
  longest: float = 2.0

  def __post_init__(self) -> None:
    if self.longest < 1:
      raise ValueError(f"Clear.longest is {self.longest}; it must be at least 1, for squares.")

  @property
  def shape(self) -> tuple[int, int, int]:
    """(S, S, 3)."""
    return (self.size, self.size, 3)

  @property
  def storage(self) -> examples.Storage:
    """Images at their aspect ratio, so that each step cuts another square."""
    return Uncropped(self) if self.longest > 1 else image_ops.AsEvaluated(self)

  def draws(self, seeds: tf.Tensor, wide: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Place of the square in [0, 1) and whether it is mirrored, of seeds [B]; wide: [B] or []."""
    draws = sampling.uniform(seeds, 3)
    return tf.where(wide, draws[:, 1], draws[:, 0]), draws[:, 2] < self.flip_probability

  def train(self, images: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """uint8 [B, H, W, C], uint64 [B] -> uint8 [B, S, S, 3]."""
    if images.shape[1:3] == (self.size, self.size):  # Nothing to crop: only a mirror.
      _, flip = self.draws(seeds, tf.constant(False))
      images = image_ops.to_rgb(images)
      return tf.where(flip[:, None, None, None], tf.reverse(images, [2]), images)
    boxes, flip = self.train_boxes(tf.shape(images)[1:3], seeds)
    return image_ops.to_rgb(image_ops.resample(images, boxes, self.size, flip))

  def evaluate(self, images: tf.Tensor) -> tf.Tensor:
    """uint8 [B, H, W, C] -> uint8 [B, S, S, 3]."""
    boxes = self.evaluate_boxes(tf.tile(tf.shape(images)[None, 1:3], [tf.shape(images)[0], 1]))
    return image_ops.to_rgb(image_ops.resample(images, boxes, self.size))

  def train_boxes(self, sides: tf.Tensor, seeds: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Squares [B, 4] along the longer side, and flips [B]; sides are [2] or [B, 2], seeds [B]."""
    places, flip = self.draws(seeds, is_wide(sides))
    return self._squares(sides, places), flip

  def evaluate_boxes(self, sides: tf.Tensor) -> tf.Tensor:
    """The central squares [B, 4] of images of sides [B, 2]."""
    return self._squares(sides, None)

  def _squares(self, sides: tf.Tensor, places: tf.Tensor | None) -> tf.Tensor:
    """Squares at places in [0, 1), [B], along the longer side; None: the central ones."""
    whole = resized_length(sides, self.size)
    length = tf.minimum(whole, shape(self.size, self.longest)[0] - 1)
    starts = (whole - length) // 2 + starts_of(places, length, self.size)
    return box(sides, starts, self.size, self.size)


@dataclasses.dataclass(frozen=True)
class Uncropped(examples.Storage):
  """The storage of `Clear`; see the module."""

  transform: Clear

  @property
  def shape(self) -> tuple[int, int, int]:
    """(1 + L, S, 3)."""
    return shape(self.transform.size, self.transform.longest)

  def store(self, images: tf.Tensor) -> tf.Tensor:
    """uint8 [B, H, W, C] -> uint8 [B, 1 + L, S, 3]."""
    return pack(images, self.transform.size, self.transform.longest)

  def train(self, rows: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """uint8 [B, 1 + L, S, 3], uint64 [B] -> uint8 [B, S, S, 3]."""
    places, flip = self.transform.draws(seeds, is_packed_wide(rows))
    starts = starts_of(places, lengths(rows), self.transform.size)
    return squares(rows, starts, flip)

  def evaluate(self, rows: tf.Tensor) -> tf.Tensor:
    """uint8 [B, 1 + L, S, 3] -> uint8 [B, S, S, 3]."""
    return squares(
        rows, starts_of(None, lengths(rows), self.transform.size))


def starts_of(places: tf.Tensor | None, lengths: tf.Tensor, size: int) -> tf.Tensor:
  """First lines of squares, int32 [B], from places in [0, 1) and lengths, [B] or [].

  places=None: the central ones, of the shape of the lengths.
  """
  spare = lengths - size
  if places is None:
    return spare // 2
  return tf.cast(tf.floor(places * tf.cast(spare + 1, tf.float64)), tf.int32)


def shape(size: int, longest: float) -> tuple[int, int, int]:
  """Shape of a stored image; `longest` is L / S."""
  return (1 + int(size * longest), size, 3)


def resized_length(sides: tf.Tensor, size: int) -> tf.Tensor:
  """Pixels along the longer side, int32 [...], of images of sides [..., 2] resized to S."""
  return size * tf.reduce_max(sides, -1) // tf.reduce_min(sides, -1)


def box(sides: tf.Tensor, starts: tf.Tensor, length: tf.Tensor | int, size: int) -> tf.Tensor:
  """Boxes of images that become `length` lines of `size` pixels; see `image_ops.resample`.

  Args:
    sides: height and width of the images, int32 [2] or [B, 2].
    starts: [B], the first line of each, of the resized image.
    length: of the box, in lines.
    size: S.

  Returns:
    float64 [B, 4] of (y, x, height, width).
  """
  pixels = tf.cast(sides, tf.float64)
  scale = tf.reduce_max(pixels, -1) / tf.cast(resized_length(sides, size), tf.float64)
  first = scale * tf.cast(starts, tf.float64)
  whole = tf.zeros_like(first)
  along, across = scale * tf.cast(length, tf.float64) + whole, tf.reduce_min(pixels, -1) + whole
  return tf.where(is_wide(sides)[..., None], tf.stack([whole, first, across, along], 1),
                  tf.stack([first, whole, along, across], 1))


def is_wide(sides: tf.Tensor) -> tf.Tensor:
  """Whether images of sides int32 [..., 2] are wider than high, bool [...]."""
  return sides[..., 1] > sides[..., 0]


def pack(images: tf.Tensor, size: int, longest: float) -> tf.Tensor:
  """Stores images uint8 [B, H, W, C]; of a side longer than L the central part.

  Returns:
    uint8 [B, 1 + L, S, 3].
  """
  lines, _, channels = shape(size, longest)
  known, sides = images.shape[1:3], tf.shape(images)[1:3]
  if known.is_fully_defined() and min(known) == size and max(known) < lines:
    resized, wide, length = images, tf.constant(known[1] > known[0]), tf.constant(max(known))
  else:
    whole, wide = resized_length(sides, size), is_wide(sides)
    length = tf.minimum(whole, lines - 1)
    starts = tf.fill(tf.shape(images)[:1], (whole - length) // 2)
    new_sides = tf.where(wide, tf.stack([size, length]), tf.stack([length, size]))
    resized = image_ops.resample(images, box(sides, starts, length, size), new_sides)
  upright = tf.transpose(image_ops.to_rgb(resized), tf.where(wide, [0, 2, 1, 3], [0, 1, 2, 3]))
  facts = tf.cast(tf.stack([length // 256, length % 256, tf.cast(wide, tf.int32)]), tf.uint8)
  head = tf.tile(tf.pad(facts[None, None, None], [[0, 0], [0, 0], [0, size - 1], [0, 0]]),
                 tf.stack([tf.shape(images)[0], 1, 1, 1]))
  rest = [[0, 0], [0, lines - 1 - length], [0, 0], [0, 0]]
  packed = tf.concat([head, tf.pad(upright, rest)], 1)
  return tf.ensure_shape(packed, [images.shape[0], lines, size, channels])


def lengths(packed: tf.Tensor) -> tf.Tensor:
  """Lines l of stored images [B, 1 + L, S, 3]: int32 [B]. Zeros are a black square."""
  facts = tf.cast(packed[:, 0, 0], tf.int32)
  return tf.maximum(256 * facts[:, 0] + facts[:, 1], packed.shape[2])


def is_packed_wide(packed: tf.Tensor) -> tf.Tensor:
  """Whether the images of [B, 1 + L, S, 3] are wider than high, bool [B]."""
  return packed[:, 0, 0, 2] > 0


def squares(packed: tf.Tensor, starts: tf.Tensor, flip: tf.Tensor | None = None) -> tf.Tensor:
  """Cuts a square out of each stored image.

  One gather of pixels places, turns and mirrors: three ops on images take four times as long.

  Args:
    packed: uint8 [B, 1 + L, S, 3].
    starts: int32 [B], the first line of each square.
    flip: bool [B], squares to mirror left to right; None: none.

  Returns:
    uint8 [B, S, S, 3].
  """
  lines, size = packed.shape[1:3]
  wide = is_packed_wide(packed)
  first = lines * size * tf.range(tf.shape(packed)[0], dtype=tf.int64)
  first += size * (1 + tf.cast(starts, tf.int64))
  along, across = size * tf.ones_like(first), tf.ones_like(first)
  # From a pixel to the one below it, and to the one on its right.
  down, right = tf.where(wide, across, along), tf.where(wide, along, across)
  if flip is not None:
    first += tf.where(flip, (size - 1) * right, tf.zeros_like(first))
    right = tf.where(flip, -right, right)
  steps = tf.range(size, dtype=tf.int64)
  pixels = (first[:, None, None] + (down[:, None] * steps)[:, :, None]
            + (right[:, None] * steps)[:, None, :])
  flat = tf.reshape(byte_rows.as_floats(packed), [-1, packed.shape[3]])
  cut = tf.cast(tf.gather(flat, pixels), packed.dtype)
  return tf.ensure_shape(cut, [packed.shape[0], size, size, packed.shape[3]])
