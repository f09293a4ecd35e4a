# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The only module that uses tensorflow-addons: decoupled weight decay, rotation, cutout.

The library has reached its end of life: 0.23 is the last release, for TensorFlow up to 2.15 and
Python up to 3.11. It is imported on first use, without its end-of-life warning. Where it is not
installed, implementations of this module stand in for it; the results are equal. The
optimizers of both derive from Keras's *legacy* optimizers: they work under `tf.distribute` and in
`tf.train.Checkpoint`, but `optimizer.variables` is a method.

The weight decay of Keras's legacy optimizers is decoupled (Loshchilov & Hutter, 2019); rotation and
cutout take TensorFlow's own ops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import functools
import importlib.util
from typing import Any
import warnings

import tensorflow as tf

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
  base = SGDW if library is None else library.optimizers.SGDW
  return _selective(base, decays)(
      weight_decay=weight_decay, learning_rate=learning_rate, momentum=momentum, nesterov=nesterov)


def adamw(*, learning_rate: Any, weight_decay: Any, beta_1: float, beta_2: float, epsilon: float,
          decays: Decays) -> tf.keras.optimizers.legacy.Optimizer:
  """Builds Adam with decoupled weight decay; arguments as for `sgdw`."""
  library = _library()
  base = AdamW if library is None else library.optimizers.AdamW
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

    def _do_use_weight_decay(self, var: tf.Variable) -> bool:
      return decays(var)

  Selective.__name__ = base.__name__
  return Selective


def rotate(images: tf.Tensor, radians: tf.Tensor, *, interpolation: str = "bilinear",
           fill_value: float = 0.0) -> tf.Tensor:
  """Rotates images [B, H, W, C] counter-clockwise by radians [B]; corners get `fill_value`."""
  library = _library()
  if library is not None:
    return library.image.rotate(
        images, radians, interpolation=interpolation, fill_value=fill_value)
  images = tf.convert_to_tensor(images)
  height, width = tf.unstack(tf.cast(tf.shape(images)[1:3], tf.float32) - 1.0)
  radians = tf.convert_to_tensor(radians, tf.float32)
  cos, sin, zero = tf.cos(radians), tf.sin(radians), tf.zeros_like(radians)
  # Row and column that the output's pixel (0, 0) comes from: the center stays where it is.
  across = (width - (cos * width - sin * height)) / 2.0
  down = (height - (sin * width + cos * height)) / 2.0
  return tf.raw_ops.ImageProjectiveTransformV3(
      images=images, transforms=tf.stack([cos, -sin, across, sin, cos, down, zero, zero], axis=1),
      output_shape=tf.shape(images)[1:3], fill_value=fill_value,
      interpolation=interpolation.upper(), fill_mode="CONSTANT")


def cutout(images: tf.Tensor, size: int, centers: tf.Tensor, *, fill_value: float = 0) -> tf.Tensor:
  """Fills a size x size square around centers [B, 2] (row, column) of images [B, H, W, C].

  The caller draws the centers with stateless ops; the library's `random_cutout` uses global state.
  """
  if size % 2:
    raise ValueError(f"size is {size}; cutout needs an even number.")
  library = _library()
  if library is not None:
    return library.image.cutout(images, (size, size), offset=centers, constant_values=fill_value)
  images, centers = tf.convert_to_tensor(images), tf.cast(centers, tf.int32)
  rows, columns = (
      tf.range(tf.shape(images)[axis + 1])[None] - centers[:, axis, None] for axis in (0, 1))
  rows, columns = ((at >= -(size // 2)) & (at < size // 2) for at in (rows, columns))
  inside = rows[:, :, None] & columns[:, None, :]
  return tf.where(inside[..., None], tf.cast(fill_value, images.dtype), images)


def _decoupled(base: Any) -> Any:
  """The subclass of a legacy optimizer whose variables decay before each step."""

  class Decoupled(base):
    """w -= weight_decay * w, then the step of the base.

    Args:
      weight_decay: a number or schedule, not multiplied by the learning rate.
      settings: of the optimizer.
    """

    def __init__(self, *, weight_decay: Any, **settings: Any):
      super().__init__(**settings)
      self._set_hyper("weight_decay", weight_decay)

    def get_config(self) -> dict[str, Any]:
      return {**super().get_config(),
              "weight_decay": self._serialize_hyperparameter("weight_decay")}

    def _do_use_weight_decay(self, var: tf.Variable) -> bool:
      del var
      return True

    def _prepare_local(self, var_device: str, var_dtype: tf.DType, apply_state: Any) -> None:
      super()._prepare_local(var_device, var_dtype, apply_state)
      decay = self._get_hyper("weight_decay", var_dtype)
      if isinstance(decay, tf.keras.optimizers.schedules.LearningRateSchedule):
        decay = tf.cast(decay(self.iterations), var_dtype)
      apply_state[(var_device, var_dtype)]["weight_decay"] = tf.identity(decay)

    def _resource_apply_dense(self, grad: tf.Tensor, var: tf.Variable,
                              apply_state: Mapping[Any, Any] | None = None) -> tf.Operation:
      with tf.control_dependencies([self._decayed(var, apply_state)]):
        return super()._resource_apply_dense(grad, var, apply_state=apply_state)

    def _resource_apply_sparse(self, grad: tf.Tensor, var: tf.Variable, indices: tf.Tensor,
                               apply_state: Mapping[Any, Any] | None = None) -> tf.Operation:
      with tf.control_dependencies([self._decayed(var, apply_state)]):
        return super()._resource_apply_sparse(grad, var, indices, apply_state=apply_state)

    def _decayed(self, var: tf.Variable, apply_state: Mapping[Any, Any] | None) -> tf.Operation:
      if not self._do_use_weight_decay(var):
        return tf.no_op()
      device, dtype = var.device, var.dtype.base_dtype
      state = (apply_state or {}).get((device, dtype)) or self._fallback_apply_state(device, dtype)
      return var.assign_sub(state["weight_decay"] * var, self._use_locking)

  return Decoupled


SGDW = _decoupled(tf.keras.optimizers.legacy.SGD)
AdamW = _decoupled(tf.keras.optimizers.legacy.Adam)
