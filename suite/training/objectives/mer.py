# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""MER, meta-experience replay (Riemer et al., 2019): Reptile within and across batches.

A step on B incoming rows and R replayed ones makes `batches` batches, each of all incoming rows and
an equal part of the replayed ones (algorithm 1):

  w_0 = w
  each batch:    v = w; an update on each single row, one after the other
                 w <- v + within (w - v)
  at the end:    w <- w_0 + across (w - w_0)

With one batch of one row, and within = across = 1, it is plain descent on single rows. In the paper
B = 1, so that the row at hand is seen in each batch.
"""

from __future__ import annotations

from typing import Callable, Sequence

import numpy as np
import tensorflow as tf

from suite.training.objectives import objective


class Mer(objective.Objective):
  """Updates on single rows, and Reptile over them; see the module.

  Args:
    within: the paper's beta, from 0 to 1. across: its gamma, from 0 to 1. batches: its s.
  """

  needs_memory = needs_same_classes = takes_rows = True

  def __init__(self, within: float = 0.1, across: float = 1.0, batches: int = 1):
    super().__init__()
    for name, value in (("within", within), ("across", across)):
      if not 0 < value <= 1:
        raise ValueError(f"Mer.{name} is {value}; it must be above 0 and at most 1.")
    if batches < 1:
      raise ValueError(f"Mer.batches is {batches}; it must be at least 1.")
    self.within, self.across, self.batches = within, across, batches

  def take(self, update: Callable[..., tf.Tensor], variables: Sequence[tf.Variable],
           codes: tf.Tensor, labels: tf.Tensor, num_replayed: int) -> tf.Tensor:
    rows = tf.shape(labels)[0] if labels.shape[0] is None else int(labels.shape[0])
    incoming = tf.range(rows - num_replayed)
    total, begin = tf.constant(0.0), _values(variables)
    for part in np.array_split(np.arange(num_replayed, 0, -1, dtype=np.int32), self.batches):
      before = _values(variables)
      total += self._one_by_one(update, codes, labels, tf.concat([incoming, rows - part], 0))
      _move(variables, before, self.within)
    _move(variables, begin, self.across)
    return total / tf.cast(
        (rows - num_replayed) * self.batches + num_replayed, tf.float32)

  def _one_by_one(self, update: Callable[..., tf.Tensor], codes: tf.Tensor, labels: tf.Tensor,
                  order: tf.Tensor) -> tf.Tensor:
    """An update on each row, in this order, int32 [n]; the sum of their losses."""
    num = tf.size(order) if order.shape[0] is None else order.shape[0]

    def step(i: tf.Tensor, total: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
      row = order[i]
      return i + 1, total + update(codes[row][None], labels[row][None])

    return tf.while_loop(lambda i, _: i < num, step, [tf.constant(0), tf.constant(0.0)],
                         parallel_iterations=1)[1]

  def passes(self, incoming: int, replayed: int, held: int) -> tuple[int, int]:
    return self.batches * incoming + replayed, 0


def _values(variables: Sequence[tf.Variable]) -> list[tf.Tensor]:
  return [v.read_value() for v in variables]


def _move(variables: Sequence[tf.Variable], origins: Sequence[tf.Tensor], share: float) -> None:
  """Leaves variables at a share of their way from the origins."""
  if share == 1:
    return
  for variable, origin in zip(variables, origins):
    variable.assign(origin + share * (variable - origin))
