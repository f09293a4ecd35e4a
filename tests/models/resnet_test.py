# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import inspect

import numpy as np
import pytest
import tensorflow as tf

from suite.models import image_input
from suite.models import resnet


def num_trainable(model):
  return sum(int(np.prod(v.shape)) for v in model.trainable_variables)


def images(size=32, batch=2):
  return np.random.default_rng(0).integers(0, 256, [batch, size, size, 3], np.uint8)


def two_convolutions(width):
  return 2 * (9 * width * width + 2 * width)  # Kernels, scales and offsets.


def bottleneck(width):
  return (4 + 9 + 4) * width * width + 2 * (width + width + 4 * width)


# The published nets without their last layer: 11,689,512 - 513,000, 21,797,672 - 513,000 and
# 25,557,032 - 2,049,000. The small stem replaces 7*7*3*64 weights by 3*3*3*64.
@pytest.mark.parametrize("build, stem, blocks, of_block, features, expected", [
    (resnet.resnet18, "small", (2, 2, 2, 2), two_convolutions, 512, 11_176_512 - 9_408 + 1_728),
    (resnet.resnet34, "large", (3, 4, 6, 3), two_convolutions, 512, 21_284_672),
    (resnet.resnet50, "large", (3, 4, 6, 3), bottleneck, 2048, 23_508_032),
])
def test_parameters_are_those_of_the_published_nets(
    build, stem, blocks, of_block, features, expected):
  assert inspect.signature(build).parameters["blocks"].default == blocks
  model = build((32, 32, 3), stem=stem, blocks=(1, 1, 1, 1))
  # All blocks of a stage but its first are alike.
  further = sum((n - 1) * of_block(width) for n, width in zip(blocks, (64, 128, 256, 512)))
  assert num_trainable(model) + further == expected
  assert model.output_shape == (None, features)


@pytest.mark.parametrize("bottleneck", [False, True])
def test_keras_cv_net_and_our_large_stem_are_the_same_function(bottleneck):
  # keras-cv lacks the small stem, widths and norms; a net must not change with who built it.
  blocks = (1, 2, 1, 1)
  theirs = resnet.resnet((32, 32, 3), blocks=blocks, bottleneck=bottleneck)
  inputs, x = image_input.image_input((32, 32, 3))
  x = resnet.body(x, blocks=blocks, stem="large", width=1.0, norm="batch", bottleneck=bottleneck)
  ours = tf.keras.Model(inputs, tf.keras.layers.GlobalAveragePooling2D()(x))
  assert [v.shape for v in ours.weights] == [v.shape for v in theirs.weights]
  ours.set_weights(theirs.get_weights())
  np.testing.assert_allclose(
      ours(images(), training=True), theirs(images(), training=True), rtol=1e-4, atol=1e-4)
  # After one training call the moving averages agree too: same momentum.
  for mine, other in zip(ours.non_trainable_variables, theirs.non_trainable_variables):
    np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("stem, size", [("large", 1), ("small", 4)])
def test_stems_differ_by_four_in_resolution(stem, size):
  inputs = tf.keras.Input((32, 32, 3))
  x = resnet.body(inputs, blocks=(1, 1, 1, 1), stem=stem, width=1 / 16, norm="none")
  assert x.shape == (None, size, size, 32)


@pytest.mark.parametrize("norm", ["sync_batch", "group", "none"])
def test_narrow_nets_take_any_norm_and_keep_static_shapes(norm):
  model = resnet.resnet18((16, 16, 3), stem="small", width=1 / 32, norm=norm, blocks=(1, 1))
  step = tf.function(lambda x: model(x, training=True), autograph=False)
  graph = step.get_concrete_function(tf.TensorSpec([2, 16, 16, 3], tf.uint8))
  assert graph.output_shapes == (2, 4)
  assert np.isfinite(graph(tf.constant(images(16)))).all()


def test_unknown_stem_names_the_known_ones():
  with pytest.raises(ValueError, match="stem is 'tiny'; allowed are large, small"):
    resnet.resnet18(stem="tiny")


def test_too_many_stages_are_refused():
  with pytest.raises(ValueError, match="5 stages; there are at most 4"):
    resnet.resnet((64, 64, 3), blocks=(1, 1, 1, 1, 1))
