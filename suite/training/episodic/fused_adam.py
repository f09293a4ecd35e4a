# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Keras's Adam and AdamW with one operation a variable.

Keras composes a step of some fifteen operations for each variable, most of which pass over memory.
TensorFlow has a kernel for it, which Keras's legacy optimizers call; these have no `build`.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf


class _OneOperation:
  """The step of both optimizers. For amsgrad and sparse gradients it is that of Keras."""

  def update_step(self: Any, gradient: Any, variable: tf.Variable) -> None:
    """Updates a variable by its gradient, as `tf.keras.optimizers.Adam.update_step`."""
    if self.amsgrad or isinstance(gradient, tf.IndexedSlices):
      super().update_step(gradient, variable)  # type: ignore[misc]
      return
    number, dtype = self._index_dict[self._var_key(variable)], variable.dtype
    step = tf.cast(self.iterations + 1, dtype)
    powers = [tf.pow(tf.cast(beta, dtype), step) for beta in (self.beta_1, self.beta_2)]
    tf.raw_ops.ResourceApplyAdam(
        var=variable.handle, m=self._momentums[number].handle,
        v=self._velocities[number].handle, beta1_power=powers[0], beta2_power=powers[1],
        lr=tf.cast(self.learning_rate, dtype), beta1=tf.cast(self.beta_1, dtype),
        beta2=tf.cast(self.beta_2, dtype), epsilon=tf.cast(self.epsilon, dtype), grad=gradient)


class FusedAdam(_OneOperation, tf.keras.optimizers.Adam):
  """`tf.keras.optimizers.Adam`."""


class FusedAdamW(_OneOperation, tf.keras.optimizers.AdamW):
  """`tf.keras.optimizers.AdamW`."""
