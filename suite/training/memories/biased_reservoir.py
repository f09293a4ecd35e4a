# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The biased reservoir of CLEAR (Lin et al., 2021): newer examples are likelier to be held.

The first k examples fill the memory. After them, an example enters with probability alpha * k / n,
where n is the number of examples offered up to the end of its call, and one that was held before
the call goes for each that enters. So with one bucket of k examples a call (as in the paper's
experiments), bucket i enters with probability alpha / i; with one example a call it is the
algorithm for a series of examples.

  schedule "fixed"     alpha is constant; 1 is the uniform reservoir in expectation
  schedule "dynamic"   alpha = alpha_d * n / k: the probability is alpha_d for ever; 1 is "first in,
                       first out" by buckets
"""

from __future__ import annotations

from typing import Tuple

import tensorflow as tf

from suite.training.memories import draws

SCHEDULES = ("fixed", "dynamic")
EVICTIONS = ("random", "tail")
_ENTER, _EVICT = 1, 2  # The purposes of its draws.


class BiasedReservoir(tf.Module):
  """A `memory.Rule`.

  Args:
    alpha: of the schedule; alpha_d where it is "dynamic".
    schedule: one of `SCHEDULES`.
    eviction: "random", as in the paper; or "tail", the newest of those held go first, as the
      authors' later code did.
  """

  def __init__(self, alpha: float = 1.0, schedule: str = "fixed", eviction: str = "random"):
    super().__init__()
    if schedule not in SCHEDULES:
      raise ValueError(f"BiasedReservoir.schedule is {schedule!r}; allowed are "
                       f"{', '.join(SCHEDULES)}.")
    if eviction not in EVICTIONS:
      raise ValueError(f"BiasedReservoir.eviction is {eviction!r}; allowed are "
                       f"{', '.join(EVICTIONS)}.")
    if not alpha > 0 or (schedule == "dynamic" and alpha > 1):
      limits = "above 0" + (" and at most 1, being a probability" if schedule == "dynamic" else "")
      raise ValueError(f"BiasedReservoir.alpha is {alpha}; with the {schedule} schedule it must be "
                       f"{limits}.")
    self.alpha, self.schedule, self.eviction = float(alpha), schedule, eviction

  def build(self, capacity: int, *, seed: Tuple[int, int], num_classes: int) -> None:
    del num_classes
    self._seed, self._capacity = seed, capacity
    # What number each held example was of those offered.
    self.arrivals = tf.Variable(
        tf.zeros([capacity], tf.int64), trainable=False, name="reservoir_arrivals")

  def probability(self, offered: tf.Tensor) -> tf.Tensor:
    """The probability to enter a full memory; `offered` counts all to the end of its call."""
    if self.schedule == "dynamic":
      return tf.constant(self.alpha, tf.float64)
    return tf.minimum(
        tf.constant(1.0, tf.float64), self.alpha * self._capacity / tf.cast(offered, tf.float64))

  def place(self, labels: tf.Tensor, held: tf.Tensor, size: tf.Tensor, seen: tf.Tensor
            ) -> Tuple[tf.Tensor, tf.Tensor]:
    del held
    num = tf.size(labels, out_type=tf.int64)
    filling = tf.minimum(self._capacity - size, num)
    new = tf.range(num)
    lucky = draws.uniforms(self._seed, _ENTER, seen, num) < self.probability(seen + num)
    # Of more than k that enter, the last k.
    entering = new[filling:][lucky[filling:]][-self._capacity:]
    # The slots as they are once filled: which new example is in each (-1: an old one) and since
    # when. Those that fill can be evicted by those that enter, as if they had come earlier.
    filled = (size + new[:filling])[:, None]
    source = tf.tensor_scatter_nd_update(
        tf.fill([self._capacity], tf.constant(-1, tf.int64)), filled, new[:filling])
    arrivals = tf.tensor_scatter_nd_update(
        self.arrivals.read_value(), filled, seen + new[:filling])
    order = arrivals if self.eviction == "tail" else draws.at(
        self._seed, _EVICT, seen, self._capacity)
    _, leaving = tf.math.top_k(order, tf.size(entering))
    source = tf.tensor_scatter_nd_update(source, leaving[:, None], entering)
    self.arrivals.assign(
        tf.tensor_scatter_nd_update(arrivals, leaving[:, None], seen + entering))
    slots = tf.where(source >= 0)[:, 0]
    return tf.gather(source, slots), slots
