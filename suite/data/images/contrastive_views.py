# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The "aug-plus" augmentation of MoCo V2 (Chen et al., 2020), which makes two views of an image.

Random resized crop (.2-1 of the area), color jitter (.4, .4, .4, .1) with probability .8, gray
with .2, Gaussian blur with .5, mirror with .5. All draws of a row are hashes of its seed, which is
a hash of (seed, position), so that a view is the same on any number of shards; TensorFlow's
`stateless_random_*` image ops draw once for a batch, not once for each of its rows. `Views` makes
several views of one image.
"""

from __future__ import annotations

import dataclasses
import math

import tensorflow as tf

from suite.contracts import examples
from suite.data.images import color_ops
from suite.data.images import image_ops
from suite.data.images import sampling

_CROP_DRAWS = 40
_JITTER_OPS = 4
_NUM_DRAWS = _CROP_DRAWS + 1 + 1 + 2 * _JITTER_OPS + 1 + 2
_FIRST_VIEW = 1000  # Far from the numbers from which other augmentation derives its seeds.


@dataclasses.dataclass(frozen=True)
class AugPlus(examples.Cropping):
  """One view; `view(n)` is the transform of another one.

  Attributes:
    size: S.
    area, aspect: ranges of the crop's share of the image and of its width / height.
    jitter: greatest change of brightness, contrast and saturation, and of hue in turns; factors are
      drawn from 1 - j to 1 + j, in an order that is drawn, too.
    jitter_probability, gray_probability, blur_probability, flip_probability: of each change.
    blur: least and greatest standard deviation in pixels of an image of `blur_at`; a smaller image
      is blurred less in proportion.
    number: of the view.
  """

  size: int = 224
  area: tuple[float, float] = (0.2, 1.0)
  aspect: tuple[float, float] = (3 / 4, 4 / 3)
  jitter: tuple[float, float, float, float] = (0.4, 0.4, 0.4, 0.1)
  jitter_probability: float = 0.8
  gray_probability: float = 0.2
  blur_probability: float = 0.5
  flip_probability: float = 0.5
  blur: tuple[float, float] = (0.1, 2.0)
  blur_at: int = 224
  number: int = 0

  @property
  def shape(self) -> tuple[int, int, int]:
    """(S, S, 3)."""
    return (self.size, self.size, 3)

  def view(self, number: int) -> AugPlus:
    """The same augmentation with other draws."""
    return dataclasses.replace(self, number=number)

  def train(self, images: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """uint8 [B, H, W, C], uint64 [B] -> uint8 [B, S, S, 3]."""
    boxes, flip = self.train_boxes(tf.shape(images)[1:3], seeds)
    return self.changed(image_ops.to_rgb(image_ops.resample(images, boxes, self.size, flip)), seeds)

  def train_boxes(self, sides: tf.Tensor, seeds: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Boxes [B, 4] and flips [B] of images of sides [2] or [B, 2], from seeds [B]."""
    crop, flip, _, _ = self._draws(seeds)
    boxes = image_ops.random_boxes(
        crop, sides[..., 0], sides[..., 1], area=self.area, aspect=self.aspect)
    return boxes, flip[:, 0] < self.flip_probability

  def evaluate_boxes(self, sides: tf.Tensor) -> tf.Tensor:
    """The central squares [B, 4] of images of sides [B, 2]."""
    return image_ops.centers(sides)

  def _draws(self, seeds: tf.Tensor) -> list[tf.Tensor]:
    """Draws [B, ...] of the crop, the mirror, the colors and the blur."""
    draws = sampling.uniform(sampling.derive(seeds, _FIRST_VIEW + self.number), _NUM_DRAWS)
    return tf.split(draws, [_CROP_DRAWS, 1, 2 + 2 * _JITTER_OPS, 2], axis=1)

  def changed(self, images: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """Crops uint8 [B, S, S, 3] with other colors, some blurred."""
    _, _, color, blur = self._draws(seeds)
    pixels = color_ops.recolored(images, self._color(images, color))
    if self.blur_probability and self.blur[1]:
      scale = self.size / self.blur_at
      low, high = (sigma * scale for sigma in self.blur)
      sigmas = low + (high - low) * blur[:, 1]
      sigmas = tf.where(blur[:, 0] < self.blur_probability, sigmas, 0.0)
      radius = min(max(1, math.ceil(3.0 * high)), self.size)
      pixels = color_ops.blurred(pixels, sigmas, radius=radius)
    return tf.cast(tf.round(pixels), tf.uint8)

  def evaluate(self, images: tf.Tensor) -> tf.Tensor:
    """uint8 [B, H, W, C] -> uint8 [B, S, S, 3]: the central square."""
    return image_ops.to_rgb(
        image_ops.resample(images, image_ops.center_boxes(images), self.size))

  def _color(self, images: tf.Tensor, draws: tf.Tensor) -> color_ops.Affine:
    """The jitter and grayness of each image, from draws [B, 10]."""
    unchanged = color_ops.nothing(tf.shape(images)[0])
    factors = [1.0 + self.jitter[i] * (2.0 * draws[:, i] - 1.0) for i in range(3)]
    turns = self.jitter[3] * (2.0 * draws[:, 3] - 1.0)
    order = tf.argsort(draws[:, _JITTER_OPS:2 * _JITTER_OPS], axis=1)
    others = {0: color_ops.brightness(factors[0]), 2: color_ops.saturation(factors[2]),
              3: color_ops.hue(turns)}
    means, jitter = color_ops.mean_colors(images), unchanged
    for place in range(_JITTER_OPS):
      # Contrast refers to the mean of the changed image.
      step = color_ops.contrast(factors[1], color_ops.transformed(jitter, means))
      for number, op in others.items():
        step = color_ops.chosen(order[:, place] == number, op, step)
      jitter = color_ops.then(jitter, step)
    is_jittered, is_gray = (draws[:, 2 * _JITTER_OPS + i] < p for i, p in enumerate(
        (self.jitter_probability, self.gray_probability)))
    found = color_ops.chosen(is_jittered, jitter, unchanged)
    gray = color_ops.saturation(tf.zeros_like(turns))
    return color_ops.chosen(is_gray, color_ops.then(found, gray), found)


@dataclasses.dataclass(frozen=True)
class Views(examples.Cropping):
  """Several views of an image as one example [V, S, S, 3], so that it is read and decoded once.

  Attributes:
    transforms: of the views, of one shape.
  """

  transforms: tuple[examples.Transform, ...]

  @property
  def size(self) -> int:
    """S."""
    return self.transforms[0].size

  @property
  def shape(self) -> tuple[int, ...]:
    """(V, S, S, 3)."""
    return (len(self.transforms), *self.transforms[0].shape)

  @property
  def is_cropping(self) -> bool:
    """Whether all transforms are."""
    return all(image_ops.cropping(view) is not None for view in self.transforms)

  def train(self, images: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """uint8 [B, H, W, C], uint64 [B] -> uint8 [B, V, S, S, 3]."""
    return tf.stack([view.train(images, seeds) for view in self.transforms], 1)

  def evaluate(self, images: tf.Tensor) -> tf.Tensor:
    """uint8 [B, H, W, C] -> uint8 [B, V, S, S, 3]."""
    return tf.stack([view.evaluate(images) for view in self.transforms], 1)

  def train_boxes(self, sides: tf.Tensor, seeds: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Boxes [B, V, 4] and flips [B, V]."""
    found = [view.train_boxes(sides, seeds) for view in self._croppings()]
    still = tf.zeros(tf.shape(seeds), tf.bool)
    return (tf.stack([boxes for boxes, _ in found], 1),
            tf.stack([still if flip is None else flip for _, flip in found], 1))

  def evaluate_boxes(self, sides: tf.Tensor) -> tf.Tensor:
    """Boxes [B, V, 4]."""
    return tf.stack([view.evaluate_boxes(sides) for view in self._croppings()], 1)

  def changed(self, images: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """Crops [B, V, S, S, 3], each changed as its view is."""
    return tf.stack([view.changed(images[:, number], seeds)
                     for number, view in enumerate(self._croppings())], 1)

  def _croppings(self) -> list[examples.Cropping]:
    return [view for view in self.transforms if isinstance(view, examples.Cropping)]
