# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest
import tensorflow as tf

from suite.models import norms


def normed(norm, channels=4):
  inputs = tf.keras.Input((3, 3, channels))
  return tf.keras.Model(inputs, norms.apply(inputs, norm, "norm"))


def op_types(model):
  """The ops of the forward pass and its gradient."""
  @tf.function(autograph=False)
  def gradient(x):
    with tf.GradientTape() as tape:
      tape.watch(x)
      y = model(x, training=True)
    return tape.gradient(y, x, output_gradients=y)

  graph = gradient.get_concrete_function(tf.TensorSpec([2, *model.input_shape[1:]])).graph
  return {op.type for op in graph.get_operations()}


def images(batch=2, channels=4):
  return np.random.default_rng(0).normal(3.0, 2.0, [batch, 3, 3, channels]).astype(np.float32)


@pytest.mark.parametrize("norm", ["batch", "sync_batch"])
def test_batch_norms_centre_each_channel_over_the_batch(norm):
  out = normed(norm)(images(), training=True).numpy()
  np.testing.assert_allclose(out.mean((0, 1, 2)), 0.0, atol=1e-5)
  np.testing.assert_allclose(out.var((0, 1, 2)), 1.0, atol=1e-3)


def test_group_norm_treats_each_example_alone():
  model = normed("group")
  np.testing.assert_allclose(model(images())[:1], model(images()[:1]), atol=1e-5)


def test_group_norm_finds_a_number_of_groups_that_divides_the_channels():
  assert normed("group", 48).get_layer("norm").groups == 16
  assert normed("group", 64).get_layer("norm").groups == 32


def test_no_norm_changes_nothing():
  np.testing.assert_array_equal(normed("none")(images()), images())


@pytest.mark.parametrize("norm", norms.TWICE_DIFFERENTIABLE)
def test_norms_for_meta_learning_stop_no_gradient(norm):
  assert "StopGradient" not in op_types(normed(norm))


def test_batch_norm_is_fused():
  assert "FusedBatchNormV3" in op_types(normed("batch"))


def test_the_reason_for_refusing_sync_batch_norm_still_holds():
  with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
    assert "StopGradient" in op_types(normed("sync_batch"))


def test_unknown_norm_names_the_known_ones():
  with pytest.raises(ValueError, match="'layer'; allowed are batch, sync_batch, group, none"):
    norms.check("layer")
