# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Loss scaling (Micikevicius et al., 2018), for precisions in which small gradients vanish.

The loss is multiplied by S before its gradient is taken, and the gradient divided by S. A step
whose gradients are not all finite is left out and halves S; 2,000 finite ones in a row double it,
as in `tf.keras.mixed_precision.LossScaleOptimizer`. That class wraps Keras's optimizers only, and
does not show gradients to an objective before it applies them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
import contextlib
from typing import Any

import tensorflow as tf

from suite.models import precision

_FIRST, _GROWTH_STEPS = 2.0 ** 15, 2000

Gradients = list[Any]  # Tensors, or None where a variable has no part in the loss.


class NoScale:
  """Gradients as they are.

  Attributes:
    state: the variables that steps change.
    scales: whether it is more than this.
    factor: S [], for `output_gradients` of `tf.GradientTape.gradient`; None: the loss as it is.
  """

  state: Sequence[tf.Variable] = ()
  scales = False

  @property
  def factor(self) -> tf.Tensor | None:
    return None

  def unscaled(self, gradients: Gradients) -> Gradients:
    """Returns the gradients of the loss, from those that were taken with `factor`."""
    return gradients

  def apply(self, gradients: Gradients, update: Callable[[], None]) -> None:
    """Makes the update by these gradients, or leaves it out."""
    del gradients
    update()

  def reset(self) -> None:
    """Sets the scale to that of the beginning."""

  @contextlib.contextmanager
  def left_out(self) -> Iterator[None]:
    """Traces graphs without scaling, to count FLOPs: those of the method, in every precision."""
    yield


class LossScale(NoScale):
  """Gradients of a scaled loss; for one replica."""

  scales = True

  def __init__(self) -> None:
    self._scale = tf.Variable(_FIRST, trainable=False, name="loss_scale")
    self._finite = tf.Variable(0, trainable=False, name="finite_steps")
    self.state = (self._scale, self._finite)
    self._is_out = False

  @property
  def factor(self) -> tf.Tensor | None:
    return None if self._is_out else self._scale

  def unscaled(self, gradients: Gradients) -> Gradients:
    """Returns the gradients divided by S."""
    if self._is_out:
      return gradients
    return [None if g is None else tf.convert_to_tensor(g) / self._scale for g in gradients]

  def apply(self, gradients: Gradients, update: Callable[[], None]) -> None:
    """Makes the update if all gradients are finite, and moves the scale."""
    if self._is_out:
      update()
      return
    is_finite = tf.reduce_all([tf.reduce_all(tf.math.is_finite(g))
                               for g in gradients if g is not None])

    def make() -> None:
      update()
      grows = self._finite.assign_add(1) == _GROWTH_STEPS
      self._scale.assign(tf.where(grows, 2.0 * self._scale, self._scale))
      self._finite.assign(tf.where(grows, 0, self._finite))

    def leave_out() -> None:
      self._scale.assign(tf.maximum(self._scale / 2.0, 1.0))
      self._finite.assign(0)

    tf.cond(is_finite, make, leave_out)

  def reset(self) -> None:
    self._scale.assign(_FIRST)
    self._finite.assign(0)

  @contextlib.contextmanager
  def left_out(self) -> Iterator[None]:
    self._is_out = True
    try:
      yield
    finally:
      self._is_out = False


def of_precision() -> NoScale:
  """Returns the scaling that the precision in use needs."""
  return LossScale() if precision.needs_loss_scale() else NoScale()
