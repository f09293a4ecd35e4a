# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Our numbers against those of TensorFlow's profiler, where it is right."""

from __future__ import annotations

import pytest
import tensorflow as tf

from suite.compute import flops

_BINARY = ("Add", "AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "Pow", "GreaterEqual",
           "Greater", "LessEqual", "Less", "Equal", "NotEqual", "SquaredDifference")
_UNARY = {"Reciprocal": "x", "Square": "x", "Rsqrt": "x", "Log": "x", "Neg": "x",
          "L2Loss": "t", "Softmax": "logits"}


def concrete(function, *shapes):
  return tf.function(function).get_concrete_function(*[tf.TensorSpec(s) for s in shapes])


def profiled(function) -> int:
  options = tf.compat.v1.profiler.ProfileOptionBuilder.float_operation()
  options["output"] = "none"
  return tf.compat.v1.profiler.profile(
      function.graph, cmd="scope", options=options).total_float_ops


def assert_same(function, *shapes):
  function = concrete(function, *shapes)
  assert flops.count(function).flops == profiled(function) > 0


@pytest.mark.parametrize("name", _BINARY)
def test_binary_ops(name):
  assert_same(lambda x, y: getattr(tf.raw_ops, name)(x=x, y=y), [3, 4], [3, 4])


@pytest.mark.parametrize("name", sorted(_UNARY))
def test_unary_ops(name):
  assert_same(lambda x: getattr(tf.raw_ops, name)(**{_UNARY[name]: x}), [3, 4])


@pytest.mark.parametrize("name", ["Sum", "Mean"])
def test_reductions(name):
  assert_same(lambda x: getattr(tf.raw_ops, name)(input=x, axis=[1]), [3, 4, 5])


def test_other_elementwise_ops():
  assert_same(lambda x: tf.argmax(x, axis=1), [3, 4])
  assert_same(lambda x: tf.add_n([x, x, x]), [3, 4])
  assert_same(lambda x: tf.nn.bias_add(x, tf.ones([4])), [3, 4])
  assert_same(lambda x: tf.raw_ops.BiasAddGrad(out_backprop=x), [3, 4])
  assert_same(lambda x: tf.raw_ops.RsqrtGrad(y=x, dy=x), [3, 4])


def test_products():
  assert_same(lambda x: tf.matmul(x, tf.ones([4, 5])), [3, 4])
  assert_same(lambda x: tf.matmul(x, tf.ones([2, 4, 5])), [2, 3, 4])
  assert_same(lambda x: tf.nn.conv2d(x, tf.ones([3, 3, 4, 5]), 2, "VALID"), [2, 9, 8, 4])
  assert_same(lambda x: tf.nn.depthwise_conv2d(x, tf.ones([3, 3, 4, 2]), [1, 1, 1, 1], "SAME"),
              [2, 9, 8, 4])
  assert_same(lambda x: tf.nn.conv3d(x, tf.ones([2, 3, 3, 4, 5]), [1] * 5, "SAME"), [1, 4, 5, 5, 4])


def test_pools():
  assert_same(lambda x: tf.nn.max_pool2d(x, 3, 2, "SAME"), [2, 9, 8, 4])
  assert_same(lambda x: tf.nn.avg_pool2d(x, 3, 2, "SAME"), [2, 9, 8, 4])


def test_training_step_of_a_plain_network():
  model = tf.keras.Sequential([
      tf.keras.layers.Conv2D(4, 3, padding="same", input_shape=(8, 8, 3)),
      tf.keras.layers.MaxPool2D(2),
      tf.keras.layers.Conv2D(6, 3, strides=2, padding="same"),
      tf.keras.layers.Flatten(),
      tf.keras.layers.Dense(5),
  ])

  def step(x):
    with tf.GradientTape() as tape:
      tape.watch(x)  # so that no op is dead: the profiler counts dead ops too
      y = tf.reduce_sum(tf.square(model(x, training=True)))
    return [y, *tape.gradient(y, [x, *model.trainable_variables])]

  assert_same(step, [2, 8, 8, 3])


def test_where_the_profiler_is_silent_we_are_not():
  loop = concrete(lambda x: tf.map_fn(lambda a: tf.matmul(a, a), x), [6, 4, 4])
  assert (profiled(loop), flops.count(loop).flops) == (0, 6 * 2 * 64)
  inner = tf.function(lambda a: tf.matmul(a, a))
  nested = concrete(lambda x: inner(x), [4, 4])
  assert (profiled(nested), flops.count(nested).flops) == (0, 2 * 64)


def test_where_the_profiler_is_wrong():
  # A valid convolution: 7 x 7 positions, not 9 x 9 (the profiler multiplies by the input's size).
  grad = concrete(
      lambda dy: tf.nn.conv2d_transpose(dy, tf.ones([3, 3, 2, 4]), [1, 9, 9, 2], 1, "VALID"),
      [1, 7, 7, 4])
  assert flops.count(grad).flops == 2 * 49 * 4 * 18
  assert profiled(grad) == 2 * 81 * 4 * 18
