# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Models, layers, optimizers and losses of Keras 3 in the suite, beside tf-keras."""

from __future__ import annotations

import functools
import types

import numpy as np
import pytest
import steps
import tensorflow as tf

from suite.compute import mac_views
from suite.models import initial
from suite.models import keras3
from suite.models.episodic import functional_call
from suite.models.episodic import functional_model
from suite.models.own import own_model
from suite.models.own import seeded_layers
from suite.training.gradient import optimizers
from suite.training.gradient import trainable_parts
from suite.training.objectives import objective

keras = pytest.importorskip(
    "keras", minversion="3", reason="needs Keras 3, which TensorFlow 2.16 and later bring")
layers = keras.layers
SHAPE = (8, 8, 3)
IMAGES = np.random.default_rng(0).integers(0, 256, [4, *SHAPE]).astype(np.float32)


def net(*middle, last=5):
  return keras.Sequential([
      keras.Input(SHAPE), layers.Rescaling(1 / 255), layers.Conv2D(4, 3), *middle,
      layers.ReLU(), layers.Flatten(), layers.Dense(last, name="top")])


class Subclassed(keras.Model):

  def __init__(self, width=5):
    super().__init__()
    self.width, self.flat, self.dense = width, layers.Flatten(), layers.Dense(width)

  def call(self, x, training=False):
    return self.dense(self.flat(x))

  def get_config(self):
    return {"width": self.width}


def built(model):
  model(IMAGES)
  return model


def functional():
  inputs = keras.Input([None, None, 3])
  x = layers.Conv2D(4, 3, padding="same")(inputs)
  x = layers.Lambda(lambda v: v * 2.0)(x + layers.Conv2D(4, 1)(inputs))
  inner = keras.Sequential([layers.GlobalAveragePooling2D(), layers.Dense(5)])
  return keras.Model(inputs, inner(x))


def hub():
  keras_hub = pytest.importorskip("keras_hub", reason="needs keras-hub")
  body = keras_hub.models.ResNetBackbone(
      input_conv_filters=[64], input_conv_kernel_sizes=[3], stackwise_num_filters=[64],
      stackwise_num_blocks=[1], stackwise_num_strides=[1], block_type="basic_block",
      image_shape=SHAPE)
  return keras.Sequential([body, layers.GlobalAveragePooling2D()])


@pytest.mark.parametrize("make", [
    net, lambda: net(layers.BatchNormalization()), functional, lambda: built(Subclassed()), hub,
    lambda: keras.Sequential([layers.Resizing(32, 32), keras.applications.MobileNetV2(
        (32, 32, 3), alpha=0.35, include_top=False, weights=None, pooling="avg")]),
], ids=["sequential", "norm", "functional", "subclass", "hub", "application"])
def test_an_instance_is_copied_with_its_weights_and_computes_the_same(make):
  model = make()
  backbone = own_model.Backbone(model)
  one, other = (backbone(image_shape=SHAPE) for _ in range(2))
  expected = model(IMAGES, training=False)
  np.testing.assert_allclose(one(IMAGES, training=False), expected, rtol=2e-5, atol=2e-5)
  for variable in one.weights:
    variable.assign(variable + tf.cast(1, variable.dtype))
  np.testing.assert_allclose(other(IMAGES, training=False), expected, rtol=2e-5, atol=2e-5)
  assert len(one.trainable_weights) == len(model.trainable_weights)
  np.testing.assert_allclose(model(IMAGES, training=False), expected, rtol=2e-5, atol=2e-5)


def test_heads_divide_and_frozen_layers_stay_frozen():
  model = net(layers.Dropout(0.5))
  model.layers[1].trainable = False
  assert own_model.Backbone(model, "replace")(image_shape=SHAPE).output_shape == (None, 144)
  whole = own_model.Backbone(model, "own")
  body, head = whole(image_shape=SHAPE), whole.own_head(5)
  np.testing.assert_allclose(head(body(IMAGES)), model(IMAGES), rtol=1e-5, atol=1e-5)
  assert [len(part.trainable_weights) for part in (body, head)] == [0, 2]
  layers_found = mac_views.model_layers(own_model.Backbone(model)(image_shape=SHAPE))
  assert [layer.macs for layer in layers_found] == [6 * 6 * 4 * 27, 144 * 5]
  assert [layer.trained for layer in layers_found] == [False, True]


