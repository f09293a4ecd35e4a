# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Corruption of one image: a pure function of its pixels, its key, the kind and the severity.

The random numbers of an image come from a hash of its key, so a data set can be corrupted in any
order, in parts or in parallel, with the same result. Kinds and levels are those of CIFAR-10-C and
ImageNet-C (Hendrycks and Dietterich, 2019), implemented independently: the images are of the same
kind as the published ones, whose random numbers are not available. The families' modules name
other differences.
"""

from __future__ import annotations

import hashlib
from typing import Callable, Mapping

import numpy as np

from tfds_builders.corruptions import blur
from tfds_builders.corruptions import digital
from tfds_builders.corruptions import extra
from tfds_builders.corruptions import levels
from tfds_builders.corruptions import noise
from tfds_builders.corruptions import weather

SEVERITIES = (1, 2, 3, 4, 5)

# The families of the published archives.
FAMILIES: Mapping[str, tuple[Callable[..., np.ndarray], ...]] = {
    "noise": (noise.gaussian_noise, noise.shot_noise, noise.impulse_noise),
    "blur": (blur.defocus_blur, blur.glass_blur, blur.motion_blur, blur.zoom_blur),
    "weather": (weather.snow, weather.frost, weather.fog, weather.brightness),
    "digital": (digital.contrast, digital.elastic_transform, digital.pixelate,
                digital.jpeg_compression),
    "extra": (noise.speckle_noise, blur.gaussian_blur, extra.spatter, extra.saturate),
}
_FUNCTIONS: dict[str, Callable[..., np.ndarray]] = {
    function.__name__: function for family in FAMILIES.values() for function in family}
KINDS = tuple(_FUNCTIONS)


def corrupt(image: np.ndarray, kind: str, severity: int, *, key: str,
            level_set: str = levels.CIFAR) -> np.ndarray:
  """Corrupts one image.

  Args:
    image: uint8 [H, W, 3].
    kind: one of KINDS.
    severity: 1 to 5.
    key: of the image, the same wherever it is corrupted.
    level_set: a name in `levels.SETS`, by the size of the image.

  Returns:
    uint8 [H, W, 3].
  """
  if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3 or 0 in image.shape:
    raise ValueError(f"Got an image of {image.dtype} {image.shape}; allowed: uint8 [H, W, 3]. "
                     "Decode it to three channels.")
  for name, value, allowed in (("kind", kind, KINDS), ("severity", severity, SEVERITIES),
                               ("level_set", level_set, tuple(levels.SETS))):
    if value not in allowed:
      raise ValueError(f"Got {name} {value!r}; allowed: {', '.join(map(str, allowed))}.")
  level = levels.SETS[level_set][kind][severity - 1]
  pixels = _FUNCTIONS[kind](image / 255.0, level, _generator(key, kind, severity))
  # Rounded down, as published; the addend compensates the rounding error of the division by 255.
  return np.floor(np.clip(pixels, 0.0, 1.0) * 255.0 + 1e-6).astype(np.uint8)


def _generator(key: str, kind: str, severity: int) -> np.random.Generator:
  digest = hashlib.sha256(f"{kind}/{severity}/{key}".encode()).digest()
  return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "big")))
