# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What runs is counted, and as often as it runs: dead ops, calls, loops, branches, gradients."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.framework import function as defun  # For has no public Python call
from tensorflow.python.ops import functional_ops

from suite.compute import flops

MACS = 4 * 4 * 4  # one [4, 4] x [4, 4] product


def cost_of(function, *shapes):
  if not hasattr(function, "get_concrete_function"):
    function = tf.function(function)
  return flops.count(function.get_concrete_function(*[tf.TensorSpec(s) for s in shapes]))


def product(x):
  return tf.matmul(x, x)


def test_dead_ops_are_not_counted():
  def step(x):
    tf.matmul(x, x)
    return x

  assert cost_of(step, [4, 4]) == flops.ZERO


def test_stateful_ops_and_what_they_need_are_counted():
  state = tf.Variable(tf.zeros([4, 4]))

  def step(x):
    state.assign_add(tf.matmul(x, x))

  assert cost_of(step, [4, 4]) == flops.Cost(2 * MACS + 16, MACS)


def test_first_layers_dead_input_gradient_is_not_counted():
  first, second = tf.Variable(tf.ones([3, 3, 2, 4])), tf.Variable(tf.ones([3, 3, 4, 5]))

  @tf.function
  def step(x):
    with tf.GradientTape() as tape:
      y = tf.nn.conv2d(tf.nn.conv2d(x, first, 1, "SAME"), second, 1, "SAME")
    return tape.gradient(y, [first, second])

  a, b = 36 * 9 * 2 * 4, 36 * 9 * 4 * 5
  # Forward 1, filter gradients 1 + 2, input gradient of the second layer. The second layer's
  # output is never looked at, so its forward product is dead as well.
  assert cost_of(step, [1, 6, 6, 2]).macs == a + (a + b) + b


def test_nested_functions():
  inner = tf.function(product)
  outer = tf.function(lambda x: inner(inner(x)))
  assert cost_of(lambda x: outer(x) + inner(x), [4, 4]) == flops.Cost(3 * 2 * MACS + 16, 3 * MACS)


def test_unused_output_of_a_nested_function_is_dead():
  inner = tf.function(lambda x: (tf.matmul(x, x), tf.nn.relu(x)))
  assert cost_of(lambda x: inner(x)[1], [4, 4]) == flops.Cost(16, 0)


def test_nested_function_of_open_shape_is_inferred_with_the_callers():
  inner = tf.function(lambda x: tf.nn.relu(tf.matmul(x, tf.ones([4, 5]))),
                      input_signature=[tf.TensorSpec([None, 4])])
  cost = cost_of(lambda x: 2.0 * tf.matmul(inner(x), tf.ones([5, 2])), [3, 4])
  assert cost == flops.Cost(2 * 60 + 15 + 2 * 30 + 6, 60 + 30)


def test_nested_function_reshapes_by_the_callers_shape():
  inner = tf.function(lambda x: tf.reshape(x, [tf.shape(x)[0], -1]),
                      input_signature=[tf.TensorSpec([None, 2, None])])
  assert cost_of(lambda x: tf.matmul(inner(x), tf.ones([6, 2])), [4, 2, 3]).macs == 4 * 6 * 2


def test_while_loop():
  def loop(x):
    return tf.while_loop(lambda i, x: i < 7, lambda i, x: (i + 2, tf.matmul(x, x)), [0, x])[1]

  assert cost_of(loop, [4, 4]) == flops.Cost(4 * 2 * MACS, 4 * MACS)  # i = 0, 2, 4, 6


def test_maximum_iterations_bound_a_loop():
  def loop(x):
    return tf.while_loop(
        lambda i, x: i < 7, lambda i, x: (i + 1, tf.matmul(x, x)), [0, x], maximum_iterations=3)[1]

  assert cost_of(loop, [4, 4]).macs == 3 * MACS


def test_maximum_iterations_captured_from_outside():
  limit = tf.constant(6)

  def loop(x):
    return tf.while_loop(
        lambda x: True, lambda x: [tf.matmul(x, x)], [x], maximum_iterations=limit)[0]

  assert cost_of(loop, [4, 4]).macs == 6 * MACS


