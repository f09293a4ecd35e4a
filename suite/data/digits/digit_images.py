# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The pixels of scikit-learn's handwritten digits, and the changes of the embedded benchmarks.

Every function takes and returns uint8 [N, H, W, 1], white ink on black unless it says otherwise.
"""

from __future__ import annotations

import functools
from typing import Tuple

import numpy as np

NUM_IMAGES = 1797
_GREATEST = 16  # The greatest value of a pixel in the source.


@functools.cache
def load() -> Tuple[np.ndarray, np.ndarray]:
  """(images uint8 [1797, 8, 8, 1], labels int64 [1797]), read-only."""
  from sklearn import datasets  # pylint: disable=import-outside-toplevel  # Half a second.
  source = datasets.load_digits()
  images = np.round(source.images * (255 / _GREATEST)).astype(np.uint8)[..., None]
  labels = source.target.astype(np.int64)
  for array in (images, labels):
    array.setflags(write=False)
  return images, labels


def unchanged(images: np.ndarray) -> np.ndarray:
  """The images as they are."""
  return images


def quarter_turn(images: np.ndarray) -> np.ndarray:
  """Turned by 90 degrees, counter-clockwise."""
  return np.rot90(images, axes=(1, 2))


def noisy_negative(images: np.ndarray) -> np.ndarray:
  """Black ink on white, under noise of a standard deviation of 48; the same noise each time."""
  noise = np.random.default_rng(2007).normal(0.0, 48.0, images.shape)
  return np.clip(np.round(255.0 - images + noise), 0, 255).astype(np.uint8)


def lean_and_fade(images: np.ndarray, *, degrees: float, fade: float) -> np.ndarray:
  """Turned by `degrees` and scaled towards black by the share `fade`."""
  from scipy import ndimage  # pylint: disable=import-outside-toplevel
  turned = ndimage.rotate(images.astype(np.float64), degrees, axes=(1, 2), reshape=False, order=1)
  return np.clip(np.round(turned * (1.0 - fade)), 0, 255).astype(np.uint8)


def mosaics(parts: np.ndarray) -> np.ndarray:
  """[N, 4, H, W, C] -> [N, 2H, 2W, C]: parts 0 1 above parts 2 3."""
  top, bottom = (np.concatenate([parts[:, i], parts[:, i + 1]], axis=2) for i in (0, 2))
  return np.concatenate([top, bottom], axis=1)
