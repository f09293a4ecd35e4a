# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import inspect

import numpy as np
import pytest
import tensorflow as tf

from suite.models import vit

SMALL = {"layers": 2, "width": 16, "heads": 2, "mlp_size": 32}


def num_trainable(model):
  return sum(int(np.prod(v.shape)) for v in model.trainable_variables)


def parameters(width, mlp, layers, patch, tokens):
  attention = 4 * (width * width + width)
  block = attention + 4 * width + 2 * width * mlp + mlp + width  # two norms, two dense layers
  patches = patch * patch * 3 * width + width
  return layers * block + patches + width + tokens * width + 2 * width


def test_parameters_of_vit_b8():
  # 12 blocks of 7,087,872, as in every ViT-B; 8x8 patches of a 64x64 image and a class token: 65
  # tokens.
  assert parameters(768, 3072, 12, 8, 65) == 12 * 7_087_872 + 148_224 + 768 + 65 * 768 + 1_536
  assert parameters(768, 3072, 12, 8, 65) == 85_254_912
  default = {name: part.default for name, part in inspect.signature(vit.vit).parameters.items()}
  assert (default["layers"], default["heads"]) == (12, 12)
  model = vit.vit(layers=1)  # All blocks are alike.
  assert num_trainable(model) == parameters(768, 3072, 1, 8, 65)
  assert model.output_shape == (None, 768)


def test_oblong_images_uint8_and_static_shapes_everywhere():
  model = vit.vit((16, 32, 3), **SMALL)
  assert num_trainable(model) == parameters(16, 32, 2, 8, 9)
  step = tf.function(lambda x: model(x, training=True), autograph=False)
  concrete = step.get_concrete_function(tf.TensorSpec([2, 16, 32, 3], tf.uint8))
  assert concrete.output_shapes == (2, 16)
  tensors = [t for op in concrete.graph.get_operations() for t in op.outputs]
  assert all(t.shape.is_fully_defined() for t in tensors)
  assert np.isfinite(model(np.full([2, 16, 32, 3], 255, np.uint8)).numpy()).all()


def test_features_depend_on_where_a_patch_is():
  model = vit.vit((16, 16, 3), **SMALL)
  image = np.zeros([1, 16, 16, 3], np.uint8)
  image[:, :8, :8] = 255
  assert np.abs(model(image) - model(image[:, ::-1])).max() > 1e-4


def test_the_mean_of_the_patches_is_a_feature_to_which_all_of_them_contribute():
  model = vit.vit((16, 16, 3), pool="mean", **{**SMALL, "layers": 0})
  assert num_trainable(model) == parameters(16, 32, 0, 8, 5)
  tokens = tf.keras.Model(model.input, model.get_layer("tokens").output)
  image = np.random.default_rng(0).integers(0, 256, [1, 16, 16, 3])
  mean = tokens(image).numpy()[:, 1:].mean(axis=1)  # Without the class token.
  centered = mean - mean.mean(axis=1, keepdims=True)
  expected = centered / np.sqrt(centered.var(axis=1, keepdims=True) + 1e-6)
  np.testing.assert_allclose(model(image), expected, rtol=1e-3, atol=1e-4)
  with pytest.raises(ValueError, match="pool is 'max'; allowed are token, mean"):
    vit.vit(pool="max")


def test_gradients_are_dense():
  model = vit.vit((16, 16, 3), **SMALL)
  with tf.GradientTape() as tape:
    loss = tf.reduce_sum(model(tf.zeros([2, 16, 16, 3]), training=True) ** 2)
  assert all(isinstance(g, tf.Tensor) for g in tape.gradient(loss, model.trainable_variables))


def test_sizes_that_do_not_divide_are_refused():
  with pytest.raises(ValueError, match="20x20 pixels cannot be cut into patches of 8x8"):
    vit.vit((20, 20, 3))
  with pytest.raises(ValueError, match="width 16 cannot be split over 3 heads"):
    vit.vit((16, 16, 3), width=16, heads=3)
