# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Corruption of one image: a pure function of its pixels, its key, the kind and the severity.

The random numbers of an image come from a hash of its key, so a data set can be corrupted in any
order, in parts or in parallel, with the same result. Kinds and levels are those of CIFAR-10-C and
ImageNet-C (Hendrycks and Dietterich, 2019), implemented independently: the images are of the same
kind as the published ones, whose random numbers are not available. `kinds` names other differences,
and what the numbers of a level mean. CIFAR-10-C is made for 32 x 32 pixels and ImageNet-C for 224 x
224; for images of another size, use the set of the nearer size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import hashlib
from typing import Any

import numpy as np

from tfds_builders.corruptions import kinds

CIFAR = "cifar"
IMAGENET = "imagenet"
SEVERITIES = (1, 2, 3, 4, 5)

# The levels of each corruption at severities 1 to 5, as published.
Levels = Mapping[str, tuple[Any, ...]]

_CIFAR: Levels = {
    "gaussian_noise": (.04, .06, .08, .09, .10),
    "shot_noise": (500, 250, 100, 75, 50),
    "impulse_noise": (.01, .02, .03, .05, .07),
    "defocus_blur": ((.3, .4), (.4, .5), (.5, .6), (1, .2), (1.5, .1)),
    "glass_blur": ((.05, 1, 1), (.25, 1, 1), (.4, 1, 1), (.25, 1, 2), (.4, 1, 2)),
    "motion_blur": ((6, 1), (6, 1.5), (6, 2), (8, 2), (9, 2.5)),
    "zoom_blur": ((.05, .01), (.10, .01), (.15, .01), (.20, .01), (.25, .01)),
    "snow": ((.1, .2, 1, .6, 8, 3, .95), (.1, .2, 1, .5, 10, 4, .9),
             (.15, .3, 1.75, .55, 10, 4, .9), (.25, .3, 2.25, .6, 12, 6, .85),
             (.3, .3, 1.25, .65, 14, 12, .8)),
    "frost": ((1, .2), (1, .3), (.9, .4), (.85, .4), (.75, .45)),
    "fog": ((.2, 3), (.5, 3), (.75, 2.5), (1, 2), (1.5, 1.75)),
    "brightness": (.05, .1, .15, .2, .3),
    "contrast": (.75, .5, .4, .3, .15),
    "elastic_transform": ((0., 0., 2.56), (1.6, 6.4, 2.24), (2.56, 1.92, 1.92), (3.2, 1.28, 1.6),
                          (3.2, .96, .96)),
    "pixelate": (.95, .9, .85, .75, .65),
    "jpeg_compression": (80, 65, 58, 50, 40),
    "speckle_noise": (.06, .1, .12, .16, .2),
    "gaussian_blur": (.4, .6, .7, .8, 1),
    "spatter": ((.62, .1, .7, .7, .5, "water"), (.65, .1, .8, .7, .5, "water"),
                (.65, .3, 1, .69, .5, "water"), (.65, .1, .7, .69, .6, "mud"),
                (.65, .1, .5, .68, .6, "mud")),
    "saturate": ((.3, 0), (.1, 0), (1.5, 0), (2, .1), (2.5, .2)),
}

