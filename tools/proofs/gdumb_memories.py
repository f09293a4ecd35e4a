# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""GDumb on Split-MNIST (Prabhu, Torr & Dokania, 2020), from README.md of the authors' code.

The settings are those of github.com/drimpossible/GDumb, 4f412d7: scripts/replicate.sh, src/opts.py.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import proof
import tensorflow as tf

from suite.data.images import image_ops
from suite.data.images import sampling
from suite.data.streams import buckets
from suite.learners import gradient
from suite.protocols import incremental
from suite.training.gradient import class_heads
from suite.training.gradient import optimizers
from suite.training.gradient import trainable_parts
from suite.training.memories import memory
from suite.training.memories import reservoir


@dataclasses.dataclass(frozen=True)
class WarmRestarts:
  """A tenth of the peak for an epoch; then cosines to `end`, over 1, 2, 4, ... epochs."""

  end: float = 0.0005

  def rates(self, peak: float, epochs: np.ndarray) -> np.ndarray:
    epochs = np.asarray(epochs)
    length = 2.0 ** np.floor(np.log2(np.maximum(epochs, 1)))
    swing = (1.0 + np.cos(np.pi * (epochs - length) / length)) / 2.0
    return np.where(epochs < 1, peak / 10, self.end + (peak - self.end) * swing
                    ).astype(np.float32)


@dataclasses.dataclass(frozen=True)
class Shift:
  """Moves each image by up to `most` pixels to all sides; black comes in."""

  most: int = 4

  def __call__(self, images: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """uint8 [B, S, S, C], uint64 [B] -> uint8 [B, S, S, C]."""
    most = self.most
    padded = tf.pad(images, [[0, 0], [most, most], [most, most], [0, 0]])
    firsts = tf.cast(sampling.uniform(seeds, 2) * (2 * most + 1), tf.int32)
    for axis in (1, 2):
      places = firsts[:, axis - 1, None] + tf.range(tf.shape(images)[axis])
      padded = tf.gather(padded, places, axis=axis, batch_dims=1)
    return tf.ensure_shape(padded, images.shape)


def learner(width: int, slots: int) -> gradient.GradientLearner:
  return gradient.GradientLearner(
      transform=image_ops.Augmented(proof.PLAIN, (Shift(),)),
      net=trainable_parts.AllLayers(functools.partial(
          proof.perceptron, hidden=(width, width), has_norms=True)),
      head=class_heads.Linear("pytorch"), optimizer=optimizers.Momentum(0.9, weight_decay=1e-6),
      schedule=WarmRestarts(), learning_rate=0.05, batch_size=16, epochs=128, train_on="memory",
      reset=True, memory=memory.Memory(slots, reservoir.GroupBalanced("class")))


BENCHMARKS = {
    "gdumb": proof.Benchmark(
        "GDumb on Split-MNIST, class-incremental",
        "Five tasks of two digits; two layers of 100 or 400 with batch norm, trained anew on the "
        "memory alone, 128 passes of random crops at rates with warm restarts (Prabhu, Torr & "
        "Dokania, 2020; numbers of the authors' `README.md`, over three seeds, settings of their "
        "`scripts/replicate.sh` and `src/opts.py`). They report the best pass on the test set, we "
        "the last one.",
        lambda pair, seed: buckets.of_classes(pair, num_tasks=5, seed=seed), incremental.CLASS, {
            f"mlp_{width}_memory_{slots}": functools.partial(learner, width, slots)
            for width, slots in ((100, 300), (100, 500), (400, 500), (400, 4400))}),
}
