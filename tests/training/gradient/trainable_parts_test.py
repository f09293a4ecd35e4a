# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""However a network is split into a code and what is trained, features are those of the whole."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import tensorflow as tf

from suite.models import conv4
from suite.models import mlp
from suite.state import weight_store
from suite.training.gradient import frozen_backbone
from suite.training.gradient import trainable_parts

SIZE = 8
SHAPE = (SIZE, SIZE, 3)


def conv(image_shape):
  return conv4.conv4(image_shape, filters=3, blocks=2)


def perceptron(feature_size):
  return mlp.mlp(feature_size, hidden=(5,))


def backbone():
  return frozen_backbone.FrozenBackbone(conv, SIZE, seed=3)


def images(num=4):
  return np.random.default_rng(0).integers(0, 256, [num, *SHAPE]).astype(np.uint8)


def unnormed():
  return frozen_backbone.FrozenBackbone(
      lambda image_shape: conv4.conv4(image_shape, filters=3, blocks=2, norm="none"), SIZE)


PARTS = {
    "head": lambda: trainable_parts.HeadOnly(backbone()),
    "last": lambda: trainable_parts.LastLayers(backbone, 1),
    "two_last": lambda: trainable_parts.LastLayers(backbone, 2),
    "last_norms": lambda: trainable_parts.LastLayers(backbone, 1, norms="trained"),
    "all": lambda: trainable_parts.AllLayers(conv),
    "all_fixed": lambda: trainable_parts.AllLayers(conv, norms="fixed"),
    "drifting": lambda: trainable_parts.Drifting(backbone),
    "drifting_last": lambda: trainable_parts.Drifting(backbone, 1),
}
# Of which tensors of which kind what training changes is: kernels, then scales and offsets.
TRAINED = {"head": (0, 0), "last": (1, 0), "two_last": (2, 0), "last_norms": (1, 2), "all": (2, 4),
           "all_fixed": (2, 0), "drifting": (0, 0), "drifting_last": (1, 0)}


def prepared(name, shape=SHAPE):
  part = PARTS[name]()
  part.prepare(shape)
  return part


@pytest.fixture(name="shared", scope="module")
def _shared():
  """A function: a name to the part, for tests that leave its statistics as they are."""
  return functools.cache(prepared)


