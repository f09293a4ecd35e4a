# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Blur: defocus, glass, motion and zoom (and gaussian, one of the extra kinds).

Differences from the published images: `motion_blur` is a numpy version of ImageMagick's operator,
which made the published ones; `glass_blur` exchanges neighboring pixels, where the published
program copies one to the other because of an aliased array.
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage


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
