# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Among others: second derivatives, against finite differences of first derivatives in float64."""

import numpy as np
import pytest
import tensorflow as tf

from suite.models import conv4

SHAPE, BLOCKS, FILTERS = (8, 8, 3), 2, 4


def images(batch=3):
  return np.random.default_rng(0).integers(0, 256, [batch, *SHAPE]).astype(np.float32)


def batch_moments(x):
  mean = tf.reduce_mean(x, (0, 1, 2))
  return mean, tf.reduce_mean((x - mean) ** 2, (0, 1, 2))


def group_moments(x):  # as many groups as channels: each channel of each example
  mean = tf.reduce_mean(x, (1, 2), keepdims=True)
  return mean, tf.reduce_mean((x - mean) ** 2, (1, 2), keepdims=True)


def tf_moments(x):
  return tf.nn.moments(x, (0, 1, 2))


def loss_of(features):
  # Any smooth function of the features will do.
  weights = tf.cast(tf.linspace(-1.0, 1.0, features.shape[0] * features.shape[1]), features.dtype)
  return tf.reduce_sum(tf.reshape(weights, features.shape) * features ** 2)


def by_hand(variables, moments):
  """The loss of conv4 in float64; variables: kernel, scale, offset of each block."""
  x = tf.constant(images().astype(np.float64) / 127.5 - 1.0)
  for block in range(BLOCKS):
    kernel, scale, offset = variables[3 * block:3 * block + 3]
    x = tf.nn.conv2d(x, kernel, 1, "SAME")
    mean, variance = moments(x)
    x = scale * (x - mean) / tf.sqrt(variance + 1.001e-5) + offset
    x = tf.nn.max_pool2d(tf.nn.relu(x), 2, 2, "VALID")
  return loss_of(tf.reshape(x, [x.shape[0], -1]))


def hessian_vector(loss_fn, variables, vector):
  with tf.GradientTape() as outer:
    outer.watch(variables)
    with tf.GradientTape() as inner:
      inner.watch(variables)
      loss = loss_fn()
    gradients = inner.gradient(loss, variables)
  return outer.gradient(gradients, variables, output_gradients=vector)


def finite_difference(values, vector, moments, step=1e-6):
  def gradients(sign):
    moved = [tf.constant(v + sign * step * d) for v, d in zip(values, vector)]
    with tf.GradientTape() as tape:
      tape.watch(moved)
      loss = by_hand(moved, moments)
    return tape.gradient(loss, moved)

  return [(up - down) / (2 * step) for up, down in zip(gradients(1.0), gradients(-1.0))]


def flat(tensors):
  return np.concatenate([np.ravel(t) for t in tensors])


def relative_error(got, expected):
  return np.linalg.norm(flat(got) - flat(expected)) / np.linalg.norm(flat(expected))


def setting(norm):
  """A model, its weights in float64 (scales and offsets off 1 and 0) and a direction."""
  model = conv4.conv4(SHAPE, filters=FILTERS, blocks=BLOCKS, norm=norm)
  rng = np.random.default_rng(1)
  for variable in model.trainable_variables:
    start = np.zeros(variable.shape) if "kernel" in variable.name else variable.numpy()
    variable.assign(start + rng.normal(0.0, 0.3, variable.shape))
  values = [v.numpy().astype(np.float64) for v in model.trainable_variables]
  return model, values, [rng.normal(size=v.shape) for v in values]


@pytest.mark.parametrize("norm, moments", [("batch", batch_moments), ("group", group_moments)])
def test_hessian_vector_product_is_right(norm, moments):
  model, values, vector = setting(norm)
  got = hessian_vector(lambda: loss_of(model(images(), training=True)), model.trainable_variables,
                       [tf.constant(v, tf.float32) for v in vector])
  assert relative_error(got, finite_difference(values, vector, moments)) < 1e-4


def test_finite_differences_would_see_the_gradient_that_tf_moments_stops():
  _, values, vector = setting("batch")
  expected = finite_difference(values, vector, batch_moments)
  variables = [tf.constant(v) for v in values]
  right = hessian_vector(lambda: by_hand(variables, batch_moments), variables, vector)
  wrong = hessian_vector(lambda: by_hand(variables, tf_moments), variables, vector)
  assert relative_error(right, expected) < 1e-6
  assert relative_error(wrong, expected) > 1e-2


@pytest.mark.parametrize("norm", ["batch", "group", "none"])
def test_nothing_goes_through_tf_moments(norm):
  model = conv4.conv4(SHAPE, filters=FILTERS, blocks=BLOCKS, norm=norm)
  step = tf.function(lambda x: loss_of(model(x, training=True)), autograph=False)
  graph = step.get_concrete_function(tf.TensorSpec([2, *SHAPE], tf.uint8)).graph
  types = {op.type for op in graph.get_operations()}
  assert not types & {"StopGradient", "PartitionedCall", "StatefulPartitionedCall"}
  assert ("FusedBatchNormV3" in types) == (norm == "batch")


# 28 -> 14 -> 7 -> 3 -> 1; 64 -> 4; 84 -> 42 -> 21 -> 10 -> 5.
@pytest.mark.parametrize("size, features", [(28, 64), (64, 1024), (84, 1600)])
def test_feature_sizes_of_the_papers(size, features):
  model = conv4.conv4((size, size, 3))
  assert model.output_shape == (None, features)
  # Four kernels, and a scale and an offset for each of 4 * 64 channels.
  num_trainable = sum(int(np.prod(v.shape)) for v in model.trainable_variables)
  assert num_trainable == 9 * 64 * (3 + 3 * 64) + 8 * 64


def test_without_norm_convolutions_have_a_bias():
  names = [v.name for v in conv4.conv4((16, 16, 1), filters=2, norm="none").trainable_variables]
  assert names == [f"block{b}_conv/{part}:0" for b in (1, 2, 3, 4) for part in ("kernel", "bias")]


def test_synchronized_batch_norm_is_refused_with_the_reason():
  with pytest.raises(ValueError, match="second derivatives may be wrong"):
    conv4.conv4(norm="sync_batch")


def test_images_too_small_are_refused():
  with pytest.raises(ValueError, match="8x8 pixels vanish in 4 blocks"):
    conv4.conv4((8, 8, 3))


def test_the_order_of_relu_and_pooling_changes_no_value_and_no_gradient():
  rng = np.random.default_rng(3)
  # Few values, so that windows have ties, and windows without anything above 0.
  x = tf.constant(rng.integers(-3, 3, [5, 7, 6, 4]).astype(np.float32))
  weights = tf.constant(rng.normal(size=[5, 3, 3, 4]).astype(np.float32))
  layer, found = conv4.ReluMaxPool(), []
  for training in (False, True):
    with tf.GradientTape() as tape:
      tape.watch(x)
      y = layer(x, training=training)
    found.append((y.numpy(), tape.gradient(y, x, output_gradients=weights).numpy()))
  for relu_first, pool_first in zip(*found):
    np.testing.assert_array_equal(relu_first, pool_first)
  assert (found[0][0] == 0).any() and (found[0][1] != 0).any()


def test_it_can_be_cloned_inside_another_model():
  inner = conv4.conv4(SHAPE, filters=FILTERS, blocks=2)
  inputs = tf.keras.Input(SHAPE)
  outer = tf.keras.Model(inputs, tf.keras.layers.Dense(3)(inner(inputs)))
  clone = tf.keras.models.clone_model(outer)
  clone.set_weights(outer.get_weights())
  np.testing.assert_array_equal(clone(images()), outer(images()))
