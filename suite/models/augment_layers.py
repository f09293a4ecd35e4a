# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The image operations of RandAugment (Cubuk et al., 2020), as keras-cv's layers compute them.

keras-cv's own `RandAugment` draws from a generator with state, so that an image's augmentation
would depend on all images before it. Its layers also take given strengths: those are used here.
Strengths are as in the paper for geometry (at most 0.3 of the side), and as in keras-cv otherwise.
"""

from __future__ import annotations

import functools
from typing import Any, Callable

import tensorflow as tf

from suite.models import keras_cv_models

_PIXELS = (0, 255)
_GEOMETRY, _ADDITION = 0.3, 110.0  # Greatest shear and shift; greatest addition of solarize.

Op = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]


@functools.cache
def _layers() -> dict[str, Callable[[tf.Tensor, Any], tf.Tensor]]:
  """keras-cv's layers as functions of images and transformations."""
  layers, settings = keras_cv_models.library().layers, {"dtype": "float32"}
  with tf.init_scope():  # Each asks for the global generator, whose variables no graph can make.
    try:
      tf.random.get_global_generator()
    except RuntimeError:  # Where ops are deterministic it must be set; nothing draws from it.
      tf.random.set_global_generator(tf.random.Generator.from_seed(0))
    made = {
        "auto_contrast": layers.AutoContrast(_PIXELS, **settings),
        "equalize": layers.Equalization(_PIXELS, **settings),
        "solarize": layers.Solarization(_PIXELS, **settings),
        "color": layers.RandomColorDegeneration(1.0, **settings),
        "contrast": layers.RandomContrast(_PIXELS, 1.0, **settings),
        "brightness": layers.RandomBrightness(1.0, _PIXELS, **settings),
        "shear": layers.RandomShear(1.0, 1.0, fill_mode="constant", **settings),
        "translate": layers.RandomTranslation(1.0, 1.0, fill_mode="constant", **settings)}
  functions = {name: layer.augment_images for name, layer in made.items()}
  # It asks whether a tensor is true, which only AutoGraph understands; a caller may do without it.
  functions["equalize"] = tf.function(functions["equalize"])
  return functions


def ops() -> dict[str, Op]:
  """Returns the operations by name.

  Each maps images float32 [B, H, W, 3] of 0..255 and strengths float32 [B] from -1 to 1 to images
  of the same range; of those that have no direction, only the size of a strength matters.
  """
  made = _layers()

  def by(name: str, transformation: Callable[[tf.Tensor], Any]) -> Op:
    return lambda images, strength: made[name](images, transformation(strength))

  def each(strength: tf.Tensor) -> tf.Tensor:
    return strength[:, None, None, None]

  def shift(down: float, right: float) -> Op:
    return by("translate", lambda s: {"height_translations": s[:, None] * _GEOMETRY * down,
                                      "width_translations": s[:, None] * _GEOMETRY * right})

  return {
      "identity": lambda images, strength: images,
      "auto_contrast": by("auto_contrast", lambda s: None),
      "equalize": by("equalize", lambda s: None),
      "solarize": by("solarize", lambda s: {"additions": each(tf.abs(s)) * _ADDITION,
                                            "thresholds": 255.0 * (1.0 - each(tf.abs(s)))}),
      "color": by("color", lambda s: each(tf.abs(s))),
      "contrast": by("contrast", lambda s: 1.0 + each(s)),
      "brightness": by("brightness", lambda s: 255.0 * each(s)),
      "shear_x": by("shear", lambda s: {"shear_x": s[:, None] * _GEOMETRY, "shear_y": None}),
      "shear_y": by("shear", lambda s: {"shear_x": None, "shear_y": s[:, None] * _GEOMETRY}),
      "translate_x": shift(0.0, 1.0),
      "translate_y": shift(1.0, 0.0)}
