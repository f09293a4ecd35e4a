# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A user's Keras model within an inner loop has the gradients of the net written by hand."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.models import norms
from suite.models.episodic import embedding
from suite.models.episodic import functional_conv4
from suite.models.episodic import functional_model
from suite.training.episodic import inner_loop

SHAPE, WAY, BLOCKS, FILTERS = (8, 8, 3), 3, 2, 4
layers = tf.keras.layers


def conv4(image_shape=SHAPE):
  """The net of `functional_conv4` in Keras layers."""
  net = tf.keras.Sequential([layers.Rescaling(1 / 127.5, -1.0, input_shape=image_shape)])
  for _ in range(BLOCKS):
    net.add(layers.Conv2D(FILTERS, 3, padding="same", use_bias=False))
    net.add(layers.BatchNormalization(epsilon=norms.EPSILON))
    net.add(layers.LeakyReLU(0.01))
    net.add(layers.MaxPool2D(2))
  net.add(layers.Flatten())
  return net


class Subclassed(tf.keras.Model):
  """The same as a subclass, whose layers are in a list."""

  def __init__(self):
    super().__init__()
    self.scale = layers.Rescaling(1 / 127.5, -1.0)
    self.convs = [layers.Conv2D(FILTERS, 3, padding="same", use_bias=False) for _ in range(BLOCKS)]
    self.norms = [layers.BatchNormalization(epsilon=norms.EPSILON) for _ in range(BLOCKS)]

  def call(self, x, training=None):
    x = self.scale(x)
    for conv, norm in zip(self.convs, self.norms):
      x = tf.nn.max_pool2d(tf.nn.leaky_relu(norm(conv(x), training=training), 0.01), 2, 2, "VALID")
    return tf.reshape(x, [-1, 2 * 2 * FILTERS])


def _episode():
  rng = np.random.default_rng(3)
  images = rng.integers(0, 256, [2, 6, *SHAPE]).astype(np.uint8)
  targets = rng.integers(0, 256, [9, *SHAPE]).astype(np.uint8)
  return images, np.tile(np.arange(WAY), [2, 2]), targets, np.arange(9) % WAY


def _meta_gradients(net, values, transductive):
  """Loss and gradients of a task of two support sets, as a list in an order of the net's own."""
  inner = inner_loop.InnerLoop(steps=1, num_support_sets=2, rate=0.1, transductive=transductive)
  names, parts = sorted(values), _episode()
  scales = net.initial_norms(inner.num_norm_rows)
  rng = np.random.default_rng(5)
  rows = [part + 0.1 * rng.normal(size=[inner.num_norm_rows, BLOCKS * FILTERS]).reshape(part.shape)
          for part in scales]
  rates = tf.fill([inner.num_steps, len(names)], 0.1)

  def run(weights, scale, offset):
    parameters = inner_loop.Parameters(dict(zip(names, weights)), rates,
                                       functional_conv4.Norms(scale, offset))
    support, labels, targets, target_labels = map(tf.constant, parts)
    with tf.GradientTape() as tape:
      tape.watch([weights, scale, offset])
      states = inner.learn_all(net, parameters, net.prepare(support), labels)
      loss = inner_loop.cross_entropy(
          target_labels, inner.logits(net, parameters, states[-1], net.prepare(targets)))
    return loss, tf.nest.map_structure(tf.convert_to_tensor, tape.gradient(
        loss, [weights, scale, offset], unconnected_gradients="zero"))

  given = [tf.constant(values[name], tf.float32) for name in names]
  loss, (weights, scale, offset) = run(given, *(tf.constant(r, tf.float32) for r in rows))
  flat = [g.numpy().reshape(inner.num_norm_rows, -1) for g in (scale, offset)]
  return float(loss), {n: g.numpy() for n, g in zip(names, weights)}, flat


@pytest.fixture(name="by_hand", scope="module")
def _by_hand():
  """The reference's initial weights and meta-gradients, by whether it is transductive."""
  net = functional_conv4.Conv4(filters=FILTERS, blocks=BLOCKS)
  values = net.initial(0, SHAPE, WAY)
  return values, {given: _meta_gradients(net, values, given) for given in (False, True)}


@pytest.mark.parametrize("backbone, transductive", [(conv4, True), (Subclassed, False)])
def test_second_order_gradients_are_those_of_the_net_written_by_hand(
    by_hand, backbone, transductive):
  values, found = by_hand
  loss, gradients, of_norms = found[transductive]
  net = functional_model.FunctionalModel(backbone)
  names = sorted(net.initial(0, SHAPE, WAY))
  same = {"000/kernel": "block1/kernel", "001/kernel": "block2/kernel",
          "head/bias": "head/bias", "head/kernel": "head/kernel"}
  assert names == sorted(same)
  given = {name: values[same[name]] for name in names}
  got_loss, got, got_norms = _meta_gradients(net, given, transductive)
  assert got_loss == pytest.approx(loss, rel=1e-5)
  for name in names:
    np.testing.assert_allclose(got[name], gradients[same[name]], atol=2e-5, err_msg=name)
  for a, b in zip(got_norms, of_norms):
    assert np.abs(b).max() > 1e-3
    np.testing.assert_allclose(a, b, atol=2e-5)


