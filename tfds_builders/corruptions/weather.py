# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Weather: snow, frost, fog and brightness.

Differences from the published images: the published frost is cut out of six photographs, which
are not part of this package; here it is a random texture. Snow uses the motion blur of `blur`.
"""

from __future__ import annotations

import numpy as np

from tfds_builders.corruptions import blur
from tfds_builders.corruptions import color
from tfds_builders.corruptions import texture


def snow(pixels: np.ndarray, level: tuple[float, ...], rng: np.random.Generator) -> np.ndarray:
  """Adds falling flakes and whitens the picture.

  Level: mean and deviation of the flakes, their magnification, the value below which there is none,
  radius and deviation of their motion, and the share of the original colors.
  """
  mean, deviation, zoom, threshold, radius, motion, left = level
  flakes = rng.normal(mean, deviation, pixels.shape[:2])
  flakes = blur.magnified(flakes, zoom)
  flakes = np.clip(np.where(flakes < threshold, 0.0, flakes), 0.0, 1.0)
  flakes = blur.along(flakes, int(radius), motion, angle=rng.uniform(-135.0, -45.0))[..., None]
  white = np.maximum(pixels, color.gray(pixels)[..., None] * 1.5 + 0.5)
  return left * pixels + (1.0 - left) * white + flakes + flakes[::-1, ::-1]


def frost(pixels: np.ndarray, level: tuple[float, float], rng: np.random.Generator) -> np.ndarray:
  """Adds ice; level: shares of the picture and of the ice."""
  height, width = pixels.shape[:2]
  return level[0] * pixels + level[1] * texture.crystals(height, width, rng)


def fog(pixels: np.ndarray, level: tuple[float, float], rng: np.random.Generator) -> np.ndarray:
  """Adds fog; level: its thickness, and the decay of its detail from scale to scale."""
  thick, decay = level
  brightest = pixels.max()
  height, width = pixels.shape[:2]
  mist = texture.clouds(height, width, decay, rng)[..., None]
  return (pixels + thick * mist) * brightest / (brightest + thick)


def brightness(pixels: np.ndarray, more: float, rng: np.random.Generator) -> np.ndarray:
  """Adds to the value (of hue, saturation, value)."""
  del rng
  changed = color.hsv(pixels)
  changed[..., 2] = np.clip(changed[..., 2] + more, 0.0, 1.0)
  return color.rgb(changed)
