# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The critic of SCA: a learned loss of a net's logits, without labels.

In SCA (Antoniou and Storkey, 2019) a small net, the critic, scores the logits of unlabeled targets;
the adapted net then takes a gradient step on this score. The logits z of a target become
[z, |z|, z^2, sign z]; linear layers without biases, with LeakyReLU between them, map these to one
number, and the numbers of the targets are summed (as in CFSL's code; SCA's paper uses
convolutions).

T targets, W classes.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses

import numpy as np
import tensorflow as tf

from suite.models.episodic import functional_conv4
from suite.models.episodic import kinks


@dataclasses.dataclass(frozen=True)
class Critic:
  """The critic's layer sizes and pure functions.

  Attributes:
    sizes: number of outputs of each layer before the last one.
  """

  sizes: Sequence[int] = (16, 16)

  def initial(self, seed: int, num_classes: int) -> dict[str, np.ndarray]:
    """Initial weights "layer1" [4 W, ...], ..., the last one [..., 1], by Glorot's uniform rule."""
    rng = np.random.default_rng(seed)
    sizes = (4 * num_classes, *self.sizes, 1)
    return {f"layer{i + 1}": functional_conv4.glorot(rng, *sizes[i:i + 2])
            for i in range(len(sizes) - 1)}

  def judge(self, weights: functional_conv4.Weights, logits: tf.Tensor) -> tf.Tensor:
    """Computes the score [] of logits [T, W]; lower is better."""
    x = tf.concat([logits, tf.abs(logits), tf.square(logits), tf.sign(logits)], axis=1)
    for i in range(1, len(weights)):
      x = kinks.rectify(tf.matmul(x, weights[f"layer{i}"]))
    return tf.reduce_sum(tf.matmul(x, weights[f"layer{len(weights)}"]))
