# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Time of TensorFlow's convolutions alone in a task of continual few-shot learning.

Each convolution of a task, and each of its gradients, is timed separately: one chain of operations
per thread in a graph, on the same tensors, so that all cores are busy and the data are in their
caches; the time of an empty chain is subtracted. The sum gives the number of tasks per second that
these kernels allow if all other work (norms, pooling, steps, sampling, dependencies) took no time.
Omniglot's shapes, 5-way 1-shot, 25 targets, 5 inner steps.

    evaluation   5 steps on 5 images: forward, gradients of kernel and input (the first layer's
                 input has none); 25 targets forward
    training     the same, then back through every step: each of the three operations has two
                 inputs, so two gradients (the first layer: one for each of its two); and the
                 targets' gradients
    ProtoNets    5 and 25 images: forward, gradients of kernel and input
    high-end     its embedding of 30 images, forward and gradients, but for its 1x1 products of
                 gated channels and for all that is adapted on 5x5 maps; SCA has the same one
    NSS 10       ten times the steps; 250 targets

The first line is the speed of a product of two large matrices, about the peak of a core.
"""

from __future__ import annotations

import argparse
import collections
from collections import Counter
from collections.abc import Callable
import os
import statistics
import time
from typing import NamedTuple

import cfsl_cases
import tensorflow as tf

REPEATS = 16
_SECONDS = 0.3  # Duration of a round.
_WIDE = 1024  # Edge of the matrices.
_SUPPORT = cfsl_cases.WAY * cfsl_cases.SHOT
_TARGETS = cfsl_cases.WAY * cfsl_cases.TARGETS


class Op(NamedTuple):
  """A convolution ("forward") or its gradient by "kernel" or "input", on size x size pixels."""

  kind: str
  images: int
  side: int
  channels: int
  filters: int
  size: int = 3

  @property
  def flops(self) -> int:
    return 2 * self.images * self.side ** 2 * self.size ** 2 * self.channels * self.filters


def _net(images: int, filters: int, first: dict[str, int], others: dict[str, int]) -> Counter[Op]:
  """Counts the ops, given the number of each kind in the first and in the three other layers."""
  found: Counter[Op] = collections.Counter()
  sides = (28, 14, 7, 3)
  for number, side in enumerate(sides):
    for kind, count in (others if number else first).items():
      found[Op(kind, images, side, filters if number else 1, filters)] += count
  return found


def _times(ops: Counter[Op], times: int) -> Counter[Op]:
  return collections.Counter({op: times * count for op, count in ops.items()})


def tasks() -> dict[str, Counter[Op]]:
  """Counts the convolutions of one task, by title."""
  maml, proto, steps = cfsl_cases.MAML_FILTERS, cfsl_cases.PROTO_FILTERS, cfsl_cases.STEPS
  once = {"forward": 1, "kernel": 1}, {"forward": 1, "kernel": 1, "input": 1}
  # Back through a step: two gradients for each operation, which are again of these three kinds.
  twice = {"forward": 2, "kernel": 2}, {"forward": 3, "kernel": 3, "input": 3}
  forward = {"forward": 1}
  found = {}
  for title, sets in (("", 1), (", NSS 10", 10)):
    found[f"MAML++ low-end, training{title}"] = (
        _times(_net(_SUPPORT, maml, *twice), steps * sets) + _net(_TARGETS * sets, maml, *once))
    found[f"MAML++ low-end, evaluation{title}"] = (
        _times(_net(_SUPPORT, maml, *once), steps * sets)
        + _net(_TARGETS * sets, maml, forward, forward))
  found["MAML++ high-end, training"] = _embedding(_SUPPORT + _TARGETS, *once)
  found["ProtoNets, training"] = _net(_SUPPORT, proto, *once) + _net(_TARGETS, proto, *once)
  return found


def _embedding(images: int, first: dict[str, int], others: dict[str, int]) -> Counter[Op]:
  """Convolutions of `DenseAttention`: stem, two 3x3 per stage, and the final 1x1 of a stage."""
  found: Counter[Op] = collections.Counter()
  for kind, count in first.items():
    found[Op(kind, images, 28, 1, 64)] += count
  for kind, count in others.items():
    for side, channels in ((28, 192), (14, 320)):
      found[Op(kind, images, side, 64, 64)] += 2 * count
      found[Op(kind, images, side // 2, channels, channels, 1)] += count
  return found


def shapes(op: Op) -> dict[str, list[int]]:
  return {"input": [op.images, op.side, op.side, op.channels],
          "kernel": [op.size, op.size, op.channels, op.filters],
          "forward": [op.images, op.side, op.side, op.filters]}


def one(kind: str, sizes: dict[str, list[int]], of: dict[str, tf.Tensor]) -> tf.Tensor:
  """Builds the operation; `of["forward"]` is the convolution's result or its gradient.

  "nothing" builds no operation.
  """
  if kind == "nothing":
    return of["kernel"]
  if kind == "forward":
    return tf.nn.conv2d(of["input"], of["kernel"], 1, "SAME")
  if kind == "kernel":
    return tf.compat.v1.nn.conv2d_backprop_filter(
        of["input"], sizes["kernel"], of["forward"], [1, 1, 1, 1], "SAME")
  return tf.compat.v1.nn.conv2d_backprop_input(
      sizes["input"], of["kernel"], of["forward"], [1, 1, 1, 1], "SAME")


def _graph(op: Op, chains: int) -> Callable[[], tf.Tensor]:
  sizes = shapes(op)
  values = [{name: tf.Variable(tf.random.normal(size)) for name, size in sizes.items()}
            for _ in range(chains)]

  def chain(of: dict[str, tf.Variable]) -> tf.Tensor:
    read = {name: variable.read_value() for name, variable in of.items()}
    return _repeated(lambda: one(op.kind, sizes, read)[0, 0, 0, 0])

  return tf.function(lambda: tf.add_n([chain(of) for of in values]), autograph=False)


def _repeated(value: Callable[[], tf.Tensor]) -> tf.Tensor:
  """Sums repeated values in a loop; equal operations outside a loop would be merged."""
  _, total = tf.while_loop(
      lambda i, _: i < REPEATS, lambda i, total: (i + 1, total + value()),
      (tf.constant(0), tf.constant(0.0)), parallel_iterations=1)
  return total


def _product(chains: int) -> Callable[[], tf.Tensor]:
  values = [tf.Variable(tf.random.normal([_WIDE, _WIDE])) for _ in range(chains)]

  def chain(variable: tf.Variable) -> tf.Tensor:
    read = variable.read_value()
    return _repeated(lambda: tf.matmul(read, read)[0, 0])

  return tf.function(lambda: tf.add_n([chain(v) for v in values]), autograph=False)


def _seconds(graph: Callable[[], tf.Tensor], chains: int, rounds: int) -> float:
  """Median seconds of one operation when `chains` of them run at once, divided by `chains`."""
  found = []
  graph()
  for _ in range(rounds):
    calls, start = 0, time.perf_counter()
    while time.perf_counter() - start < _SECONDS:
      graph().numpy()
      calls += 1
    found.append((time.perf_counter() - start) / (calls * REPEATS * chains))
  return statistics.median(found)


def run(args: argparse.Namespace, machine: str) -> None:
  """Prints the table: one thread per operation, `--threads` at once, as in `tools/bench cfsl`."""
  tf.config.threading.set_intra_op_parallelism_threads(1)
  chains = args.threads or len(os.sched_getaffinity(0))
  tf.config.threading.set_inter_op_parallelism_threads(chains)
  print(machine)
  print("| | tasks/s | GFLOP a task | GFLOP/s | most expensive |\n|---|---:|---:|---:|---|")
  product = 2 * _WIDE ** 3 / _seconds(_product(chains), chains, args.rounds)
  print(f"| product of {_WIDE} x {_WIDE} matrices | | | {product / 1e9:.0f} | |")
  known: dict[Op, float] = {}
  for title, ops in tasks().items():
    for op in ops:
      if op not in known:
        alone = _seconds(_graph(op._replace(kind="nothing"), chains), chains, args.rounds)
        known[op] = _seconds(_graph(op, chains), chains, args.rounds) - alone
    parts: list[Op] = sorted(ops, key=lambda op: -ops[op] * known[op])
    seconds, flops = (sum(ops[op] * value for op, value in pairs) for pairs in (
        [(op, known[op]) for op in ops], [(op, op.flops) for op in ops]))
    first = parts[0]
    print(f"| {title} | {1 / seconds:.1f} | {flops / 1e9:.2f} | {flops / seconds / 1e9:.0f} | "
          f"{first.kind}, {first.images} x {first.side}x{first.side}x{first.channels}: "
          f"{ops[first] * known[first] / seconds:.0%} at {first.flops / known[first] / 1e9:.0f} "
          "GFLOP/s |")
