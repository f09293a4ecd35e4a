# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Prints our FLOPs beside those of TensorFlow's profiler, for forward passes and gradient steps.

    python tools/profiler_flops.py

Op types on which the two differ by more than a ten-thousandth of the whole are named.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
import os
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf

from suite.compute import flops
from suite.compute import graph_frame
from suite.models import conv4
from suite.models import resnet
from suite.models import vit

BATCH = 32
NETS = {
    "conv-4, 28x28": (lambda: conv4.conv4((28, 28, 1)), (28, 28, 1)),
    "ResNet-18, 64x64": (lambda: resnet.resnet18((64, 64, 3)), (64, 64, 3)),
    "ViT, 64x64": (lambda: vit.vit((64, 64, 3)), (64, 64, 3)),
}


class WalkByType(flops.Walk):
  """Adds up what each op type costs; for graphs without loops, where an op runs once."""

  def __init__(self):
    super().__init__()
    self.by_type: collections.Counter[str] = collections.Counter()

  def _primitive(self, op, frame):
    cost = super()._primitive(op, frame)
    self.by_type[op.type] += cost.flops or 0
    return cost


def profiler_by_type(graph: tf.Graph) -> collections.Counter[str]:
  """FLOPs of each op type by `tf.compat.v1.profiler`."""
  options = tf.compat.v1.profiler.ProfileOptionBuilder.float_operation()
  options["output"] = "none"
  found: collections.Counter[str] = collections.Counter()
  types = {op.name: op.type for op in graph.get_operations()}
  nodes = [tf.compat.v1.profiler.profile(graph, cmd="scope", options=options)]
  while nodes:
    node = nodes.pop()
    if node.name in types:
      found[types[node.name]] += node.float_ops
    nodes.extend(node.children)
  return found


def graphs(build: Callable[[], tf.keras.Model], image_shape: tuple[int, ...]) -> dict[str, Any]:
  """The forward pass and a step of SGD with momentum on a batch, as concrete functions."""
  net = build()
  model = tf.keras.Sequential([net, tf.keras.layers.Dense(100)])
  model.build((None, *image_shape))
  optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
  optimizer.build(model.trainable_variables)

  def step(images, labels):
    with tf.GradientTape() as tape:
      logits = model(images, training=True)
      loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
    pairs = zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
    optimizer.apply_gradients(pairs)
    return loss

  images = tf.TensorSpec([BATCH, *image_shape])
  return {
      "forward": tf.function(lambda x: model(x, training=False)).get_concrete_function(images),
      "step": tf.function(step).get_concrete_function(images, tf.TensorSpec([BATCH], tf.int32)),
  }


def compare(function: Any) -> tuple[int, int, dict[str, tuple[int, int]]]:
  """Our count, the profiler's, and both for each op type on which they differ, largest first."""
  total = flops.count(function).flops
  walk, graph = WalkByType(), function.graph
  arguments = [graph_frame.Argument(t.shape, None, t) for t in graph.inputs]
  walk.call(graph, arguments, frozenset(range(len(graph.outputs))))
  theirs = profiler_by_type(graph)
  pairs = {name: (walk.by_type[name], theirs[name]) for name in sorted({*walk.by_type, *theirs})}
  far = {name: pair for name, pair in pairs.items() if abs(pair[0] - pair[1]) > total / 1e4}
  ordered = sorted(far, key=lambda name: -abs(far[name][0] - far[name][1]))
  return total, sum(theirs.values()), {name: far[name] for name in ordered}


def rows() -> list[str]:
  """A line of a Markdown table for each net and graph, in MFLOP."""
  lines = []
  for name, (build, shape) in NETS.items():
    for kind, function in graphs(build, shape).items():
      ours, theirs, far = compare(function)
      causes = "; ".join(f"`{op}` {a / 1e6:,.1f} and {b / 1e6:,.1f}" for op, (a, b) in far.items())
      lines.append(f"| {name} | {kind} | {ours / 1e6:,.1f} | {theirs / 1e6:,.1f} | "
                   f"{theirs / ours:.3f} | {causes} |")
  return lines


def main() -> None:
  table = rows()
  print(f"MFLOP of a batch of {BATCH}, ours and the profiler's\n")
  print("| net | graph | ours | profiler | ratio | where they differ |")
  print("|---|---|---:|---:|---:|---|", *table, sep="\n")


if __name__ == "__main__":
  main()
