# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The compiled loop over batches."""

from __future__ import annotations

import tensorflow as tf

from suite.training.gradient import gradient_loop


def test_updates_are_numbered_and_their_losses_summed():
  seen, traces = tf.Variable(tf.zeros([6])), []

  def update(batch, step):
    traces.append(1)  # Python runs only while a graph is traced.
    seen.scatter_nd_update([[step]], [batch])
    return 2.0 * batch

  loop = gradient_loop.BatchLoop(update)
  iterator = iter(tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0, 4.0]))
  assert loop.run(iterator, 2) == 6.0
  num = len(traces)
  assert loop.run(iterator, 1, first=5) == 6.0
  assert seen.numpy().tolist() == [1.0, 2.0, 0.0, 0.0, 0.0, 3.0]
  assert float(next(iterator)) == 4.0 and len(traces) == num