def test_first_weights_are_a_function_of_the_seed():
  def build():
    return own_model.Backbone(lambda image_shape: net())(image_shape=SHAPE)

  one, other, third = (initial.initial_weights(build, seed) for seed in (3, 3, 4))
  assert all((a == b).all() for a, b in zip(one, other)) and (one[0] != third[0]).any()


def test_draws_are_a_function_of_the_seed_and_the_step():
  model = own_model.Backbone(net(layers.Dropout(0.5)))(image_shape=SHAPE)
  state, = (v for v in keras3.held_in(model)[0].inner.variables if "seed" in v.path)
  before = state.numpy()
  in_graph = tf.function(lambda x: model(x, training=True))
  keras3.begin_draws(model, (1, 2))
  first, second = in_graph(IMAGES).numpy(), in_graph(IMAGES).numpy()
  model(IMAGES, training=True)
  assert (first != second).any()
  keras3.begin_draws(model, (1, 2))
  np.testing.assert_array_equal(model(IMAGES, training=True), first)
  keras3.begin_draws(model, (1, 3))
  assert (in_graph(IMAGES).numpy() != first).any()
  np.testing.assert_array_equal(state.numpy(), before)
  np.testing.assert_array_equal(model(IMAGES), model(IMAGES))


def _norm(kind):
  if kind == "moments":
    return layers.Lambda(lambda x: (x - tf.nn.moments(x, [1, 2, 3], keepdims=True)[0]) / tf.sqrt(
        tf.nn.moments(x, [1, 2, 3], keepdims=True)[1] + 1e-3))
  return {"batch": layers.BatchNormalization, "layer": layers.LayerNormalization,
          "group": functools.partial(layers.GroupNormalization, 2),
          "rms": layers.RMSNormalization, "none": functools.partial(layers.Activation, "silu"),
          "attention": functools.partial(layers.Lambda, lambda x: x)}[kind]()


@pytest.fixture
def in_float64():
  before = keras.config.dtype_policy(), keras.config.floatx()
  keras.config.set_dtype_policy("float64")
  keras.config.set_floatx("float64")
  yield
  keras.config.set_dtype_policy(before[0])
  keras.config.set_floatx(before[1])


@pytest.mark.parametrize("kind", ["none", "batch", "layer", "group", "rms", "moments"])
def test_meta_gradients_equal_finite_differences(kind, in_float64):
  def backbone(image_shape):
    return keras.Sequential([
        keras.Input(image_shape), layers.Rescaling(1 / 255), layers.Conv2D(4, 3), _norm(kind),
        layers.Activation("tanh"), layers.Flatten(), layers.Dense(3), layers.Activation("silu")])

  rng = np.random.default_rng(1)
  made = functional_model.FunctionalModel(backbone)
  first = made.initial(0, (6, 6, 1), 3)
  names = sorted(first)
  images = tf.constant(rng.integers(0, 255, [2, 5, 6, 6, 1]), tf.float64)
  labels = tf.constant(rng.integers(0, 3, [2, 5]))
  row = type(made.initial_norms(1))(*(tf.constant(p[0]) for p in made.initial_norms(1)))

  def loss_of(weights, part):
    logits = made.apply(weights, row, images[part])
    assert logits.dtype == tf.float64
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels[part], logits))

  def meta_loss(values):
    weights = dict(zip(names, values))
    for _ in range(2):
      with tf.GradientTape() as tape:
        tape.watch(weights)
        loss = loss_of(weights, 0)
      gradients = tape.gradient(loss, weights)
      weights = {n: weights[n] - 0.5 * gradients[n] for n in names}
    return loss_of(weights, 1)

  @tf.function(autograph=False)
  def value_and_gradient(*values):
    with tf.GradientTape() as tape:
      tape.watch(values)
      loss = meta_loss(values)
    return loss, tape.gradient(loss, values)

  values = [tf.constant(first[n]) for n in names]
  direction = [tf.constant(rng.normal(size=v.shape)) for v in values]
  _, gradients = value_and_gradient(*values)
  exact = sum(float(tf.reduce_sum(g * d)) for g, d in zip(gradients, direction))
  ends = [float(value_and_gradient(*(v + s * 1e-5 * d for v, d in zip(values, direction)))[0])
          for s in (1, -1)]
  assert exact == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6)


