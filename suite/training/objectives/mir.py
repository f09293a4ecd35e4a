# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""MIR, maximally interfered retrieval (Aljundi et al., 2019): replay what a step would harm most.

In each step `candidates` rows of the memory are drawn. The weights w take a step of plain gradient
descent on the incoming rows alone, to w'; the rows whose loss rises most from w to w' are replayed,
and the weights go back to w before the real step.
"""

from __future__ import annotations

from typing import Sequence

import tensorflow as tf

from suite.training.objectives import objective


class Mir(objective.Objective):
  """Chooses the replayed rows; see the module.

  Args:
    candidates: rows of the memory that are compared in each step; the paper's 50.
  """

  needs_memory = needs_same_classes = True

  def __init__(self, candidates: int = 50):
    super().__init__()
    if candidates < 1:
      raise ValueError(f"Mir.candidates is {candidates}; it must be at least 1.")
    self.candidates = candidates

  def choose(self, candidates: objective.Candidates, losses_of: objective.LossesFn,
             gradients: Sequence[tf.Tensor], variables: Sequence[tf.Variable], rate: tf.Tensor,
             num: int) -> tf.Tensor:
    before = losses_of(candidates.codes, candidates.labels)
    values = [v.read_value() for v in variables]
    for variable, gradient in zip(variables, gradients):
      if gradient is not None:
        variable.assign_sub(rate * gradient)
    after = losses_of(candidates.codes, candidates.labels)
    for variable, value in zip(variables, values):
      variable.assign(value)
    # Sorted, so that equal rises keep the order of drawing.
    return tf.argsort(after - before, direction="DESCENDING", stable=True)[:num]

  def passes(self, incoming: int, replayed: int, held: int) -> tuple[int, int]:
    if not replayed:
      return incoming, 0
    # The gradient of incoming rows, once more; losses of all candidates before and after the step.
    return 2 * incoming + replayed, 2 * max(replayed, self.candidates)
