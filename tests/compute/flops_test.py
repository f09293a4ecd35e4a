# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Layers counted by hand: every number here is written out, none is taken from the counter."""

from __future__ import annotations

import pytest
import tensorflow as tf

from suite.compute import flops


def cost_of(function, *shapes, dtype=tf.float32):
  specs = [tf.TensorSpec(shape, dtype) for shape in shapes]
  return flops.count(tf.function(function, autograph=False).get_concrete_function(*specs))


def test_cost_adds_and_multiplies():
  cost = flops.Cost(10, 4) + flops.Cost(1, 1)
  assert cost == flops.Cost(11, 5)
  assert cost * 3 == flops.Cost(33, 15) == 3 * cost
  assert flops.ZERO + cost == cost
  assert flops.Cost(0, 0, ()) == flops.ZERO


def test_arithmetic_ops_are_counted_as_often_as_they_run():
  def three_trips(x):
    return tf.while_loop(lambda i, _: i < 3, lambda i, x: (i + 1, tf.nn.relu(x @ x) + 1.0),
                         [tf.constant(0), x])[1]

  with flops.watched() as graphs:
    cost_of(three_trips, [4, 4])
    cost_of(lambda x: tf.reshape(x, [2, 8]), [4, 4])
  assert [cost.ops for cost in graphs] == [9, 0]
  assert (graphs[0] * 2 + graphs[0]).ops == 27
  assert graphs[0] == flops.Cost(graphs[0].flops, graphs[0].macs)  # Costs are equal without ops.


def test_unknown_stays_unknown_in_sums_and_products():
  unknown = flops.Cost(None, 7, ("Svd",))
  assert unknown + flops.Cost(1, 1) == flops.Cost(None, 8, ("Svd",))
  assert flops.Cost(1, 1) + unknown == flops.Cost(None, 8, ("Svd",))
  assert unknown * 0 == flops.Cost(None, 0, ("Svd",))
  assert (unknown + flops.Cost(None, None, ("Qr", "Svd"))).uncounted == ("Svd", "Qr")


def test_cost_refuses_what_makes_no_sense():
  with pytest.raises(ValueError, match="multiplied by -1"):
    flops.Cost(1, 1) * -1
  with pytest.raises(TypeError):
    flops.Cost(1, 1) * 0.5
  with pytest.raises(TypeError, match="got function; it takes a ConcreteFunction"):
    flops.count(lambda x: x)


def test_dense_with_bias_and_relu():
  dense = tf.keras.layers.Dense(5, activation="relu")
  dense.build([None, 7])
  # 3 x 7 x 5 multiply-adds; bias and relu on 3 x 5 outputs.
  assert cost_of(dense, [3, 7]) == flops.Cost(2 * 105 + 15 + 15, 105)


def test_dense_gradients_are_two_more_products():
  weights = tf.Variable(tf.ones([7, 5]))

  def step(x):
    with tf.GradientTape() as tape:
      tape.watch(x)
      y = tf.matmul(x, weights)
    return tape.gradient(y, [x, weights], output_gradients=tf.ones([3, 5]))

  # The product itself is dead here: only dX = dY W' and dW = X' dY remain.
  assert cost_of(step, [3, 7]) == flops.Cost(2 * 2 * 105, 2 * 105)


@pytest.mark.parametrize("strides, padding, dilations, height, width", [
    (1, "SAME", 1, 9, 8),
    (1, "VALID", 1, 7, 6),
    (2, "SAME", 1, 5, 4),
    (2, "VALID", 1, 4, 3),
    (1, "SAME", 2, 9, 8),
    (1, "VALID", 2, 5, 4),
])
def test_convolution_and_its_gradients(strides, padding, dilations, height, width):
  filters = tf.Variable(tf.ones([3, 3, 3, 4]))

  def forward(x):
    return tf.nn.conv2d(x, filters, strides, padding, dilations=dilations)

  def both(x):
    with tf.GradientTape() as tape:
      tape.watch(x)
      y = forward(x)
    return [y, *tape.gradient(y, [x, filters], output_gradients=tf.ones_like(y))]

  macs = 2 * height * width * 4 * (3 * 3 * 3)  # batch 2, 4 filters of 3 x 3 x 3
  assert cost_of(forward, [2, 9, 8, 3]) == flops.Cost(2 * macs, macs)
  assert cost_of(both, [2, 9, 8, 3]).macs == 3 * macs


