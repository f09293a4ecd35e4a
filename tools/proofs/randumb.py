# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""RanDumb on MNIST (Prabhu et al., 2024).

The settings are those of the authors' code (github.com/drimpossible/RanDumb, 14a51ee: src/main.py,
feats/get_feats.py): pixels of mean 0 and deviation 1, random Fourier features, one covariance for
all classes, shrunk by OAS. Sums do not depend on the order of classes.
"""

from __future__ import annotations

import functools

import proof
import tensorflow as tf

from suite.data.streams import buckets
from suite.learners import statistics_learner
from suite.protocols import incremental
from suite.training.statistics import shared_covariance


def normalized(images: tf.Tensor) -> tf.Tensor:
  """uint8 [B, 28, 28, 1] -> float32 [B, 784], of mean 0 and deviation 1 over all of MNIST."""
  return tf.reshape((tf.cast(images, tf.float32) / 255 - proof.MEAN) / proof.DEVIATION, [-1, 784])


def learner(size: int) -> statistics_learner.StatisticsLearner:
  return statistics_learner.StatisticsLearner(
      shared_covariance.SharedCovariance(weights="class", oas=True), transform=proof.PLAIN,
      features=normalized, lift=statistics_learner.RandomFourier(size))


BENCHMARKS = {
    "randumb": proof.Benchmark(
        "RanDumb on MNIST, class-incremental",
        "Five tasks of two digits, each image once; random Fourier features of the pixels and "
        "streaming LDA (Prabhu et al., 2024; settings of the authors' `src/main.py` and "
        "`feats/get_feats.py`, whose `README.md` gives 0.8 points between it and the paper's "
        "code). The paper's number is with 25,000 features, whose inverses, five of 5 GB in "
        "float64, were not computed here; its text could not be had where this page was made.",
        lambda pair, seed: buckets.of_classes(pair, num_tasks=5, seed=seed), incremental.CLASS, {
            f"features_{size}": functools.partial(learner, size) for size in (5000, 25000)},
        validation_share=0.001),
}
