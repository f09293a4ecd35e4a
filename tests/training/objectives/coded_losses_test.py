# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Rows of several tasks under one head, against a head for each task."""

import numpy as np
import tensorflow as tf

from suite.contracts import tasks
from suite.training.objectives import losses

# Task 0: classes 0..2, single label. Task 1: classes 3..4, multi-label. Task 2: class 5..8, single.
SINGLE, MULTI = (tasks.ABSENT, tasks.PRESENT), (tasks.ABSENT + tasks.MULTI,
                                                        tasks.PRESENT + tasks.MULTI)


def test_each_row_has_the_loss_and_the_gradient_of_its_own_task():
  logits = np.random.default_rng(0).normal(0, 3, [4, 9]).astype(np.float32)
  codes = np.zeros([4, 9], np.uint8)
  codes[0, :3], codes[0, 2] = SINGLE
  codes[1, 3:5] = [MULTI[1], MULTI[0]]
  codes[2, 5:], codes[2, 5] = SINGLE
  codes[3, 3:5] = MULTI[0]
  wanted = [("single_label", [2], slice(0, 3)), ("multi_label", [[1, 0]], slice(3, 5)),
            ("single_label", [0], slice(5, 9)), ("multi_label", [[0, 0]], slice(3, 5))]
  for smoothing in (0.0, 0.2):
    x = tf.constant(logits)
    with tf.GradientTape() as tape:
      tape.watch(x)
      found = losses.cross_entropy(tf.constant(codes), x, smoothing)
      total = tf.reduce_sum(found)
    gradient = tape.gradient(total, x).numpy()
    for row, (kind, labels, classes) in enumerate(wanted):
      own = tf.constant(logits[row:row + 1, classes])
      with tf.GradientTape() as tape:
        tape.watch(own)
        loss = losses.per_example(kind, tf.constant(labels), own, smoothing)
      np.testing.assert_allclose(found[row], loss[0], rtol=1e-5)
      np.testing.assert_allclose(gradient[row, classes], tape.gradient(loss, own)[0], atol=1e-6)
      others = np.delete(gradient[row], np.r_[classes])
      np.testing.assert_array_equal(others, 0.0)
