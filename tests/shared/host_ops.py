# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The ops of a traced graph that have no GPU kernel for their types: on a GPU they run on the host.

TensorFlow's wheels for Linux register their GPU kernels on every machine, so this needs no GPU.
"""

from __future__ import annotations

import collections
from typing import Any

import tensorflow as tf
from tensorflow.python.framework import kernels

from suite.compute import graph_frame

_ON_GPU = ("GPU", "DEFAULT")


def has_gpu_kernels() -> bool:
  """Whether this TensorFlow was built with GPU kernels (tensorflow-cpu was not)."""
  return any(k.device_type == "GPU" for k in kernels.get_registered_kernels_for_op("Conv2D").kernel)


def find(function: Any) -> dict[str, int]:
  """{"GatherV2 uint8": number} of a concrete function and all that it calls."""
  walk, found, done = graph_frame.Liveness(), collections.Counter(), set()
  graphs = [function.graph]
  while graphs:
    graph = graphs.pop()
    if graph in done:
      continue
    done.add(graph)
    live, _ = walk.live(graph, frozenset(range(len(graph.outputs))))
    for op in live:
      bodies = walk.callees(op)
      graphs += [body for body in bodies if body is not None]
      if not bodies and op.type != "Placeholder" and not _is_on_gpu(op):
        types = sorted({t.dtype.name for t in [*op.inputs, *op.outputs]})
        found[f"{op.type} {', '.join(types)}"] += 1
  return dict(found)


def _is_on_gpu(op: tf.Operation) -> bool:
  """Whether a GPU kernel is registered; ops on int32 are of shapes and counters, kept on the host.
  """
  types = {t.dtype for t in [*op.inputs, *op.outputs]} - {tf.resource, tf.variant}
  if op.type == "Const" or types <= {tf.int32, tf.bool}:
    return True
  attrs = op.node_def.attr
  for kernel in kernels.get_registered_kernels_for_op(op.type).kernel:
    if kernel.device_type in _ON_GPU and all(
        attrs[c.name].type in c.allowed_values.list.type for c in kernel.constraint
        if c.allowed_values.list.type and attrs[c.name].type):
      return True
  return False
