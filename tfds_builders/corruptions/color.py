# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Color spaces; all values are in 0..1."""

from __future__ import annotations

import numpy as np


def hsv(rgb: np.ndarray) -> np.ndarray:
  """Converts red, green, blue [..., 3] to hue, saturation, value."""
  value, low = rgb.max(axis=-1), rgb.min(axis=-1)
  spread = value - low
  safe = np.where(spread > 0, spread, 1.0)
  red, green, blue = np.moveaxis(rgb, -1, 0)
  hue = np.select([spread == 0, value == red, value == green],
                  [0.0, (green - blue) / safe, 2.0 + (blue - red) / safe],
                  4.0 + (red - green) / safe)
  return np.stack([hue / 6.0 % 1.0, spread / np.where(value > 0, value, 1.0), value], axis=-1)


def rgb(hsv_pixels: np.ndarray) -> np.ndarray:
  """Converts hue, saturation, value to red, green, blue: the inverse of `hsv`."""
  hue, saturation, value = np.moveaxis(hsv_pixels, -1, 0)
  place = (np.array([5.0, 3.0, 1.0]) + 6.0 * hue[..., None]) % 6.0
  part = np.clip(np.minimum(place, 4.0 - place), 0.0, 1.0)
  return value[..., None] * (1.0 - saturation[..., None] * part)


def gray(rgb_pixels: np.ndarray) -> np.ndarray:
  """Returns the perceived brightness (ITU-R BT.601): [..., 3] -> [...]."""
  return rgb_pixels @ np.array([0.299, 0.587, 0.114])
