# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Which rewrites TensorFlow may apply to graphs."""

from __future__ import annotations

import tensorflow as tf
from tensorflow.python.eager import context  # tf.config knows all rewrites but this one


def without_temporary_variables() -> None:
  """From now on graphs that this thread runs add up gradients as they were written.

  Where TensorFlow (2.15) expects a graph to need more memory than its device says it has, it turns
  sums of three tensors or more into additions to a temporary variable. In the gradient of a loop
  that variable is left behind: the next call of the graph ends with AlreadyExistsError (tensorflow
  issue 23780). Call this after devices and threads are configured; configuring them forgets it.
  """
  options = context.context().function_call_options
  config = tf.compat.v1.ConfigProto.FromString(options.config_proto_serialized)
  rewrites = config.graph_options.rewrite_options
  rewrites.memory_optimization = rewrites.NO_MEM_OPT
  options.config_proto_serialized = config
