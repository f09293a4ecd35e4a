# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The critic of SCA."""

import numpy as np
import tensorflow as tf

from suite.training.episodic import self_critique


def test_the_judgement_by_hand():
  net = self_critique.Critic(sizes=(2,))
  # One class: features [z, |z|, z^2, sign z].
  weights = {"layer1": tf.constant([[1.0, 0.0], [0.0, -1.0], [1.0, 0.0], [0.0, 2.0]]),
             "layer2": tf.constant([[1.0], [10.0]])}
  # z = -2: [-2 + 4, -2 - 2] = [2, -4] -> [2, -0.04] -> 1.6; z = 1: [2, 1] -> 12.
  got = net.judge(weights, tf.constant([[-2.0], [1.0]]))
  np.testing.assert_allclose(got, 1.6 + 12.0, rtol=1e-6)


def test_the_sizes_of_the_reference():
  shapes = {name: w.shape for name, w in self_critique.Critic().initial(0, 5).items()}
  assert shapes == {"layer1": (20, 16), "layer2": (16, 16), "layer3": (16, 1)}
