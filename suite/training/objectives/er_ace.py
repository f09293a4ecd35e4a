# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""ER-ACE (Caccia et al., 2022): incoming rows do not push down the classes of earlier ones.

  loss = CE(incoming; classes of now) + CE(replayed; known classes)

Each term is a mean over its rows.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from suite.training.memories import step_rows
from suite.training.objectives import objective

CURRENT = ("batch", "novel")


class ErAce(objective.Objective):
  """Asymmetric cross-entropy; see the module.

  Args:
    current: the classes of now are those of the "batch", as in the method's paper; or these and all
      "novel" ones that a sequence has shown since its first phase, as in FLUID's.
  """

  needs = frozenset({objective.REPLAY, objective.ONE_HEAD})

  def __init__(self, current: str = "batch"):
    super().__init__()
    if current not in CURRENT:
      raise ValueError(f"ErAce.current is {current!r}; allowed are {', '.join(CURRENT)}.")
    self._current = current

  def step(self, rows: step_rows.Rows, net: Any, memory: step_rows.StepMemory) -> None:
    drawn = memory.draw()
    now, again = net.logits(rows, drawn)
    classes = tf.reduce_any(
        tf.one_hot(rows.labels, now.shape[1], on_value=True, off_value=False), axis=0)
    if self._current == "novel" and net.classes is not None:
      classes |= net.classes.seen & ~net.classes.base
    loss = tf.reduce_mean(net.row_losses(now, rows.labels, classes))
    if not memory.is_empty:
      loss += net.cross_entropy(again, drawn.labels)
    net.update(loss)
    memory.store(rows)