def test_trip_count_given_through_a_nested_function():
  @tf.function
  def inner(x, n):
    return tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, tf.matmul(x, x)), [0, x])[1]

  cost = cost_of(lambda x: inner(inner(x, tf.constant(2)), tf.shape(x)[0] + 1), [4, 4])
  assert cost.macs == (2 + 5) * MACS


@pytest.mark.parametrize("limits, trips", [((5,), 5), ((2, 11, 3), 3), ((6, 0, -2), 3), ((0,), 0)])
def test_autograph_range(limits, trips):
  @tf.function
  def loop(x):
    for _ in tf.range(*limits):
      x = tf.matmul(x, x)
    return x

  assert cost_of(loop, [4, 4]).macs == trips * MACS


def test_autograph_while():
  @tf.function
  def loop(x):
    i = tf.constant(1)
    while i < 100:
      x = tf.matmul(x, x)
      i = i * 2
    return x

  assert cost_of(loop, [4, 4]).macs == 7 * MACS  # 1, 2, .., 64


def test_nested_loops():
  @tf.function
  def loop(x):
    for _ in tf.range(3):
      for _ in tf.range(5):
        x = tf.matmul(x, x)
    return x

  assert cost_of(loop, [4, 4]).macs == 15 * MACS


def test_loop_variable_that_nobody_reads_is_dead():
  def loop(x):
    return tf.while_loop(
        lambda i, x, y: i < 5, lambda i, x, y: (i + 1, tf.nn.relu(x), tf.matmul(y, x)),
        [0, x, x])[1]

  assert cost_of(loop, [4, 4]) == flops.Cost(5 * 16, 0)


def test_map_fn_and_scan():
  assert cost_of(lambda x: tf.map_fn(product, x), [6, 4, 4]) == flops.Cost(6 * 2 * MACS, 6 * MACS)
  assert cost_of(lambda x: tf.scan(tf.matmul, x), [6, 4, 4]).macs == 5 * MACS
  assert cost_of(lambda x: tf.foldl(tf.matmul, x), [6, 4, 4]).macs == 5 * MACS


def test_gradient_of_map_fn_runs_backwards_through_tensor_lists():
  weights = tf.Variable(tf.ones([4, 4]))

  def step(x, with_inputs):
    with tf.GradientTape() as tape:
      tape.watch(x)
      y = tf.map_fn(lambda a: tf.matmul(a, weights), x)
    return y, tape.gradient(y, [x, weights] if with_inputs else weights)

  # Each trip adds its gradient to the running sum of the weights' gradient.
  one = flops.Cost(2 * 2 * MACS + 16, 2 * MACS)
  assert cost_of(lambda x: step(x, False), [6, 4, 4]) == one * 6
  assert cost_of(lambda x: step(x, True), [6, 4, 4]) == (one + flops.Cost(2 * MACS, MACS)) * 6


def test_keras_recurrent_layer():
  layer = tf.keras.layers.LSTM(3, return_sequences=True)
  layer(tf.ones([2, 5, 4]))
  # 5 steps; 4 gates from 4 inputs and 3 states.
  assert cost_of(layer, [2, 5, 4]).macs == 5 * 2 * (4 + 3) * 4 * 3


def test_for_op():
  @defun.Defun(tf.int32, tf.float32, func_name="flops_test_for_body")
  def body(i, x):
    del i
    return tf.matmul(x, x)

  def loop(x):
    return functional_ops.For(0, 10, 3, [x], body)[0]

  assert cost_of(loop, [4, 4]).macs == 4 * MACS


def test_the_most_expensive_branch_counts():
  def step(x):
    return tf.cond(tf.reduce_sum(x) > 0, lambda: tf.matmul(x, x), lambda: tf.nn.relu(x))

  assert cost_of(step, [4, 4]) == flops.Cost(2 * MACS + 15 + 1, MACS)


def test_a_fixed_predicate_chooses_its_branch():
  def step(x):
    inside = tf.shape(x)[0] < 3
    return tf.cond(inside, lambda: tf.matmul(x, x), lambda: tf.nn.relu(x))

  assert cost_of(step, [4, 4]) == flops.Cost(16, 0)


def test_switch_case_counts_the_most_expensive_branch():
  def step(x):
    index = tf.cast(tf.reduce_sum(x), tf.int32)
    return tf.switch_case(index, [
        lambda: x, lambda: tf.matmul(x, tf.matmul(x, x)), lambda: tf.matmul(x, x)])

  assert cost_of(step, [4, 4]).macs == 2 * MACS


