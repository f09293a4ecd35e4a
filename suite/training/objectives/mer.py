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

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from suite.training.memories import step_rows
from suite.training.objectives import objective


class Mer(objective.Objective):
  """Updates on single rows, and Reptile over them; see the module.

  Args:
    within: the paper's beta, from 0 to 1. across: its gamma, from 0 to 1. batches: its s.
  """

  needs = frozenset({objective.REPLAY, objective.ONE_HEAD})

  def __init__(self, within: float = 0.1, across: float = 1.0, batches: int = 1):
    super().__init__()
    for name, value in (("within", within), ("across", across)):
      if not 0 < value <= 1:
        raise ValueError(f"Mer.{name} is {value}; it must be above 0 and at most 1.")
    if batches < 1:
      raise ValueError(f"Mer.batches is {batches}; it must be at least 1.")
    self.within, self.across, self.batches = within, across, batches

  def step(self, rows: step_rows.Rows, net: Any, memory: step_rows.StepMemory) -> tf.Tensor:
    drawn = memory.draw()
    both, replayed = step_rows.joined(rows, drawn), int(drawn.num)
    incoming, total, begin = tf.range(rows.num), tf.constant(0.0), _values(net.variables)
    for part in np.array_split(np.arange(replayed, dtype=np.int32), self.batches):
      before = _values(net.variables)
      total += net.update_each(both, tf.concat([incoming, rows.num + part], 0))
      _move(net.variables, before, self.within)
    _move(net.variables, begin, self.across)
    memory.store(rows)
    return total / tf.cast(rows.num * self.batches + replayed, tf.float32)


def _values(variables: Sequence[tf.Variable]) -> list[tf.Tensor]:
  return [v.read_value() for v in variables]


def _move(variables: Sequence[tf.Variable], origins: Sequence[tf.Tensor], share: float) -> None:
  """Leaves variables at a share of their way from the origins."""
  if share == 1:
    return
  for variable, origin in zip(variables, origins):
    variable.assign(origin + share * (variable - origin))
