# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""MIR, maximally interfered retrieval (Aljundi et al., 2019): replay what a step would harm most.

In each step `candidates` rows of the memory are drawn. The weights w take a step of plain gradient
descent on the incoming rows alone, to w'; the rows whose loss rises most from w to w' are replayed,
and the weights go back to w before the real step.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from suite.training.memories import step_rows
from suite.training.objectives import objective


class Mir(objective.Objective):
  """Chooses the replayed rows; see the module.

  Args:
    candidates: rows of the memory that are compared in each step; the paper's 50.
  """

  needs = frozenset({objective.REPLAY, objective.ONE_HEAD})

  def __init__(self, candidates: int = 50):
    super().__init__()
    if candidates < 1:
      raise ValueError(f"Mir.candidates is {candidates}; it must be at least 1.")
    self.candidates = candidates

  def step(self, rows: step_rows.Rows, net: Any, memory: step_rows.StepMemory) -> None:
    candidates = memory.draw(max(self.candidates, memory.num))
    drawn = candidates
    if not memory.is_empty:
      gradients = net.gradients(net.cross_entropy(net.logits(rows), rows.labels))
      before, values = net.losses_at_rest(candidates), [v.read_value() for v in net.variables]
      for variable, gradient in zip(net.variables, gradients):
        if gradient is not None:
          variable.assign_sub(net.rate * gradient)
      after = net.losses_at_rest(candidates)
      for variable, value in zip(net.variables, values):
        variable.assign(value)
      # Sorted, so that equal rises keep the order of drawing.
      worst = tf.argsort(after - before, direction="DESCENDING", stable=True)[:memory.num]
      drawn = candidates.at(worst)
    both = step_rows.joined(rows, drawn)
    net.update(net.cross_entropy(net.logits(both), both.labels))
    memory.store(rows)
