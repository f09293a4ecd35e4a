# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The convolutions of `tools/bench convs` are those of a task, and their shapes are right."""

import importlib
import pathlib

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.tsl.profiler.protobuf import xplane_pb2

import suite
from suite.models.episodic import dense_attention

TOOLS = pathlib.Path(suite.__file__).parents[1] / "tools" / "bench"


@pytest.fixture(name="bench")
def _bench(monkeypatch):
  monkeypatch.syspath_prepend(str(TOOLS))
  return importlib.import_module("bench_convs")


def macs(filters):
  """Of one image forward: the first layer, and the three others."""
  return 28 ** 2 * 9 * filters, (14 ** 2 + 7 ** 2 + 3 ** 2) * 9 * filters ** 2


def total(ops):
  return sum(op.flops * count for op, count in ops.items())


def test_the_operations_of_a_task(bench):
  found = bench.tasks()
  first, others = macs(48)
  step = 5 * (2 * first + 3 * others)
  targets = 25 * (first + others)
  assert total(found["MAML++ low-end, evaluation"]) == 2 * (5 * step + targets)
  assert total(found["MAML++ low-end, evaluation, NSS 10"]) == 20 * (5 * step + targets)
  # Back through a step: 1 gradient of the first layer's two operations each, 2 of the others'.
  back = 5 * (2 * first + 6 * others)
  assert total(found["MAML++ low-end, training"]) == 2 * (
      5 * (step + back) + 25 * (2 * first + 3 * others))
  first, others = macs(64)
  assert total(found["ProtoNets, training"]) == 2 * 30 * (2 * first + 3 * others)


def test_the_embedding_of_high_end_has_the_convolutions_of_the_model(bench):
  net = dense_attention.DenseAttention()
  weights = net.initial(0, (28, 28, 1))
  found = {(op.channels, op.filters, op.size) for op in bench.tasks()["MAML++ high-end, training"]}
  kernels = [w.shape for name, w in weights.items() if name.endswith(("stem/kernel", "/wide"))]
  one_by_one = [w.shape for name, w in weights.items() if name.startswith("transition")]
  assert found == {(*k[2:], 3) for k in kernels} | {(*k, 1) for k in one_by_one}


def test_no_operation_is_merged_with_another_or_taken_out_of_its_loop(bench, tmp_path):
  graph = bench._graph(bench.Op("kernel", images=2, side=5, channels=3, filters=4), 2)
  graph()
  tf.profiler.experimental.start(str(tmp_path))
  graph()
  tf.profiler.experimental.stop()
  space = xplane_pb2.XSpace()
  space.ParseFromString(next(tmp_path.rglob("*.xplane.pb")).read_bytes())
  names = [plane.event_metadata[event.metadata_id].name for plane in space.planes
           for line in plane.lines for event in line.events]
  assert sum(name.endswith("Conv2DBackpropFilter") for name in names) == 2 * bench.REPEATS


@pytest.mark.parametrize("kind", ("forward", "kernel", "input"))
def test_an_operation_is_the_convolution_or_its_gradient(bench, kind):
  op = bench.Op(kind, images=2, side=5, channels=3, filters=4)
  assert np.isfinite(float(bench._graph(op, 2)()))
  # The gradients that TensorFlow itself takes are of the same sizes.
  x, kernel = tf.ones([2, 5, 5, 3]), tf.ones([3, 3, 3, 4])
  with tf.GradientTape() as tape:
    tape.watch([x, kernel])
    y = tf.nn.conv2d(x, kernel, 1, "SAME")
  sizes = dict(zip(("forward", "input", "kernel"), (y, *tape.gradient(y, [x, kernel]))))
  assert bench.one(kind, bench.shapes(op), {n: tf.ones(s) for n, s in bench.shapes(op).items()}
                   ).shape == sizes[kind].shape
  assert op.flops == 2 * 2 * 25 * 9 * 3 * 4
