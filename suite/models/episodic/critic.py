# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A learned loss without labels: what a net's answers look like, as a number (SCA).

SCA (Antoniou and Storkey, 2019) lets a small net, the critic, judge answers to unlabelled targets;
a net then improves them by a gradient step down that judgement. Each target's logits z become
[z, |z|, z^2, sign z]; linear layers without biases, LeakyReLU between them, make one number of
these, and the targets' numbers are summed (as CFSL's code has it; SCA's paper convolves).

T targets, W classes.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses

import numpy as np
import tensorflow as tf

from suite.models.episodic import functional_conv4


@dataclasses.dataclass(frozen=True)
class Critic:
  """The critic's sizes, and its pure functions.

  Attributes:
    sizes: outputs of the layers before the last one.
  """

  sizes: Sequence[int] = (16, 16)

  def initial(self, seed: int, num_classes: int) -> dict[str, np.ndarray]:
    """"layer1" [4 W, ...], ..., the last one [..., 1], by Glorot's uniform rule."""
    rng = np.random.default_rng(seed)
    sizes = (4 * num_classes, *self.sizes, 1)
    return {f"layer{i + 1}": functional_conv4.glorot(rng, *sizes[i:i + 2])
            for i in range(len(sizes) - 1)}

  def judge(self, weights: functional_conv4.Weights, logits: tf.Tensor) -> tf.Tensor:
    """The judgement [] of logits [T, W]; less is better."""
    x = tf.concat([logits, tf.abs(logits), tf.square(logits), tf.sign(logits)], axis=1)
    for i in range(1, len(weights)):
      x = tf.nn.leaky_relu(tf.matmul(x, weights[f"layer{i}"]), functional_conv4.LEAK)
    return tf.reduce_sum(tf.matmul(x, weights[f"layer{len(weights)}"]))
