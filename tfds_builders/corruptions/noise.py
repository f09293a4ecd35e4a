# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Noise: gaussian, shot and impulse (and speckle, one of the extra kinds).

In all families: pixels float64 [H, W, 3] in 0..1, the level of one severity, and a generator of
random numbers, to pixels of the same shape; values outside 0..1 are clipped afterwards.
"""

from __future__ import annotations

import numpy as np


def gaussian_noise(pixels: np.ndarray, deviation: float, rng: np.random.Generator) -> np.ndarray:
  return pixels + rng.normal(0.0, deviation, pixels.shape)


def shot_noise(pixels: np.ndarray, photons: float, rng: np.random.Generator) -> np.ndarray:
  """Poisson noise; `photons` arrive where the image is white."""
  return rng.poisson(pixels * photons) / photons


def impulse_noise(pixels: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
  """Salt and pepper: a share of the values, each channel by itself, becomes 0 or 1."""
  hit = rng.random(pixels.shape) < share
  return np.where(hit, rng.random(pixels.shape) < 0.5, pixels)


def speckle_noise(pixels: np.ndarray, deviation: float, rng: np.random.Generator) -> np.ndarray:
  """Gaussian noise in proportion to the brightness."""
  return pixels * (1.0 + rng.normal(0.0, deviation, pixels.shape))
