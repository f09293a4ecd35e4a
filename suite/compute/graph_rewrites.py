# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Configuration of TensorFlow's graph rewrites."""

from __future__ import annotations

import tensorflow as tf

from suite.compute import private_tensorflow


def without_temporary_variables() -> None:
  """Turns off the rewrite of sums into temporary variables, for graphs that this thread runs.

  Where TensorFlow (2.15) expects a graph to need more memory than its device reports, it turns sums
  of three or more tensors into additions to a temporary variable. In the gradient of a loop that
  variable is not deleted: the next call of the graph ends with AlreadyExistsError (tensorflow issue
  23780). Call this after devices and threads are configured; configuring them resets it.
  """
  options = private_tensorflow.call_options()  # tf.config has all rewrites but this one.
  config = tf.compat.v1.ConfigProto.FromString(options.config_proto_serialized)
  rewrites = config.graph_options.rewrite_options
  rewrites.memory_optimization = rewrites.NO_MEM_OPT
  options.config_proto_serialized = config
