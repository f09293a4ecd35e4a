# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Weights and images that follow from names and sizes, so that only answers need to be stored."""

from __future__ import annotations

import zlib

import numpy as np


def weight(name: str, shape: tuple[int, ...]) -> np.ndarray:
  """Returns a float32 array that makes the weight count: norms are not left at 0 and 1."""
  noise = np.random.default_rng(zlib.crc32(name.encode())).standard_normal(shape)
  if name.endswith("running_var"):
    return (1 + 0.2 * np.abs(noise)).astype(np.float32)
  if len(shape) == 1 and name.endswith("weight"):
    return (1 + 0.1 * noise).astype(np.float32)
  fan = int(np.prod(shape[1:])) if len(shape) > 1 else 100
  return np.asarray(noise * fan ** -0.5, np.float32)


def pixels(size: int, num: int) -> np.ndarray:
  """Returns images uint8 [n, S, S, 3]."""
  return np.random.default_rng(0).integers(0, 256, [num, size, size, 3], np.uint8)
