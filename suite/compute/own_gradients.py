# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`tf.custom_gradient` that lets go of the graphs in which it was used.

TensorFlow registers the gradient function of every use in a graph for ever, and the function holds
the graph: a process that traces new graphs for each task, as every long run does, keeps them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
import contextlib
import functools
from typing import Any

import tensorflow as tf

from suite.compute import private_tensorflow


def custom_gradient(function: Callable[..., Any]) -> Callable[..., Any]:
  """Decorates a function of tensors, which returns its result and its gradient function.

  As `tf.custom_gradient`, but the gradient function is registered only while its graph exists.
  """
  plain = tf.custom_gradient(function)

  @functools.wraps(function)
  def decorated(*arguments: Any) -> Any:
    result = plain(*arguments)
    if not tf.executing_eagerly():
      _release(tf.nest.flatten(result)[0].op)
    return result

  return decorated


@contextlib.contextmanager
def released() -> Iterator[None]:
  """Does the same for all uses of `tf.custom_gradient` by others, as by Keras's optimizers."""
  if tf.executing_eagerly():
    yield
    return
  graph = tf.compat.v1.get_default_graph()
  before = len(graph.get_operations())
  yield
  for op in graph.get_operations()[before:]:
    if op.type == "IdentityN":
      _release(op)


def _release(op: tf.Operation) -> None:
  name = op.node_def.attr["_gradient_op_type"].s.decode()
  if name:
    private_tensorflow.release_gradient_with(op.graph, name)
