# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What cannot be counted is None, is named, and is warned about once."""

from __future__ import annotations

from absl import logging
import pytest
import tensorflow as tf
from tensorflow.python.framework import op_def_registry

from suite.compute import flops
from suite.compute import graph_values
from suite.compute import op_costs


@pytest.fixture(name="warnings")
def fixture_warnings(monkeypatch):
  messages = []
  monkeypatch.setattr(logging, "warning", lambda text, *args: messages.append(text % args))
  return messages


def cost_of(function, *shapes):
  specs = [tf.TensorSpec(shape) for shape in shapes]
  return flops.count(tf.function(function, autograph=False).get_concrete_function(*specs))


def test_a_known_graph_gives_no_warning(warnings):
  cost_of(tf.nn.relu, [3])
  assert not warnings


def test_unknown_op_is_none_and_named(warnings):
  cost = cost_of(lambda x: tf.linalg.svd(tf.matmul(x, x), compute_uv=False), [4, 4])
  assert cost == flops.Cost(None, None, ("Svd",))
  assert len(warnings) == 1
  assert "Svd" in warnings[0]


def test_python_code_in_the_graph_is_unknown(warnings):
  cost = cost_of(lambda x: tf.numpy_function(lambda a: a @ a, [x], tf.float32), [4, 4])
  assert (cost.flops, cost.macs) == (None, None)
  assert cost.uncounted == ("PyFunc",)
  assert cost_of(lambda x: tf.py_function(lambda a: a, [x], tf.float32), [4]).uncounted == (
      "EagerPyFunc",)
  assert len(warnings) == 2


def test_an_unknown_op_that_is_dead_does_no_harm(warnings):
  def step(x):
    tf.linalg.svd(x)
    return tf.nn.relu(x)

  assert cost_of(step, [4, 4]) == flops.Cost(16, 0)
  assert not warnings


def test_an_unknown_op_in_a_loop_is_named_once(warnings):
  cost = cost_of(lambda x: tf.map_fn(lambda a: tf.linalg.svd(a, compute_uv=False), x), [5, 4, 4])
  assert cost == flops.Cost(None, None, ("Svd",))
  assert len(warnings) == 1


def test_open_batch_is_unknown_and_names_the_node(warnings):
  def step(x):
    return tf.matmul(tf.nn.relu(tf.matmul(x, tf.ones([4, 5]), name="first")), tf.ones([5, 2]))

  cost = cost_of(step, [None, 4])
  assert (cost.flops, cost.macs) == (None, None)
  assert cost.uncounted == ("MatMul: unknown shape at first", "Relu: unknown shape at Relu")
  assert len(warnings) == 1
  assert "MatMul: unknown shape at first" in warnings[0]


def test_open_shapes_outside_products_leave_macs_known():
  def step(x):
    return tf.boolean_mask(x, x > 0) * 2.0, tf.matmul(x, x)

  cost = cost_of(step, [4, 4])
  assert (cost.flops, cost.macs) == (None, 64)


def test_data_dependent_loop_is_unknown_and_named(warnings):
  def loop(x):
    return tf.while_loop(
        lambda x: tf.reduce_sum(x) < 100.0, lambda x: [tf.matmul(x, x)], [x], name="until_large")

  cost = cost_of(loop, [4, 4])
  assert (cost.flops, cost.macs) == (None, None)
  assert cost.uncounted == ("While: unknown trip count at until_large",) or cost.uncounted == (
      "StatelessWhile: unknown trip count at until_large",)
  assert len(warnings) == 1
  assert "until_large" in warnings[0]


def test_maximum_iterations_do_not_fix_a_data_dependent_loop():
  def loop(x):
    return tf.while_loop(
        lambda x: tf.reduce_sum(x) < 100.0, lambda x: [x + x], [x], maximum_iterations=9)

  cost = cost_of(loop, [4, 4])
  assert (cost.flops, cost.macs) == (None, 0)  # no product in it, however often it runs


def test_endless_loop_is_given_up(monkeypatch):
  monkeypatch.setattr(graph_values, "MAX_TRIPS", 1000)
  cost = cost_of(lambda x: tf.while_loop(lambda x: True, lambda x: [x + x], [x]), [4])
  assert cost.flops is None


def test_two_unknown_loops_are_both_named():
  def loops(x):
    grow = lambda x: [x + x]
    small = lambda x: tf.reduce_sum(x) < 100.0
    (x,) = tf.while_loop(small, grow, [x], name="one")
    return tf.while_loop(small, grow, [x], name="two")

  assert len(cost_of(loops, [4]).uncounted) == 2


def test_unknown_branch_makes_the_conditional_unknown():
  def step(x):
    return tf.cond(tf.reduce_sum(x) > 0, lambda: x, lambda: tf.linalg.inv(tf.linalg.qr(x)[0]))

  assert cost_of(step, [4, 4]).uncounted == ("Qr",)


def test_no_op_type_stands_in_two_tables():
  tables = [op_costs.FREE, set(op_costs.COSTS), set(op_costs.MAC_COSTS)]
  for i, table in enumerate(tables):
    for other in tables[i + 1:]:
      assert not set(table) & set(other)


def test_every_name_in_the_tables_is_an_op():
  for name in sorted(op_costs.FREE | set(op_costs.COSTS) | set(op_costs.MAC_COSTS)):
    assert op_def_registry.get(name) is not None, name
