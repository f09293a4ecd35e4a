# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Extra kinds that belong to no other family: spatter and saturate.

Difference from the published images: the edges of water drops are found by a threshold, not by
Canny's algorithm.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage

from tfds_builders.corruptions import color

_WATER = np.array([175, 238, 238]) / 255.0
_MUD = np.array([63, 42, 20]) / 255.0
_EMBOSS = np.array([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]], np.float64)
_FARTHEST = 20.0  # Pixels from the edge of a drop beyond which it looks the same.


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
  changed = color.hsv(pixels)
  changed[..., 1] = np.clip(changed[..., 1] * level[0] + level[1], 0.0, 1.0)
  return color.rgb(changed)
