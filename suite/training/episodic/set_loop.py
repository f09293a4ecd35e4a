# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The loop over the support sets of a task, in a graph."""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf


def over_sets(learn: Callable[[Any, Any], Any], state: Any, number: int, *, unrolled: bool) -> Any:
  """Returns the state after `number` support sets.

  Args:
    learn: learn(s, state) is the state after set s.
    state: a structure of tensors, before the first set.
    number: the number of sets.
    unrolled: whether the graph holds the operations of each set. It is larger; but in a loop of
      sets within a loop of tasks, the cores wait for each other. Otherwise a graph of many sets is
      no larger than a graph of two.
  """
  if unrolled or not number:
    for s in range(number):
      state = learn(s, state)
    return state
  _, state = tf.while_loop(
      lambda s, _: s < number, lambda s, state: (s + 1, learn(s, state)),
      (tf.constant(0), state), parallel_iterations=1, maximum_iterations=number)
  return state
