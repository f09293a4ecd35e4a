# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The 19 kinds of corruption, by family: noise, blur, weather, digital, and extra ones.

The functions take pixels, float64 [H, W, 3] in 0..1, the level of one severity, and a generator of
random numbers. They return pixels of the same shape, which `corrupt` clips.

Differences from the published images:

  motion_blur, snow  a numpy version of ImageMagick's operator, which made the published ones
  glass_blur         exchanges neighboring pixels, where the published program copies one to the
                     other because of an aliased array
  frost              the published one is cut out of six photographs, which are not part of this
                     package; here it is a random texture
  jpeg_compression   JPEG is Pillow's: with another version of its library, a few values may differ
                     by one
  spatter            the edges of water drops are found by a threshold, not by Canny's algorithm
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from scipy import ndimage

_WATER = np.array([175, 238, 238]) / 255.0
_MUD = np.array([63, 42, 20]) / 255.0
_EMBOSS = np.array([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]], np.float64)
_FARTHEST = 20.0  # Pixels from the edge of a drop beyond which it looks the same.


def gaussian_noise(pixels: np.ndarray, deviation: float, rng: np.random.Generator) -> np.ndarray:
  return pixels + rng.normal(0.0, deviation, pixels.shape)


def shot_noise(pixels: np.ndarray, photons: float, rng: np.random.Generator) -> np.ndarray:
  """Adds Poisson noise; white is `photons` photons."""
  return rng.poisson(pixels * photons) / photons