def test_grouped_convolution():
  conv = tf.keras.layers.Conv2D(8, 3, groups=4, use_bias=False)
  conv.build([2, 6, 6, 12])
  macs = 2 * 4 * 4 * 8 * (3 * 3 * 12 // 4)  # each filter sees a quarter of the channels
  assert cost_of(conv, [2, 6, 6, 12]) == flops.Cost(2 * macs, macs)

  def both(x):
    with tf.GradientTape() as tape:
      tape.watch(x)
      y = conv(x)
    return [y, *tape.gradient(y, [x, conv.kernel])]

  assert cost_of(both, [2, 6, 6, 12]).macs == 3 * macs


def test_depthwise_convolution_and_its_gradients():
  conv = tf.keras.layers.DepthwiseConv2D(3, depth_multiplier=2, use_bias=False)
  conv.build([2, 6, 6, 5])
  macs = 2 * 4 * 4 * 10 * 9
  assert cost_of(conv, [2, 6, 6, 5]) == flops.Cost(2 * macs, macs)

  def both(x):
    with tf.GradientTape() as tape:
      tape.watch(x)
      y = conv(x)
    return [y, *tape.gradient(y, [x, conv.depthwise_kernel])]

  assert cost_of(both, [2, 6, 6, 5]).macs == 3 * macs


def test_separable_convolution_is_depthwise_then_pointwise():
  conv = tf.keras.layers.SeparableConv2D(7, 3, padding="same", use_bias=False)
  conv.build([2, 6, 6, 5])
  assert cost_of(conv, [2, 6, 6, 5]).macs == 2 * 36 * 5 * 9 + 2 * 36 * 5 * 7


def test_transposed_convolution_counts_its_small_side():
  conv = tf.keras.layers.Conv2DTranspose(4, 3, strides=2, padding="same", use_bias=False)
  conv.build([2, 5, 5, 6])
  # Each of the 5 x 5 inputs of 6 channels is spread by a 3 x 3 x 4 filter.
  assert cost_of(conv, [2, 5, 5, 6]).macs == 2 * 5 * 5 * 6 * (3 * 3 * 4)


def test_three_dimensional_convolution():
  filters = tf.ones([2, 3, 3, 3, 4])
  cost = cost_of(lambda x: tf.nn.conv3d(x, filters, [1] * 5, "VALID"), [1, 4, 5, 5, 3])
  assert cost.macs == 1 * 3 * 3 * 3 * 4 * (2 * 3 * 3 * 3)


def test_fused_batch_norm_training_and_inference():
  norm = tf.keras.layers.BatchNormalization()
  norm.build([2, 4, 4, 3])
  elements = 2 * 4 * 4 * 3
  inference = cost_of(lambda x: norm(x, training=False), [2, 4, 4, 3])
  assert inference == flops.Cost(2 * elements + 6 * 3, 0)
  # Training also moves two averages of 3 channels: old * momentum + new * (1 - momentum).
  training = cost_of(lambda x: norm(x, training=True), [2, 4, 4, 3])
  assert training == flops.Cost(6 * elements + 6 * 3 + 2 * 3 * 3, 0)


def test_batch_norm_gradient():
  norm = tf.keras.layers.BatchNormalization(center=True, scale=True)
  norm.build([2, 4, 4, 3])

  def step(x):
    with tf.GradientTape() as tape:
      y = norm(x, training=True)
    return tape.gradient(y, norm.trainable_variables)

  forward = 6 * 96 + 12 * 3
  backward = 9 * 96 + 6 * 3  # x_hat 2, dbeta 1, dgamma 2, dx 4
  assert cost_of(step, [2, 4, 4, 3]).flops == forward + backward


def test_unfused_batch_norm_is_its_elementwise_ops():
  def norm(x):
    mean, variance = tf.nn.moments(x, [0])
    return tf.nn.batch_normalization(x, mean, variance, None, None, 1e-3)

  # 12 x 5: mean 60; squared difference 2 x 60, mean 60; + epsilon 5, rsqrt 2 x 5; x * inv 60;
  # mean * inv and its negation 5 + 5; + 60.
  assert cost_of(norm, [12, 5]).flops == 60 + 180 + 15 + 60 + 10 + 60


def test_pooling():
  # Windows of 4 on 3 x 3 positions of 5 channels, batch 2.
  assert cost_of(lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID"), [2, 6, 6, 5]).flops == 4 * 90
  assert cost_of(lambda x: tf.nn.avg_pool2d(x, 2, 2, "VALID"), [2, 6, 6, 5]).flops == 4 * 90
  # Overlapping windows of 9, same padding: 6 x 6 positions.
  assert cost_of(lambda x: tf.nn.max_pool2d(x, 3, 1, "SAME"), [2, 6, 6, 5]).flops == 9 * 360
  # A global average is a mean: one FLOP per element.
  assert cost_of(tf.keras.layers.GlobalAveragePooling2D(), [2, 6, 6, 5]).flops == 360


@pytest.mark.parametrize("pool, gradient", [
    (tf.nn.max_pool2d, 4 * 90 + 90),  # the maximum is found again; one value a window
    (tf.nn.avg_pool2d, 2 * 4 * 90),  # scale and add in each cell
])
def test_pooling_gradients(pool, gradient):
  def step(x):
    with tf.GradientTape() as tape:
      tape.watch(x)
      y = pool(x, 2, 2, "VALID")
    return y, tape.gradient(y, x)

  assert cost_of(step, [2, 6, 6, 5]).flops == 4 * 90 + gradient


@pytest.mark.parametrize("function, per_element", [
    (tf.nn.relu, 1), (tf.exp, 1), (tf.math.rsqrt, 2), (tf.square, 1), (tf.nn.softmax, 5),
    (lambda x: tf.cast(x, tf.float16), 0), (tf.transpose, 0), (lambda x: tf.reshape(x, [-1]), 0),
    (lambda x: x * x + x, 2), (lambda x: tf.add_n([x, x, x]), 2), (tf.identity, 0),
    (lambda x: tf.where(x > 0, x, 0.0), 2),
    (lambda x: tf.raw_ops.StatelessRandomNormal(shape=[6, 8], seed=[1, 2]), 0),
])
def test_elementwise_ops(function, per_element):
  assert cost_of(function, [6, 8]) == flops.Cost(48 * per_element, 0)


def test_reductions_count_what_disappears():
  assert cost_of(tf.reduce_sum, [6, 8]).flops == 47
  assert cost_of(lambda x: tf.reduce_max(x, axis=1), [6, 8]).flops == 48 - 6
  assert cost_of(lambda x: tf.argmax(x, axis=1), [6, 8]).flops == 48 - 6
  assert cost_of(lambda x: tf.reduce_mean(x, axis=1), [6, 8]).flops == 48


def test_integer_arithmetic_is_free():
  assert cost_of(lambda x: x * x + 1, [6, 8], dtype=tf.int32) == flops.ZERO


def test_batched_matrix_products():
  right = tf.ones([3, 5, 6])
  assert cost_of(lambda x: tf.matmul(x, right), [3, 4, 5]).macs == 3 * 4 * 5 * 6
  assert cost_of(lambda x: tf.matmul(x, right, transpose_a=True), [3, 5, 4]).macs == 3 * 4 * 5 * 6
  # [2, 1, 4, 5] x [3, 5, 6]: the batch dimensions broadcast to [2, 3].
  assert cost_of(lambda x: tf.matmul(x, right), [2, 1, 4, 5]).macs == 6 * 4 * 5 * 6


@pytest.mark.parametrize("equation, left, right, expected", [
    ("ij,jk->ik", [3, 4], [4, 5], (2 * 60, 60)),
    ("aecd,abcd->acbe", [2, 3, 4, 5], [2, 6, 4, 5], (2 * 720, 720)),  # attention scores
    ("...j,jk->...k", [2, 3, 4], [4, 5], (2 * 120, 120)),
    ("b...j,...jk->b...k", [2, 3, 4], [3, 4, 5], (2 * 120, 120)),
    ("ijl,jk->ik", [3, 4, 6], [4, 5], (2 * 60 + 72 - 12, 60)),  # l is summed away first
])
def test_einsum(equation, left, right, expected):
  cost = cost_of(lambda x, y: tf.raw_ops.Einsum(inputs=[x, y], equation=equation), left, right)
  assert (cost.flops, cost.macs) == expected


def test_einsum_of_one_tensor_is_a_sum():
  assert cost_of(lambda x: tf.raw_ops.Einsum(inputs=[x], equation="ij->i"), [3, 4]).flops == 9
  assert cost_of(lambda x: tf.raw_ops.Einsum(inputs=[x], equation="ij->ji"), [3, 4]).flops == 0
  assert cost_of(lambda x: tf.raw_ops.Einsum(inputs=[x], equation="ii->"), [4, 4]).flops == 3


def test_momentum_update():
  weights = tf.Variable(tf.ones([10]))
  momentum = tf.Variable(tf.zeros([10]))

  def step(gradient, nesterov):
    tf.raw_ops.ResourceApplyKerasMomentum(
        var=weights.handle, accum=momentum.handle, lr=0.1, grad=gradient, momentum=0.9,
        use_nesterov=nesterov)

  assert cost_of(lambda g: step(g, False), [10]).flops == 40  # a = m a - lr g; w += a
  assert cost_of(lambda g: step(g, True), [10]).flops == 60  # ..; w += m a - lr g


@pytest.mark.parametrize("loss, expected", [
    # 12 logits in 4 rows.
    (lambda x: tf.nn.softmax_cross_entropy_with_logits(tf.ones([4, 3]), x), 8 * 12 + 4),
    (lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits([0, 1, 2, 0], x), 5 * 12 + 3 * 4),
])
def test_cross_entropies(loss, expected):
  assert cost_of(loss, [4, 3]).flops == expected
