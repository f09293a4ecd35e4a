# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""GSS, gradient-based sample selection (Aljundi et al., 2019), the greedy version (algorithm 2).

A memory whose examples have gradients of different directions. An example has the score

  c = 1 + the largest cosine of its gradient with those of `subset` random examples that are held

The first k fill the memory. After them, one of score c >= 1, whose gradient agrees with one that is
held, is left out. Another competes with a held example i, drawn with probability
C_i / sum of C, and takes its place with probability C_i / (C_i + c); C are the held ones' scores.

As in the authors' code, the subset is drawn once for each `block` of examples, and those that come
while nothing is held have the cosine 0.1. Gradients are of the loss of one example, all trained
weights, the model as it is when examples are offered: after a step, or at the end of a phase.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import tensorflow as tf

from suite.training.memories import memory

_FIRST_COSINE = 0.1
_SUBSET, _RIVAL, _WINS = 4, 5, 6  # The purposes of its draws.


class Gss(memory.Rule):
  """A `memory.Rule` that compares gradients.

  Args:
    subset: the paper's n, held examples whose gradients are compared. block: see the module.
  """

  compares = True

  def __init__(self, subset: int = 10, block: int = 10):
    super().__init__()
    for name, value in (("subset", subset), ("block", block)):
      if value < 1:
        raise ValueError(f"Gss.{name} is {value}; it must be at least 1.")
    self.subset, self.block = subset, block

  def build(self, capacity: int, *, seed: tuple[int, int], num_classes: int) -> None:
    del num_classes
    self._seed, self._capacity = seed, capacity
    self.scores = tf.Variable(tf.zeros([capacity], tf.float64), trainable=False, name="gss_scores")

  def num_compared(self, num: int, size: int) -> int:
    """Examples whose gradients are made if `num` are offered to a memory of `size`."""
    blocks = -(-num // self.block)
    if size:
      return num + blocks * self.subset
    return max(0, num - self.block) + max(0, blocks - 1) * self.subset

  def place_compared(self, num: int, size: int, seen: int,
                     cosines: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
                     ) -> tuple[tf.Tensor, tf.Tensor]:
    scores = self.scores.numpy()
    source = np.full([self._capacity], -1, np.int64)  # The new example of each slot.
    rivals, luck = (memory.uniforms(self._seed, purpose, seen, num).numpy()
                    for purpose in (_RIVAL, _WINS))
    for first in range(0, num, self.block):
      new = np.arange(first, min(first + self.block, num))
      found = np.full([len(new)], _FIRST_COSINE)
      if size:
        keys = memory.at(self._seed, _SUBSET, seen + first, size).numpy()
        # As many in any case: those of a small memory come several times.
        slots = np.resize(np.argsort(keys, kind="stable")[:self.subset], self.subset)
        entered = source[slots]
        found = cosines(slots[entered < 0], entered[entered >= 0], new)
      for row, score in zip(new, 1.0 + np.maximum(found, -1.0)):
        if size < self._capacity:
          slot, size = size, size + 1
        else:
          slot = rival(scores, score, rivals[row], luck[row])
        if slot >= 0:
          source[slot], scores[slot] = row, score
    self.scores.assign(scores)
    taken = np.flatnonzero(source >= 0)
    return tf.constant(source[taken]), tf.constant(taken, tf.int64)


def rival(scores: np.ndarray, score: float, first: float, second: float) -> int:
  """The slot whose example goes, or -1.

  Args:
    scores: C, [k], all at least 0. score: c. first, second: uniform draws in [0, 1).
  """
  total = scores.sum()
  if score >= 1 or not total > 0:
    return -1
  slot = min(int(np.searchsorted(np.cumsum(scores), first * total, side="right")),
             len(scores) - 1)
  return slot if second < scores[slot] / (scores[slot] + score) else -1