def impulse_noise(pixels: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
  """Sets a share of the values, in each channel separately, to 0 or 1 (salt and pepper)."""
  hit = rng.random(pixels.shape) < share
  return np.where(hit, rng.random(pixels.shape) < 0.5, pixels)


def speckle_noise(pixels: np.ndarray, deviation: float, rng: np.random.Generator) -> np.ndarray:
  """Adds Gaussian noise in proportion to the brightness."""
  return pixels * (1.0 + rng.normal(0.0, deviation, pixels.shape))


def defocus_blur(pixels: np.ndarray, level: tuple[float, float],
                 rng: np.random.Generator) -> np.ndarray:
  """Blurs by a disk; level: its radius, and the deviation of the blur that softens its edge."""
  del rng
  kernel = disk(*level)
  return np.stack([ndimage.correlate(pixels[..., c], kernel, mode="mirror")
                   for c in range(pixels.shape[2])], axis=-1)


def glass_blur(pixels: np.ndarray, level: tuple[float, int, int],
               rng: np.random.Generator) -> np.ndarray:
  """Blurs, exchanges near pixels, blurs again; level: deviation, reach, rounds."""
  deviation, reach, rounds = level
  height, width = pixels.shape[:2]
  order = list(range(height * width))
  for _ in range(rounds):
    steps = rng.integers(-reach, reach, (height, width, 2)).tolist()
    for row in range(height - reach - 1, reach, -1):
      for column in range(width - reach - 1, reach, -1):
        down, right = steps[row][column]
        here, there = row * width + column, (row + down) * width + column + right
        order[here], order[there] = order[there], order[here]
  blurred = _gaussian(pixels, deviation).reshape(height * width, -1)
  return _gaussian(blurred[order].reshape(pixels.shape), deviation)


def motion_blur(pixels: np.ndarray, level: tuple[int, float],
                rng: np.random.Generator) -> np.ndarray:
  """Blurs along a line within 45 degrees of horizontal; level: radius and deviation."""
  return along(pixels, *level, angle=rng.uniform(-45.0, 45.0))


def zoom_blur(pixels: np.ndarray, level: tuple[float, float],
              rng: np.random.Generator) -> np.ndarray:
  """Averages the image with itself magnified by 1, 1 + step, ..., 1 + most; level: most, step."""
  del rng
  most, step = level
  total, factors = pixels.copy(), 1.0 + step * np.arange(int(round(most / step)) + 1)
  for factor in factors:
    total += magnified(pixels, factor)
  return total / (len(factors) + 1)


def gaussian_blur(pixels: np.ndarray, deviation: float, rng: np.random.Generator) -> np.ndarray:
  del rng
  return _gaussian(pixels, deviation)


def _gaussian(pixels: np.ndarray, deviation: float) -> np.ndarray:
  return ndimage.gaussian_filter(pixels, (deviation, deviation, 0), mode="nearest", truncate=4.0)


def disk(radius: float, softness: float) -> np.ndarray:
  """Returns a kernel that sums to 1: [17, 17] up to radius 8, else [2 radius + 1, 2 radius + 1].

  Below radius 1 the disk is one pixel, and only its edge blurs (as published).
  """
  reach, width = (8, 1) if radius <= 8 else (int(radius), 2)
  grid = np.arange(-reach, reach + 1)
  hard = (grid[:, None] ** 2 + grid[None] ** 2 <= radius ** 2).astype(np.float64)
  edge = np.exp(-np.arange(-width, width + 1) ** 2 / (2.0 * softness ** 2))
  edge /= edge.sum()
  soft = ndimage.correlate1d(hard / hard.sum(), edge, axis=0, mode="mirror")
  soft = ndimage.correlate1d(soft, edge, axis=1, mode="mirror")
  return soft / soft.sum()


def along(pixels: np.ndarray, radius: int, deviation: float, *, angle: float) -> np.ndarray:
  """Returns the mean of 2 radius + 1 copies, each shifted a pixel further, under half a Gaussian.

  Args:
    pixels: [H, W] or [H, W, C].
    radius: of the trace, in pixels.
    deviation: of the Gaussian.
    angle: of the trace, in degrees from horizontal. Edges are continued.
  """
  steps = np.arange(2 * radius + 1)
  weights = np.exp(-steps ** 2 / (2.0 * deviation ** 2))
  downs = np.rint(steps * np.sin(np.deg2rad(angle))).astype(int)
  rights = np.rint(steps * np.cos(np.deg2rad(angle))).astype(int)
  rows, columns = np.arange(pixels.shape[0]), np.arange(pixels.shape[1])
  total = np.zeros(pixels.shape, np.float64)
  for weight, down, right in zip(weights / weights.sum(), downs, rights):
    from_rows = np.clip(rows + down, 0, len(rows) - 1)
    from_columns = np.clip(columns + right, 0, len(columns) - 1)
    total += weight * pixels[from_rows[:, None], from_columns[None]]
  return total


def magnified(pixels: np.ndarray, factor: float) -> np.ndarray:
  """Returns the middle of the image, magnified (bilinear) to the original size; factor >= 1."""
  size = np.array(pixels.shape[:2])
  crop = np.ceil(size / factor).astype(int)
  top, left = (size - crop) // 2
  middle = pixels[top:top + crop[0], left:left + crop[1]]
  zoom = (factor, factor) + (1,) * (pixels.ndim - 2)
  large = ndimage.zoom(middle, zoom, order=1)
  top, left = (np.array(large.shape[:2]) - size) // 2
  return large[top:top + size[0], left:left + size[1]]


def snow(pixels: np.ndarray, level: tuple[float, ...], rng: np.random.Generator) -> np.ndarray:
  """Adds falling flakes and whitens the picture.

  Level: mean and deviation of the flakes, their magnification, the value below which there is none,
  radius and deviation of their motion, and the share of the original colors.
  """
  mean, deviation, zoom, threshold, radius, motion, left = level
  flakes = rng.normal(mean, deviation, pixels.shape[:2])
  flakes = magnified(flakes, zoom)
  flakes = np.clip(np.where(flakes < threshold, 0.0, flakes), 0.0, 1.0)
  flakes = along(flakes, int(radius), motion, angle=rng.uniform(-135.0, -45.0))[..., None]
  white = np.maximum(pixels, gray(pixels)[..., None] * 1.5 + 0.5)
  return left * pixels + (1.0 - left) * white + flakes + flakes[::-1, ::-1]


def frost(pixels: np.ndarray, level: tuple[float, float], rng: np.random.Generator) -> np.ndarray:
  """Adds ice; level: shares of the picture and of the ice."""
  height, width = pixels.shape[:2]
  return level[0] * pixels + level[1] * crystals(height, width, rng)


def fog(pixels: np.ndarray, level: tuple[float, float], rng: np.random.Generator) -> np.ndarray:
  """Adds fog; level: its thickness, and the decay of its detail from scale to scale."""
  thick, decay = level
  brightest = pixels.max()
  height, width = pixels.shape[:2]
  mist = clouds(height, width, decay, rng)[..., None]
  return (pixels + thick * mist) * brightest / (brightest + thick)


def brightness(pixels: np.ndarray, more: float, rng: np.random.Generator) -> np.ndarray:
  """Adds to the value (of hue, saturation, value)."""
  del rng
  changed = to_hsv(pixels)
  changed[..., 2] = np.clip(changed[..., 2] + more, 0.0, 1.0)
  return to_rgb(changed)


def clouds(height: int, width: int, decay: float, rng: np.random.Generator) -> np.ndarray:
  """Returns plasma by the diamond-square algorithm on a torus: [H, W] in 0..1.

  Args:
    height: of the texture.
    width: of the texture; it is cut out of a square whose side is a power of two.
    decay: > 1; detail is divided by its square from one scale to the next (as published).
    rng: random numbers.
  """
  side = 1 << max(1, (max(height, width) - 1).bit_length())
  field = np.zeros((side, side))
  step, strength = side, 1.0
  while step > 1:
    half = step // 2
    corners = field[::step, ::step]
    pairs = corners + np.roll(corners, -1, axis=0)
    middle = (pairs + np.roll(pairs, -1, axis=1)) / 4.0
    middle = middle + rng.uniform(-strength, strength, corners.shape)
    field[half::step, half::step] = middle
    # Each remaining point lies between two corners and two middles.
    across = corners + np.roll(corners, -1, axis=1) + middle + np.roll(middle, 1, axis=0)
    field[::step, half::step] = across / 4.0 + rng.uniform(-strength, strength, corners.shape)
    upright = corners + np.roll(corners, -1, axis=0) + middle + np.roll(middle, 1, axis=1)
    field[half::step, ::step] = upright / 4.0 + rng.uniform(-strength, strength, corners.shape)
    step, strength = half, strength / decay ** 2
  field -= field.min()
  return (field / (field.max() or 1.0))[:height, :width]


def crystals(height: int, width: int, rng: np.random.Generator) -> np.ndarray:
  """Returns a texture of ice: needles that grow from sparse seeds, [H, W, 3] in 0..1.

  The needles have a few directions, vary in thickness, and are slightly blue.
  """
  reach = max(2, min(height, width) // 8)
  needles = np.zeros((height, width))
  for angle in rng.uniform(0.0, 360.0, 6):
    seeds = (rng.random((height, width)) < 0.04).astype(np.float64)
    needles = np.maximum(needles, along(seeds, reach, reach / 1.5, angle=angle))
  needles /= needles.max() or 1.0
  thick = clouds(height, width, 1.4, rng)
  ice = np.clip(0.25 + 0.45 * thick + 0.6 * needles * (0.4 + thick), 0.0, 1.0)
  return ice[..., None] * np.array([0.86, 0.94, 1.0])


def contrast(pixels: np.ndarray, left: float, rng: np.random.Generator) -> np.ndarray:
  """Scales the distance of each value from the mean of its channel by `left`."""
  del rng
  mean = pixels.mean(axis=(0, 1), keepdims=True)
  return (pixels - mean) * left + mean


def elastic_transform(pixels: np.ndarray, level: tuple[float, float, float],
                      rng: np.random.Generator) -> np.ndarray:
  """Applies a random affine map, then displacements; level: their size, smoothness, jitter."""
  size, smoothness, jitter = level
  height, width = pixels.shape[:2]
  rows, columns = np.mgrid[:height, :width].astype(np.float64)
  moved = _resampled(pixels, *_affine(rows, columns, jitter, rng), mode="mirror")
  down, right = (size * ndimage.gaussian_filter(rng.uniform(-1.0, 1.0, (height, width)), smoothness,
                                                mode="reflect", truncate=3.0) for _ in range(2))
  return _resampled(moved, rows + down, columns + right, mode="reflect")


def _affine(rows: np.ndarray, columns: np.ndarray, jitter: float, rng: np.random.Generator
            ) -> tuple[np.ndarray, np.ndarray]:
  """Returns the source of each pixel, rows and columns, when three points are moved randomly."""
  height, width = rows.shape
  middle, reach = np.array([height // 2, width // 2], np.float64), min(height, width) // 3
  points = middle + reach * np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
  moved = points + rng.uniform(-jitter, jitter, points.shape)
  ones = np.ones((3, 1))
  # moved @ back = points; three points that jitter put on one line have no inverse: least squares.
  back = np.linalg.lstsq(np.hstack([moved, ones]), points, rcond=None)[0]
  places = np.stack([rows.ravel(), columns.ravel(), np.ones(rows.size)], axis=1) @ back
  return places[:, 0].reshape(rows.shape), places[:, 1].reshape(rows.shape)


def _resampled(pixels: np.ndarray, rows: np.ndarray, columns: np.ndarray, mode: str) -> np.ndarray:
  return np.stack([ndimage.map_coordinates(pixels[..., c], [rows, columns], order=1, mode=mode)
                   for c in range(pixels.shape[2])], axis=-1)


def pixelate(pixels: np.ndarray, scale: float, rng: np.random.Generator) -> np.ndarray:
  """Resizes to `scale` times the side and back, both by box averages."""
  from PIL import Image  # pylint: disable=g-import-not-at-top
  del rng
  height, width = pixels.shape[:2]
  small = (max(1, int(width * scale)), max(1, int(height * scale)))
  box = Image.Resampling.BOX
  image = Image.fromarray(_bytes(pixels)).resize(small, box).resize((width, height), box)
  return np.asarray(image) / 255.0


def jpeg_compression(pixels: np.ndarray, quality: int, rng: np.random.Generator) -> np.ndarray:
  from PIL import Image  # pylint: disable=g-import-not-at-top
  del rng
  stream = io.BytesIO()
  Image.fromarray(_bytes(pixels)).save(stream, "JPEG", quality=quality)
  with Image.open(stream, formats=("JPEG",)) as image:
    return np.asarray(image.convert("RGB")) / 255.0


def _bytes(pixels: np.ndarray) -> np.ndarray:
  return np.rint(pixels * 255.0).astype(np.uint8)


def spatter(pixels: np.ndarray, level: tuple[Any, ...], rng: np.random.Generator) -> np.ndarray:
  """Adds drops of water or mud.

  Level: mean and deviation of the noise that makes the drops, its blur, the threshold of a drop,
  the strength of water or the blur of mud, and "water" or "mud".
  """
  mean, deviation, smoothness, threshold, last, liquid = level
  layer = ndimage.gaussian_filter(rng.normal(mean, deviation, pixels.shape[:2]), smoothness,
                                  mode="nearest", truncate=4.0)
  layer = np.where(layer < threshold, 0.0, layer)
  if liquid == "water":
    return pixels + last * _relief(layer)[..., None] * _WATER
  cover = ndimage.gaussian_filter((layer > threshold).astype(np.float64), last, mode="nearest",
                                  truncate=4.0)
  cover = np.where(cover < 0.8, 0.0, cover)[..., None]
  return pixels * (1.0 - cover) + _MUD * cover


def _relief(layer: np.ndarray) -> np.ndarray:
  """Returns the brightness of the drops in 0..1, embossed by the distance from their edges."""
  drops = layer > 0
  edges = drops & ~ndimage.binary_erosion(drops)
  if not edges.any():
    return np.zeros(layer.shape)
  distance = np.minimum(ndimage.distance_transform_edt(~edges), _FARTHEST)
  ranks = _equalized(np.floor(ndimage.uniform_filter(distance, 3, mode="mirror")))
  relief = np.clip(ndimage.correlate(ranks, _EMBOSS, mode="mirror"), 0.0, 255.0)
  shine = layer * ndimage.uniform_filter(relief, 3, mode="mirror")
  return shine / (shine.max() or 1.0)


def _equalized(values: np.ndarray) -> np.ndarray:
  """Maps whole numbers to 0..255 with an even histogram."""
  _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
  below = np.cumsum(counts) - counts[0]
  return (np.rint(255.0 * below / max(1, values.size - counts[0])))[inverse].reshape(values.shape)


def saturate(pixels: np.ndarray, level: tuple[float, float],
             rng: np.random.Generator) -> np.ndarray:
  """Changes the saturation; level: its factor and addend."""
  del rng
  changed = to_hsv(pixels)
  changed[..., 1] = np.clip(changed[..., 1] * level[0] + level[1], 0.0, 1.0)
  return to_rgb(changed)


def to_hsv(rgb: np.ndarray) -> np.ndarray:
  """Converts red, green, blue [..., 3] to hue, saturation, value."""
  value, low = rgb.max(axis=-1), rgb.min(axis=-1)
  spread = value - low
  safe = np.where(spread > 0, spread, 1.0)
  red, green, blue = np.moveaxis(rgb, -1, 0)
  hue = np.select([spread == 0, value == red, value == green],
                  [0.0, (green - blue) / safe, 2.0 + (blue - red) / safe],
                  4.0 + (red - green) / safe)
  return np.stack([hue / 6.0 % 1.0, spread / np.where(value > 0, value, 1.0), value], axis=-1)


def to_rgb(hsv: np.ndarray) -> np.ndarray:
  """Converts hue, saturation, value to red, green, blue: the inverse of `to_hsv`."""
  hue, saturation, value = np.moveaxis(hsv, -1, 0)
  place = (np.array([5.0, 3.0, 1.0]) + 6.0 * hue[..., None]) % 6.0
  part = np.clip(np.minimum(place, 4.0 - place), 0.0, 1.0)
  return value[..., None] * (1.0 - saturation[..., None] * part)


def gray(rgb: np.ndarray) -> np.ndarray:
  """Returns the perceived brightness (ITU-R BT.601): [..., 3] -> [...]."""
  return rgb @ np.array([0.299, 0.587, 0.114])
