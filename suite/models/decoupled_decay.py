# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Decoupled weight decay (Loshchilov & Hutter, 2019) for Keras's legacy optimizers.

Stands in for tensorflow-addons' optimizers where that library cannot be installed.
"""

from __future__ import annotations

from typing import Any, Mapping

import tensorflow as tf


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
