# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Random textures: clouds for fog, crystals for frost."""

from __future__ import annotations

import numpy as np

from tfds_builders.corruptions import blur


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
    needles = np.maximum(needles, blur.along(seeds, reach, reach / 1.5, angle=angle))
  needles /= needles.max() or 1.0
  thick = clouds(height, width, 1.4, rng)
  ice = np.clip(0.25 + 0.45 * thick + 0.6 * needles * (0.4 + thick), 0.0, 1.0)
  return ice[..., None] * np.array([0.86, 0.94, 1.0])