@pytest.mark.parametrize("middle, message", [
    (lambda: layers.Dropout(0.5, name="drop"), r"drop \(of Keras 3\). They draw random numbers"),
    (lambda: layers.SpectralNormalization(layers.Conv2D(4, 3), name="spectral"),
     r"spectral \(of Keras 3\)"),
    (lambda: layers.BatchNormalization(renorm=True, name="renormed"), "with renorm, renormed"),
    (lambda: layers.Conv2D(4, 3, kernel_constraint="non_neg"), "Keras 3 .* has constraints"),
])
def test_what_a_functional_call_cannot_have_is_refused(middle, message):
  with pytest.raises(ValueError, match=message):
    functional_call.FunctionalCall(own_model.Backbone(net(middle()))(image_shape=SHAPE))


OPTIMIZERS = [name for name in sorted(dir(keras.optimizers)) if name[0].isupper() and name not in (
    "Optimizer", "LossScaleOptimizer", "MultiOptimizer", "OptimizerMap")]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers_step_as_in_keras_3_and_begin_again(name):
  first = [np.float32([[1.0, -2.0], [0.5, 3.0]]), np.float32([0.25, -0.5])]
  gradients = [np.float32([[0.1, 0.2], [-0.3, 0.4]]), np.float32([0.5, -0.6])]
  make = getattr(keras.optimizers, name)
  expected = [keras.Variable(v) for v in first]
  optimizer = make(learning_rate=0.1)
  for step in range(3):
    optimizer.apply([tf.constant(g * (step + 1)) for g in gradients], expected)

  ours = [tf.Variable(v) for v in first]
  updates = optimizers.KerasUpdates(optimizers.own(make(learning_rate=0.1), "mine"), ours)
  step = tf.function(lambda scale: updates.apply(
      [scale * g for g in gradients], ours, None))
  for _ in range(2):
    for variable, value in zip(ours, first):
      variable.assign(value)
    for i in range(3):
      step(tf.constant(i + 1.0))
    for a, b in zip(ours, expected):
      np.testing.assert_allclose(a, b.numpy(), rtol=1e-6, atol=1e-7)
    updates.reset()
  assert len(updates.state) == len(optimizer.variables)


def test_a_schedule_of_either_keras_sets_the_rate_of_an_optimizer_of_keras_3():
  variable = tf.Variable(1.0)
  for schedule in (tf.keras.optimizers.schedules.PiecewiseConstantDecay([0, 1], [0.5, 0.25, 0.0]),
                   None):
    given = keras.optimizers.SGD(
        0.1 if schedule else keras.optimizers.schedules.PiecewiseConstantDecay(
            [0, 1], [0.5, 0.25, 0.0]))
    made = optimizers.own(given, "mine", schedule=schedule)
    assert optimizers.own_rate(made) is None
    updates = optimizers.KerasUpdates(made, [variable])
    for expected in (0.5, 0.25, 0.0):
      variable.assign(1.0)
      updates.apply([tf.constant(1.0)], [variable], None)
      assert float(variable) == pytest.approx(1.0 - expected)
    updates.reset()


AUGMENTATIONS = [name for name in sorted(dir(layers)) if name.startswith("Random") and name not in (
    "RandomCrop", "RandomApply")] + ["noise", "RandAugment", "AugMix", "GaussianDropout"]
SETTINGS = {
    "RandomBrightness": [0.5], "RandomContrast": [0.5], "RandomHue": [0.5], "RandomRotation": [0.3],
    "RandomSaturation": [0.9], "RandomSharpness": [0.9], "RandomTranslation": [0.4, 0.4],
    "RandomZoom": [0.5], "RandomColorDegeneration": [0.9], "RandomPosterization": [2],
    "RandomGrayscale": [0.5], "RandomInvert": [0.5], "GaussianDropout": [0.4],
    "RandomShear": [0.4, 0.4], "RandomColorJitter": [(0, 255), 0.5]}