def test_vectorized_map_counts_what_it_vectorized():
  weights = tf.ones([4, 5])
  cost = cost_of(lambda x: tf.vectorized_map(lambda a: tf.matmul(a, weights), x), [6, 3, 4])
  assert cost.macs == 6 * 3 * 4 * 5


def maml_loss(weights, x, inner_steps, second_order):
  """Two conv layers' worth of MAML without labels: the mean square after some steps downhill."""
  fast = weights
  for _ in range(inner_steps):
    with tf.GradientTape() as tape:
      tape.watch(fast)
      loss = tf.reduce_mean(tf.square(tf.nn.conv2d(x, fast, 1, "SAME")))
    gradient = tape.gradient(loss, fast)
    fast = fast - 0.1 * (gradient if second_order else tf.stop_gradient(gradient))
  return tf.reduce_mean(tf.square(tf.nn.conv2d(x, fast, 1, "SAME")))


def maml_gradient(weights, second_order=True, inner_steps=2):
  def run(x):
    value = tf.convert_to_tensor(weights)
    with tf.GradientTape() as tape:
      tape.watch(value)
      loss = maml_loss(value, x, inner_steps, second_order)
    return tape.gradient(loss, value)

  return run


def test_map_fn_of_eight_second_order_steps_is_eight_times_one():
  weights = tf.Variable(tf.ones([3, 3, 2, 4]))
  one = cost_of(maml_gradient(weights), [2, 6, 6, 2])
  eight = cost_of(lambda x: tf.map_fn(maml_gradient(weights), x), [8, 2, 6, 6, 2])
  assert one.flops and one.macs
  assert eight == one * 8


def test_second_order_costs_more_by_hand():
  weights = tf.Variable(tf.ones([3, 3, 2, 4]))
  conv = 2 * 36 * 4 * (9 * 2)
  # One inner step. Forward twice (at the old and the new weights), filter gradient twice.
  first = cost_of(maml_gradient(weights, second_order=False, inner_steps=1), [2, 6, 6, 2])
  assert first.macs == 4 * conv
  # The gradient of the filter gradient: by its output gradient (a conv), and through the output
  # to the weights (a filter gradient).
  second = cost_of(maml_gradient(weights, second_order=True, inner_steps=1), [2, 6, 6, 2])
  assert second.macs == 6 * conv


def test_loop_that_grows_its_variable_has_an_unknown_cost():
  def loop(x):
    return tf.while_loop(
        lambda i, x: i < 3, lambda i, x: (i + 1, tf.nn.relu(tf.concat([x, x], 0))), [0, x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 4])])[1]

  cost = cost_of(loop, [4, 4])
  assert cost.flops is None
  assert "Relu: unknown shape" in cost.uncounted[0]


def test_counting_does_not_run_the_function():
  calls = tf.Variable(0)

  @tf.function
  def step(x):
    calls.assign_add(1)
    return x

  cost_of(step, [4])
  assert calls.numpy() == 0


def test_count_is_repeatable():
  function = tf.function(maml_gradient(tf.Variable(np.ones([3, 3, 2, 4], np.float32))))
  concrete = function.get_concrete_function(tf.TensorSpec([2, 6, 6, 2]))
  assert flops.count(concrete) == flops.count(concrete)


def test_the_memory_of_live_tensors_by_hand():
  def step(x):
    y = tf.matmul(x, x)
    z = tf.nn.relu(y)  # y and z.
    return tf.matmul(tf.reshape(y + z, [4, 4]), x)  # y, z and their sum; then the sum and this.

  assert cost_of(step, [4, 4]).peak_bytes == 3 * 4 * 4 * 4

  def peak(trips):
    def loop(x):
      with tf.GradientTape() as tape:
        tape.watch(x)
        _, y = tf.while_loop(lambda i, _: i < trips, lambda i, y: (i + 1, tf.sin(y) * y),
                             (tf.constant(0), x), maximum_iterations=trips)
      return tape.gradient(y, x)

    return cost_of(loop, [1000]).peak_bytes

  size, peaks = 4 * 1000, [peak(10), peak(30)]
  # Each trip keeps what its gradient needs: y, cos(y) or sin(y), no more than three arrays.
  assert 20 * size <= peaks[1] - peaks[0] <= 60 * size
