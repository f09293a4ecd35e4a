# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A loss of the user as an objective."""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf

from suite.training.objectives import losses
from suite.training.objectives import objective


class OwnLoss(objective.Objective):
  """Minimizes a function of labels and logits, in Keras's order of arguments.

  Args:
    loss: loss(labels, logits) of labels int64 [B], or multi-hot [B, C], and logits [B, C], returns
      the loss of each row [B], or their mean []; a `tf.keras.losses.Loss` of logits, too. Classes
      that are not known yet have logits near -1e9.
  """

  def __init__(self, loss: Callable[[tf.Tensor, tf.Tensor], tf.Tensor]):
    super().__init__()
    if not callable(loss):
      raise ValueError(f"The loss is {loss!r}; give a function loss(labels, logits), or a "
                       "tf.keras.losses.Loss with from_logits=True.")
    if getattr(loss, "from_logits", True) is False or _says_probabilities(loss):
      raise ValueError(f"The loss {type(loss).__name__} takes probabilities, and is given logits. "
                       "Make it with from_logits=True.")
    self._loss = loss

  @property
  def calls(self) -> tuple[Callable[..., Any], ...]:  # type: ignore[override]
    return (self._loss,)

  def loss(self, batch: objective.Batch) -> tf.Tensor:
    logits = tf.cast(batch.logits, tf.float32)
    if batch.classes is not None:
      logits = losses.among(batch.classes.known, logits)
    found = tf.cast(self._loss(batch.labels, logits), tf.float32)
    rows = batch.logits.shape[0]
    if found.shape.rank == 0:
      if batch.divisor is None:
        return found
      return found * (tf.cast(rows, tf.float32) / tf.cast(batch.divisor, tf.float32))
    if found.shape.rank != 1 or not found.shape.is_compatible_with([rows]):
      raise ValueError(f"The loss {_name(self._loss)} returned shape {found.shape} for {rows} "
                       "rows; it must return [B], the loss of each row, or [], their mean.")
    divisor = rows if batch.divisor is None else batch.divisor
    return losses.scaled_sum(found, divisor, batch.mask)


def _says_probabilities(loss: Any) -> bool:
  """Whether a Keras loss was made with from_logits=False."""
  settings: dict[str, Any] = loss.get_config() if hasattr(loss, "get_config") else {}
  return settings.get("from_logits", True) is False


def _name(loss: Any) -> str:
  return getattr(loss, "__name__", type(loss).__name__)
