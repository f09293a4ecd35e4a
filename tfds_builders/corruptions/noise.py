# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Noise: gaussian, shot and impulse (and speckle, one of the extra kinds).

The functions of all families take pixels, float64 [H, W, 3] in 0..1, the level of one severity,
and a generator of random numbers. They return pixels of the same shape, which `corrupt` clips.
"""

from __future__ import annotations

import numpy as np


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
