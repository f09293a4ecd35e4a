# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Digital: contrast, elastic transform, pixelate and JPEG.

JPEG is Pillow's: with another version of its library, a few values may differ by one.
"""

from __future__ import annotations

import io

import numpy as np
from scipy import ndimage


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
