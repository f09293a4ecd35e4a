# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The only module that uses tensorflow-addons: decoupled weight decay, rotation, cutout.

The library has reached its end of life: 0.23 is the last release, for TensorFlow up to 2.15 and
Python up to 3.11. It is imported on first use, without its end-of-life warning. Where it is not
installed, `decoupled_decay` and `image_transforms` stand in for it; the results are equal. The
optimizers of both derive from Keras's *legacy* optimizers: they work under `tf.distribute` and in
`tf.train.Checkpoint`, but `optimizer.variables` is a method.
"""

from __future__ import annotations

import functools
import importlib.util
from typing import Any, Callable
import warnings

import tensorflow as tf

from suite.models import decoupled_decay
from suite.models import image_transforms

Decays = Callable[[tf.Variable], bool]


@functools.cache
def _library() -> Any:
  """The library; None where it is not installed."""
  if importlib.util.find_spec("tensorflow_addons") is None:
    return None
  with warnings.catch_warnings():
    warnings.filterwarnings("ignore", message=r"(?s).*TensorFlow Addons \(TFA\) has ended")
    import tensorflow_addons
  return tensorflow_addons


def sgdw(*, learning_rate: Any, weight_decay: Any, momentum: float, nesterov: bool,
         decays: Decays) -> tf.keras.optimizers.legacy.Optimizer:
  """Builds SGD with decoupled weight decay (Loshchilov & Hutter, 2019).

  Before each step, w -= weight_decay * w.

  Args:
    learning_rate: a number or schedule.
    weight_decay: a number or schedule; *not* multiplied by the learning rate here.
    momentum: decay of the velocity.
    nesterov: whether to use Nesterov's momentum.
    decays: which variables decay.
  """
  library = _library()
  base = decoupled_decay.SGDW if library is None else library.optimizers.SGDW
  return _selective(base, decays)(
      weight_decay=weight_decay, learning_rate=learning_rate, momentum=momentum, nesterov=nesterov)


def adamw(*, learning_rate: Any, weight_decay: Any, beta_1: float, beta_2: float, epsilon: float,
          decays: Decays) -> tf.keras.optimizers.legacy.Optimizer:
  """Builds Adam with decoupled weight decay; arguments as for `sgdw`."""
  library = _library()
  base = decoupled_decay.AdamW if library is None else library.optimizers.AdamW
  return _selective(base, decays)(
      weight_decay=weight_decay, learning_rate=learning_rate, beta_1=beta_1, beta_2=beta_2,
      epsilon=epsilon)


def _selective(base: type, decays: Decays) -> type:
  """Subclass of `base` in which `decays` decides which variables decay.

  The library's own lists (`exclude_from_weight_decay`, `decay_var_list`) compare a replica's
  variable with the distributed one and never match, so under MirroredStrategy no variable would
  decay.
  """
  class Selective(base):

    def _do_use_weight_decay(self, var):
      return decays(var)

  Selective.__name__ = base.__name__
  return Selective


def rotate(images: tf.Tensor, radians: tf.Tensor, *, interpolation: str = "bilinear",
           fill_value: float = 0.0) -> tf.Tensor:
  """Rotates images [B, H, W, C] counter-clockwise by radians [B]; corners get `fill_value`."""
  library = _library()
  turn = image_transforms.rotate if library is None else library.image.rotate
  return turn(images, radians, interpolation=interpolation, fill_value=fill_value)


def cutout(images: tf.Tensor, size: int, centers: tf.Tensor, *, fill_value: float = 0) -> tf.Tensor:
  """Fills a size x size square around centers [B, 2] (row, column) of images [B, H, W, C].

  The caller draws the centers with stateless ops; the library's `random_cutout` uses global state.
  """
  if size % 2:
    raise ValueError(f"size is {size}; cutout needs an even number.")
  library = _library()
  if library is None:
    return image_transforms.cutout(images, size, centers, fill_value=fill_value)
  return library.image.cutout(images, (size, size), offset=centers, constant_values=fill_value)