def test_the_models_own_variables_stay_and_its_call_is_its_own_again():
  net = functional_model.FunctionalModel(conv4)
  weights = net.initial(1, SHAPE, WAY)
  model = net._call.model
  before = [w.copy() for w in model.get_weights()]
  images = np.random.default_rng(0).uniform(0, 255, [4, *SHAPE]).astype(np.float32)
  plain = model(images, training=False).numpy()
  row = functional_conv4.Norms(*(tf.constant(p[0], tf.float32) for p in net.initial_norms(1)))
  doubled = {name: tf.constant(2.0 * value) for name, value in weights.items()}
  net.apply(doubled, row, tf.constant(images))
  assert all(np.array_equal(a, b) for a, b in zip(before, model.get_weights()))
  np.testing.assert_array_equal(plain, model(images, training=False))


def test_an_instance_brings_its_weights_and_statistics():
  model = conv4()
  for variable in model.weights:
    variable.assign(tf.random.stateless_uniform(variable.shape, [1, len(variable.shape)], 0.5, 1.0))
  net = embedding.Embedding(functional_model.FunctionalModel(model))
  net.make(0, SHAPE)
  images = np.random.default_rng(0).uniform(0, 255, [4, *SHAPE]).astype(np.float32)
  np.testing.assert_allclose(net.encode(tf.constant(images)), model(images, training=False),
                             rtol=1e-4, atol=1e-4)
  features, seen = net.train(tf.constant(images))
  np.testing.assert_allclose(features, model(images, training=True), rtol=1e-3, atol=1e-3)
  assert seen.mean.shape == (BLOCKS * FILTERS,)


def test_layer_norm_has_the_right_second_derivative():
  def make(image_shape):
    return tf.keras.Sequential([
        layers.Flatten(input_shape=image_shape), layers.Dense(5, "tanh", dtype="float64"),
        layers.LayerNormalization(dtype="float64"), layers.Dense(4, "tanh", dtype="float64")])

  net = functional_model.FunctionalModel(make)
  values = {n: tf.constant(v, tf.float64) for n, v in net.initial(2, (2, 2, 1)).items()}
  x = tf.constant(np.random.default_rng(0).normal(size=[3, 2, 2, 1]))
  name = "000/kernel"

  def gradient(kernel):
    with tf.GradientTape() as tape:
      tape.watch(kernel)
      loss = tf.reduce_sum(net.features({**values, name: kernel}, x, None) ** 2)
    return tape.gradient(loss, kernel)

  direction = tf.constant(np.random.default_rng(1).normal(size=values[name].shape))
  with tf.GradientTape() as tape:
    tape.watch(values[name])
    along = tf.reduce_sum(gradient(values[name]) * direction)
  product, step = tape.gradient(along, values[name]), 1e-5
  difference = (gradient(values[name] + step * direction)
                - gradient(values[name] - step * direction)) / (2 * step)
  np.testing.assert_allclose(product, difference, rtol=1e-5, atol=1e-7)


def test_layers_may_compute_in_half_precision():
  def make(image_shape):
    return tf.keras.Sequential([
        layers.Conv2D(2, 3, input_shape=image_shape, dtype="mixed_bfloat16"),
        layers.BatchNormalization(dtype="mixed_bfloat16"), layers.Flatten()])

  net = functional_model.FunctionalModel(make)
  weights = {name: tf.constant(value) for name, value in net.initial(0, SHAPE, WAY).items()}
  assert net.dtype == "float32"
  row = functional_conv4.Norms(*(tf.constant(p[0], tf.float32) for p in net.initial_norms(1)))
  with tf.GradientTape() as tape:
    tape.watch(weights)
    logits = net.apply(weights, row, tf.random.stateless_uniform([4, *SHAPE], [0, 1]))
  gradients = tape.gradient(logits, weights)
  assert logits.dtype == tf.float32 and {g.dtype for g in gradients.values()} == {tf.float32}


class Counting(layers.Layer):
  """Assigns a variable in its call."""

  def build(self, shape):
    del shape
    self.calls = self.add_weight(name="calls", shape=(), trainable=False)

  def call(self, x):
    self.calls.assign_add(1.0)
    return x


@pytest.mark.parametrize("layer, message", [
    (lambda: layers.Dropout(0.5, name="drop"), "cannot be called twice with the same result: drop"),
    (lambda: layers.GaussianNoise(0.1, name="noise"), "the same result: noise"),
    (lambda: Counting(name="counting"), "the same result: counting"),
])
def test_layers_that_cannot_be_called_twice_are_named(layer, message):
  net = functional_model.FunctionalModel(lambda image_shape: tf.keras.Sequential([
      layers.Flatten(input_shape=image_shape), layer(), layers.Dense(3)]))
  with pytest.raises(ValueError, match=message):
    net.initial(0, SHAPE, WAY)


def test_a_norm_in_two_places_is_refused():
  norm = layers.BatchNormalization(name="shared")
  inputs = tf.keras.Input(SHAPE)
  model = tf.keras.Model(inputs, layers.Flatten()(norm(norm(inputs))))
  with pytest.raises(ValueError, match="shared is called several times in one pass"):
    functional_model.FunctionalModel(model).initial(0, SHAPE, WAY)


def test_losses_of_layers_are_refused():
  def net(image_shape):
    return tf.keras.Sequential([layers.Flatten(input_shape=image_shape),
                                layers.Dense(3, kernel_regularizer="l2", name="regular")])

  for made in (functional_model.FunctionalModel(net), embedding.KerasEmbedding(net)):
    make = getattr(made, "initial", None) or made.make
    with pytest.raises(ValueError, match="adds losses in regular .*and training over episodes has"):
      make(1, SHAPE)
