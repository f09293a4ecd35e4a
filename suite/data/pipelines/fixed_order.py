# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The options of all pipelines."""

from __future__ import annotations

import tensorflow as tf


def with_fixed_order(dataset: tf.data.Dataset) -> tf.data.Dataset:
  """The data set, deterministic and not sharded by tf.distribute: plans do the sharding.

  Nothing rewrites or tunes it, so that it is quick to begin and to end.
  """
  options = tf.data.Options()
  options.deterministic = True
  # Rewriting a pipeline makes it slower to begin, and nothing is gained: batches are made by one
  # parallel map, so there is nothing to fuse.
  options.experimental_optimization.apply_default_optimizations = False
  # The thread that tunes a pipeline sleeps 0.01 s, 0.02 s, 0.04 s and so on, and often misses that
  # the pipeline ends: letting go of it then takes up to as long as it was used. What it tunes is
  # the one parallel map, which without it uses all threads, as it should.
  options.autotune.enabled = False
  options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
  return dataset.with_options(options)
