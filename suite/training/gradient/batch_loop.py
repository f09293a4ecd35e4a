# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The compiled loop over the batches of an input pipeline: many updates in one call."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import tensorflow as tf

from suite.contracts import rehearsal
from suite.contracts import user_code


def nothing() -> None:
  """Does nothing."""
  return  # AutoGraph cannot read a function of nothing but a docstring.


class BatchLoop:
  """Makes an update for each batch.

  Args:
    update: update(batch, step) makes an update and returns the mean loss [] of the global batch;
      step is its number, int64 []. It is called outside of replicas.
    after: called outside of replicas after the last update of a call.
  """

  def __init__(self, update: Callable[[Any, tf.Tensor], tf.Tensor],
               after: Callable[[], None] = nothing):
    self._update, self._after = update, after
    self._converts = user_code.is_reached(update, after)
    self._runs = {converts: tf.function(self._updates, autograph=converts)
                  for converts in (False, True)}

  def run(self, iterator: Iterator[Any], num: int, first: int = 0,
          complete: Callable[[Any], Any] | None = None) -> float:
    """Makes the updates first ... first + num - 1; returns the sum of their losses.

    Args:
      iterator: of batches.
      num, first: see above.
      complete: makes a batch of what the iterator returns, in the graph, which is made again for
        another object. None: the iterator returns batches.
    """
    run = self._runs[self._converts or user_code.is_reached(complete)]
    return rehearsal.few(self, "update", num, lambda few: float(run(
        iterator, tf.constant(first, tf.int64), tf.constant(few, tf.int64), complete)), least=0)

  def _updates(self, iterator: Iterator[Any], first: tf.Tensor, num: tf.Tensor,
               complete: Callable[[Any], Any] | None) -> tf.Tensor:
    def body(step: tf.Tensor, total: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
      batch = next(iterator)
      if complete is not None:
        batch = complete(batch)
      return step + 1, total + self._update(batch, step)

    total = tf.while_loop(lambda step, _: step < first + num, body, [first, tf.constant(0.0)])[1]
    self._after()
    return total