_IMAGENET: Levels = {
    "gaussian_noise": (.08, .12, .18, .26, .38),
    "shot_noise": (60, 25, 12, 5, 3),
    "impulse_noise": (.03, .06, .09, .17, .27),
    "defocus_blur": ((3, .1), (4, .5), (6, .5), (8, .5), (10, .5)),
    "glass_blur": ((.7, 1, 2), (.9, 2, 1), (1, 2, 3), (1.1, 3, 2), (1.5, 4, 2)),
    "motion_blur": ((10, 3), (15, 5), (15, 8), (15, 12), (20, 15)),
    "zoom_blur": ((.10, .01), (.15, .01), (.20, .02), (.25, .02), (.30, .03)),
    "snow": ((.1, .3, 3, .5, 10, 4, .8), (.2, .3, 2, .5, 12, 4, .7), (.55, .3, 4, .9, 12, 8, .7),
             (.55, .3, 4.5, .85, 12, 8, .65), (.55, .3, 2.5, .85, 12, 12, .55)),
    "frost": ((1, .4), (.8, .6), (.7, .7), (.65, .7), (.6, .75)),
    "fog": ((1.5, 2), (2, 2), (2.5, 1.7), (2.5, 1.5), (3, 1.4)),
    "brightness": (.1, .2, .3, .4, .5),
    "contrast": (.4, .3, .2, .1, .05),
    # 244, not 224, as published.
    "elastic_transform": ((488., 170.8, 24.4), (488., 19.52, 48.8), (12.2, 2.44, 4.88),
                          (17.08, 2.44, 4.88), (29.28, 2.44, 4.88)),
    "pixelate": (.6, .5, .4, .3, .25),
    "jpeg_compression": (25, 18, 15, 10, 7),
    "speckle_noise": (.15, .2, .35, .45, .6),
    "gaussian_blur": (1, 2, 3, 4, 6),
    "spatter": ((.65, .3, 4, .69, .6, "water"), (.65, .3, 3, .68, .6, "water"),
                (.65, .3, 2, .68, .5, "water"), (.65, .3, 1, .65, 1.5, "mud"),
                (.67, .4, 1, .65, 1.5, "mud")),
    "saturate": ((.3, 0), (.1, 0), (2, 0), (5, .1), (20, .2)),
}

SETS: Mapping[str, Levels] = {CIFAR: _CIFAR, IMAGENET: _IMAGENET}

# The families of the published archives.
FAMILIES: Mapping[str, tuple[Callable[..., np.ndarray], ...]] = {
    "noise": (kinds.gaussian_noise, kinds.shot_noise, kinds.impulse_noise),
    "blur": (kinds.defocus_blur, kinds.glass_blur, kinds.motion_blur, kinds.zoom_blur),
    "weather": (kinds.snow, kinds.frost, kinds.fog, kinds.brightness),
    "digital": (kinds.contrast, kinds.elastic_transform, kinds.pixelate, kinds.jpeg_compression),
    "extra": (kinds.speckle_noise, kinds.gaussian_blur, kinds.spatter, kinds.saturate),
}
_FUNCTIONS: dict[str, Callable[..., np.ndarray]] = {
    function.__name__: function for family in FAMILIES.values() for function in family}
KINDS = tuple(_FUNCTIONS)


def corrupt(image: np.ndarray, kind: str, severity: int, *, key: str,
            level_set: str = CIFAR) -> np.ndarray:
  """Corrupts one image.

  Args:
    image: uint8 [H, W, 3].
    kind: one of KINDS.
    severity: 1 to 5.
    key: of the image, the same wherever it is corrupted.
    level_set: a name in `SETS`, by the size of the image.

  Returns:
    uint8 [H, W, 3].
  """
  if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3 or 0 in image.shape:
    raise ValueError(f"Got an image of {image.dtype} {image.shape}; allowed: uint8 [H, W, 3]. "
                     "Decode it to three channels.")
  for name, value, allowed in (("kind", kind, KINDS), ("severity", severity, SEVERITIES),
                               ("level_set", level_set, tuple(SETS))):
    if value not in allowed:
      raise ValueError(f"Got {name} {value!r}; allowed: {', '.join(map(str, allowed))}.")
  level = SETS[level_set][kind][severity - 1]
  digest = hashlib.sha256(f"{kind}/{severity}/{key}".encode()).digest()
  rng = np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "big")))
  pixels = _FUNCTIONS[kind](image / 255.0, level, rng)
  # Rounded down, as published; the addend compensates the rounding error of the division by 255.
  return np.floor(np.clip(pixels, 0.0, 1.0) * 255.0 + 1e-6).astype(np.uint8)