@pytest.mark.parametrize("name", PARTS)
def test_codes_and_then_features_are_those_of_the_whole_network(name, shared):
  part = shared(name)
  codes = part.encode(tf.constant(images()))
  spec = part.code_spec()
  assert (codes.shape[1:], codes.dtype) == (spec.shape, spec.dtype)
  model = part.upper()
  whole = backbone()
  if name.startswith("all"):
    model.set_weights(whole.model.get_weights())
  elif model is not None:
    model.set_weights(part.first_weights())
  found = codes if model is None else model(codes, training=False)
  np.testing.assert_allclose(found, whole(tf.constant(images())), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", PARTS)
def test_what_is_trained_is_what_is_said(name, shared):
  part = shared(name)
  model = part.upper()
  variables = [] if model is None else model.trainable_variables
  if name.startswith("drifting"):
    variables = part.trained_variables()
  found = (sum(len(v.shape) > 1 for v in variables),
           sum("gamma" in v.name or "beta" in v.name for v in variables))
  assert found == TRAINED[name]
  assert sum(layer.trained and layer.macs > 0 for layer in part.layers(model)) == TRAINED[name][0]
  assert sum(layer.macs > 0 for layer in part.layers(model)) == 2
  assert part.augments == name.startswith(("all", "drifting")) and not part.is_identity


@pytest.mark.parametrize("name, drifts", [
    ("last", False), ("last_norms", True), ("all", True), ("all_fixed", False),
    ("drifting", True)])
def test_statistics_of_norms_drift_only_where_norms_are_trained(name, drifts):
  part = prepared(name)
  model = part.upper()
  before = [w.numpy() for w in model.non_trainable_weights]
  codes = part.encode(tf.constant(images()))
  model(codes, training=True)
  changed = [np.any(a != b.numpy()) for a, b in zip(before, model.non_trainable_weights)]
  assert any(changed) == drifts


def test_a_linear_model_has_features_for_codes():
  part = trainable_parts.HeadOnly()
  part.prepare((5,))
  x = tf.ones([2, 5])
  assert part.encode(x) is x and part.upper() is None and part.is_identity
  assert part.code_spec() == tf.TensorSpec((5,), tf.float32) and part.layers(None) == []


def test_a_linear_model_of_images_is_one_of_pixels():
  part = trainable_parts.HeadOnly()
  part.prepare(SHAPE)
  np.testing.assert_allclose(
      part.encode(tf.constant(images())), images().reshape([4, -1]) / 255, rtol=1e-6)
  assert part.code_spec() == tf.TensorSpec((SIZE * SIZE * 3,), tf.float32)
  assert part.upper() is None and not part.is_identity


def test_all_layers_go_on_features_too():
  part = trainable_parts.AllLayers(perceptron)
  part.prepare((6,))
  assert part.code_spec() == tf.TensorSpec((6,), tf.float32)
  assert part.upper().input_shape == (None, 6)


def test_each_upper_model_is_a_new_one_but_for_last_layers_that_exist_once():
  part = prepared("all")
  assert part.upper().weights[0] is not part.upper().weights[0]
  last = prepared("last")
  assert last.upper().weights[0] is last.upper().weights[0]


def test_first_weights_are_those_before_any_training():
  part = prepared("last")
  model, first = part.upper(), [w.copy() for w in part.first_weights()]
  for variable in model.trainable_variables:
    variable.assign(tf.zeros_like(variable))
  assert any(w.any() for w in first)
  for a, b in zip(part.first_weights(), first):
    np.testing.assert_array_equal(a, b)


def test_given_weights_come_first_and_those_of_a_head_are_left_alone(tmp_path):
  store = weight_store.WeightStore(tmp_path, 0)
  given = [np.full(w.shape, i + 1.0, np.float32)
           for i, w in enumerate(conv(image_shape=SHAPE).get_weights())]
  store.save("net", [*given, np.zeros([12, 4], np.float32), np.zeros([4], np.float32)])
  part = trainable_parts.AllLayers(conv, str(next(tmp_path.glob("*.npz"))))
  part.prepare(SHAPE)
  weights = [*(np.zeros(g.shape) for g in given), np.full([12, 4], 7.0)]
  found = trainable_parts.with_first(weights, part.first_weights(), len(given))
  assert len(found) == len(weights)
  for a, b in zip(found, [*given, weights[-1]]):
    np.testing.assert_array_equal(a, b)
  assert prepared("all").first_weights() is None
  assert trainable_parts.with_first(weights, None, len(given)) == weights
  fewer = trainable_parts.with_first(weights, given[:1], len(given))
  assert fewer[0] is given[0] and fewer[1] is weights[1]


def test_weights_of_another_network_are_refused():
  with pytest.raises(ValueError, match=r"hold 1 arrays of shapes .*Give weights of this very back"):
    trainable_parts.with_first([np.zeros([3, 3, 3, 4])], [np.zeros([5, 5, 3, 4])], 1)


def vector(image_shape):
  raise TypeError("no such argument")


@pytest.mark.parametrize("make, shape, message", [
    (lambda: trainable_parts.HeadOnly(backbone()), (4,), "HeadOnly.features makes features of im"),
    (lambda: trainable_parts.LastLayers(backbone), (4,), "LastLayers trains layers on images, but"),
    (lambda: trainable_parts.Drifting(backbone), (4,), "Drifting trains layers on images, but"),
    (lambda: trainable_parts.Drifting(backbone, 3), SHAPE, "is 3; .* allowed are 0 to 2"),
    (lambda: trainable_parts.Drifting(unnormed), SHAPE, "has no norm with running statistics"),
])
def test_examples_of_another_shape_are_refused(make, shape, message):
  with pytest.raises(ValueError, match=message):
    make().prepare(shape)


@pytest.mark.parametrize("make, shape, message", [
    (perceptron, SHAPE, r"cannot be called with image_shape=\(8, 8, 3\)"),
    (conv, (6,), "cannot be called with feature_size=6"),
    (vector, SHAPE, "no such argument"),
    (lambda image_shape: 3, SHAPE, "backbone made 'int'; it must make a Keras model"),
    (lambda image_shape: tf.keras.Sequential(
        [tf.keras.Input(image_shape), tf.keras.layers.Conv2D(2, 3)]), SHAPE,
     r"made \(None, 6, 6, 2\).* end it with pooling or Flatten"),
])
def test_a_backbone_that_makes_no_features_is_refused(make, shape, message):
  part = trainable_parts.AllLayers(make)
  part.prepare(shape)
  with pytest.raises(ValueError, match=message):
    part.upper()


def test_norms_that_nobody_knows_are_refused():
  with pytest.raises(ValueError, match="AllLayers.norms is 'none'; allowed are fixed, trained"):
    trainable_parts.AllLayers(conv, norms="none")


def test_the_rules_of_the_code_are_had_by_name():
  net = backbone()
  assert isinstance(trainable_parts.head_only(net), trainable_parts.HeadOnly)
  drifting = trainable_parts.head_only(net, rules="code", backbone=backbone)
  assert isinstance(drifting, trainable_parts.Drifting)
  assert isinstance(trainable_parts.head_only(rules="code"), trainable_parts.HeadOnly)
  with pytest.raises(ValueError, match="head_only.rules is 'codes'; allowed are paper, code"):
    trainable_parts.head_only(rules="codes")
  with pytest.raises(ValueError, match="norms drift, and there is no backbone"):
    trainable_parts.head_only(net, rules="code")