@pytest.mark.parametrize("name", AUGMENTATIONS)
def test_an_augmented_image_is_a_function_of_the_image_and_its_seed(name):
  if name == "noise":
    layer = keras.Sequential([
        layers.Rescaling(1 / 255), layers.GaussianNoise(0.1), layers.Rescaling(255)])
  else:
    layer = getattr(layers, name)(*SETTINGS.get(name, []))
  images = tf.constant(IMAGES, tf.uint8)
  seeds = np.array([1, 2, 3, 2**63 + 5], np.uint64)
  op = seeded_layers.LayerOp(layer)
  whole = op(images, tf.constant(seeds)).numpy()
  np.testing.assert_array_equal(op(images, tf.constant(seeds)), whole)
  np.testing.assert_array_equal(op(images[1:2], tf.constant(seeds[1:2])), whole[1:2])
  many = op(tf.repeat(images[:1], 16, 0), tf.cast(tf.range(16), tf.uint64)).numpy()
  assert any((one != many[0]).any() for one in many) or name == "RandomPosterization"
  dataset = tf.data.Dataset.from_tensors((images, seeds)).map(op)
  np.testing.assert_array_equal(next(iter(dataset)), whole)


@pytest.mark.parametrize("make, message", [
    (lambda: layers.MixUp(), "of Keras 3 mixes the images"),
    (lambda: layers.Pipeline([layers.CutMix()]), "of Keras 3 mixes the images"),
    (lambda: layers.GaussianNoise(0.1), r"stddev of at most 1, for pixels 0\.\.1"),
])
def test_layers_that_would_change_nothing_are_refused(make, message):
  with pytest.raises(ValueError, match=message):
    seeded_layers.LayerOp(make())


def test_losses_of_keras_3():
  logits, labels = tf.constant([[1.0, 2.0], [0.0, -1.0]]), tf.constant([0, 1], tf.int64)
  batch = objective.Batch(logits, logits, labels)
  expected = float(objective.cross_entropy(batch))
  cross = functools.partial(keras.losses.sparse_categorical_crossentropy, from_logits=True)
  for loss in (keras.losses.SparseCategoricalCrossentropy(from_logits=True), cross):
    found = steps.loss_of(objective.OwnLoss(loss), steps.batch(logits, labels))
    assert float(found) == pytest.approx(expected)
  for loss in (keras.losses.SparseCategoricalCrossentropy(),
               keras.losses.sparse_categorical_crossentropy):
    with pytest.raises(ValueError, match="takes probabilities"):
      objective.OwnLoss(loss)


@pytest.mark.parametrize("make, message", [
    (lambda: optimizers.own(keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD()), "mine"),
     "LossScaleOptimizer of Keras 3, scales the loss"),
    (lambda: optimizers.own(keras.optimizers.MultiOptimizer(
        keras.optimizers.OptimizerMap(keras.optimizers.SGD())), "mine"), "one learning rate"),
    (lambda: optimizers.own(keras.optimizers.SGD(use_ema=True), "mine"), "SGD of Keras 3, keeps"),
    (lambda: trainable_parts.CutNet(own_model.Backbone(net())(image_shape=SHAPE), 1),
     "is a Keras 3 model, which is one piece here"),
    (lambda: own_model.Backbone(Subclassed(), "replace")(image_shape=SHAPE), "cannot be divided"),
])
def test_what_keras_3_cannot_be_used_for_is_refused(make, message):
  with pytest.raises(ValueError, match=message):
    make()


def test_another_backend_is_refused(monkeypatch):
  backend = types.SimpleNamespace(backend=lambda: "jax")
  monkeypatch.setattr(keras, "backend", backend)
  with pytest.raises(ValueError, match="Keras 3 on the backend 'jax'.*KERAS_BACKEND=tensorflow"):
    own_model.Backbone(net())
