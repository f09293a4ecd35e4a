# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A user's model as a backbone: copies, functions, heads, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.models.own import own_model
from suite.models.own import seeded_layers
from suite.training.gradient import optimizers
from suite.training.objectives import objective

layers = tf.keras.layers
SHAPE = (4, 4, 3)


def net(*last, shape=SHAPE):
  return tf.keras.Sequential([layers.Flatten(input_shape=shape), layers.Dense(5, "relu"), *last])


class Subclassed(tf.keras.Model):

  def __init__(self, width=5):
    super().__init__()
    self.width, self.flat, self.dense = width, layers.Flatten(), layers.Dense(width)

  def call(self, x):
    return self.dense(self.flat(x))

  def get_config(self):
    return {"width": self.width}


def test_an_instance_is_copied_with_its_weights():
  model = net(layers.BatchNormalization())
  backbone = own_model.Backbone(model)
  one, other = (backbone(image_shape=SHAPE) for _ in range(2))
  assert backbone.image_shape == SHAPE and one is not model and one is not other
  for ours, theirs in zip(one.get_weights(), model.get_weights()):
    np.testing.assert_array_equal(ours, theirs)
  one.layers[1].kernel.assign_add(tf.ones_like(one.layers[1].kernel))
  np.testing.assert_array_equal(other.get_weights()[0], model.get_weights()[0])


def test_a_model_of_any_size_gets_the_size_of_the_images():
  inputs = tf.keras.Input([None, None, 3])
  features = layers.GlobalAveragePooling2D()(layers.Conv2D(2, 3)(inputs))
  made = own_model.Backbone(tf.keras.Model(inputs, features))(image_shape=SHAPE)
  assert made.input_shape == (None, *SHAPE) and made.output_shape == (None, 2)


@pytest.mark.parametrize("given", [
    Subclassed(), lambda: net(), lambda dims: net(shape=dims), lambda *, input_shape: net(),
    lambda shape, width=3: net(shape=shape), lambda **settings: net(shape=settings["image_shape"]),
], ids=["subclass", "nothing", "any name", "input_shape", "shape", "settings"])
def test_functions_and_subclasses_are_taken(given):
  made = own_model.Backbone(given)(image_shape=SHAPE)
  assert made.input_shape == (None, *SHAPE) and made.output_shape == (None, 5)


def test_heads():
  model = net(layers.Dense(7, name="classifier"), layers.Softmax())
  assert own_model.Backbone(model, "replace")(image_shape=SHAPE).output_shape == (None, 5)
  own = own_model.Backbone(lambda shape, num_classes: net(layers.Dense(num_classes)), "own")
  assert own(image_shape=SHAPE).output_shape == (None, 5)
  assert [own.own_head(n).output_shape[-1] for n in (2, 9)] == [2, 9]
  whole = own_model.Backbone(net(layers.Dense(7)), "own")
  body, head = whole(image_shape=SHAPE), whole.own_head(7)
  images = np.random.default_rng(0).normal(size=[2, *SHAPE]).astype(np.float32)
  np.testing.assert_allclose(head(body(images)), whole.given(images), rtol=1e-5)


def _two_inputs():
  a, b = (tf.keras.Input([3], name=name) for name in "ab")
  return tf.keras.Model([a, b], layers.Dense(2)(a + b))


_OUTSIDE = tf.Variable(2.0, name="outside")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("given, head, message", [
    (_two_inputs(), "new", "has 2 inputs \\(a, b\\); it must have one"),
    (lambda shape: net(layers.Lambda(lambda x: x * _OUTSIDE, name="scale")), "new",
     "reads 1 variables that are not its own, in scale. Make them weights of a layer"),
    (net(shape=(8, 8, 1)), "new",
     r"takes examples \[8, 8, 1\], but the learner's transform makes \[4, 4, 3\]. .*channels=1"),
    (net(layers.Dense(3, "softmax")), "new", "ends in a softmax.*head='replace'"),
    (net(layers.Dense(3, "softmax")), "own", "ends in a softmax; losses are computed from logits"),
    (Subclassed(), "replace", "cannot be divided into a body and a head"),
    (net(layers.Reshape([5, 1])), "replace", "which is no classifier of features"),
    (tf.keras.Sequential([layers.Conv2D(2, 3, input_shape=SHAPE)]), "new", "pooling or Flatten"),
    (lambda a, b: net(), "new", "cannot be called with image_shape=\\(4, 4, 3\\)"),
    (lambda image_shape: "net", "new", "made 'str'; it must make a Keras model"),
])
def test_what_does_not_fit_is_refused(given, head, message):
  with pytest.raises(ValueError, match=message):
    own_model.Backbone(given, head)(image_shape=SHAPE)


def test_a_model_of_the_wrong_width_and_no_model_are_refused():
  own = own_model.Backbone(net(layers.Dense(7)), "own")
  own(image_shape=SHAPE)
  with pytest.raises(ValueError, match="has 7 outputs, but the task has 10 classes. Give a model"):
    own.own_head(10)
  with pytest.raises(ValueError, match="is 'resnet'; give a tf.keras.Model, or a function"):
    own_model.Backbone("resnet")
  with pytest.raises(ValueError, match="head is 'old'; allowed are new, replace, own"):
    own_model.Backbone(net(), "old")


@pytest.mark.parametrize("module, name", [
    ("torch.nn.modules.linear", "PyTorch"), ("flax.linen", "Flax"), ("jax", "JAX"),
    ("optax", "Optax"), ("keras_core.src.models", "keras_core")])
def test_objects_of_other_frameworks_are_refused_by_name(module, name):
  kind = type("Thing", (), {"__module__": module, "__call__": lambda self, x: x})
  for give in (own_model.Backbone, lambda one: own_model.Backbone(lambda: one)(image_shape=SHAPE),
               lambda one: optimizers.own(one, "x"), objective.OwnLoss, seeded_layers.LayerOp):
    with pytest.raises(ValueError, match=f"'Thing' of {name}.*models of TensorFlow's Keras"):
      give(kind())


class Scaled(layers.Layer):
  """A layer of layers, and a setting that its config does not have."""

  def __init__(self, **settings):
    super().__init__(**settings)
    self.scale, self.flat = 1.0, layers.Flatten()
    self.inner, self.top = layers.Dense(4), layers.Dense(3)

  def call(self, x):
    return self.top(self.inner(self.flat(x))) * self.scale


class Normed(tf.keras.Model):
  """A subclass that is another function in training."""

  def __init__(self):
    super().__init__()
    self.conv, self.norm = layers.Conv2D(2, 3), layers.BatchNormalization()
    self.pool, self.drop = layers.GlobalAveragePooling2D(), layers.Dropout(0.5)

  def call(self, x, training=None):
    return self.drop(self.norm(self.pool(self.conv(x)), training=training), training=training)


def called(model, shape=SHAPE):
  model(tf.zeros([1, *shape]))
  return model


def open_net():
  """Of images of any size, so that it is made again for theirs."""
  block = Scaled()
  inputs = tf.keras.Input([None, None, 3])
  model = tf.keras.Model(inputs, block(layers.GlobalAveragePooling2D()(inputs)))
  block.inner.trainable = False
  return model


def with_frozen(model, find):
  find(model).trainable = False
  return model


@pytest.mark.parametrize("make, num_trained", [
    (lambda: with_frozen(net(Scaled()), lambda m: m.layers[-1].inner), 4),
    (lambda: with_frozen(tf.keras.Sequential([net(Scaled())]),
                         lambda m: m.layers[0].layers[-1].inner), 4),
    (lambda: with_frozen(called(Normed()), lambda m: m.conv), 2),
    (lambda: with_frozen(Normed(), lambda m: m.conv), 2),
    (open_net, 2),
], ids=["in a layer", "in a nested model", "in a subclass", "before it is built", "of any size"])
def test_what_is_frozen_stays_frozen_and_has_its_weights(make, num_trained):
  model = make()
  made = own_model.Backbone(model)(image_shape=SHAPE)
  assert len(made.trainable_variables) == num_trained
  images = np.random.default_rng(0).normal(size=[2, *SHAPE]).astype(np.float32)
  if model.built and not isinstance(model, Normed):
    np.testing.assert_allclose(made(images), model(images), rtol=1e-5)


def test_a_net_that_draws_and_moves_statistics_is_compared_and_left_as_it_was():
  for model in (called(Normed()), net(layers.Dropout(0.5, seed=1), layers.Dropout(0.5))):
    before = model.get_weights()
    own_model.Backbone(model)(image_shape=SHAPE)
    for ours, theirs in zip(model.get_weights(), before):
      np.testing.assert_array_equal(ours, theirs)


def _changed(model, change):
  change(model)
  return model


def _adds_outside():
  inputs = tf.keras.Input(SHAPE)
  hidden = layers.Dense(4)(layers.Flatten()(inputs))
  model = tf.keras.Model(inputs, layers.Dense(3)(hidden))
  model.add_loss(tf.reduce_mean(hidden))
  return model


@pytest.mark.parametrize("given, head, message", [
    (_changed(net(Scaled(name="mine")), lambda m: setattr(m.layers[-1], "scale", 3.0)), "new",
     "its copy has other outputs in evaluation, on the same images. mine.scale of the copy "
     "differs. What is set after a model was made is not copied: set it in __init__"),
    (_changed(called(Normed()), lambda m: setattr(m.drop, "rate", 0.9)), "new",
     "has other outputs in training.*rate of the copy differs"),
    (_changed(tf.keras.Sequential([Scaled(name="late")]),
              lambda m: setattr(m.layers[0], "scale", 3.0)), "new",
     "its copy is another net. late.scale of the copy differs"),
    (_changed(net(), lambda m: m.add_loss(lambda: tf.constant(1.0))), "new",
     "its layers add 1 losses, and those of its copy 0. Call add_loss in a layer"),
    (_adds_outside(), "own", "adds losses in add_loss.*, outside of the layers between"),
    (called(Normed(), (8, 8, 3)), "new", r"takes examples \[8, 8, 3\], but .*Plain\(size=8\)"),
    (lambda: called(Normed(), (8, 8, 3)), "new", r"takes examples \[8, 8, 3\], but"),
])
def test_a_net_that_is_not_the_users_is_refused(given, head, message):
  with pytest.raises(ValueError, match=message):
    own_model.Backbone(given, head)(image_shape=SHAPE)


def test_a_subclass_that_was_called_says_the_size_of_its_images():
  assert own_model.Backbone(called(Normed(), (8, 8, 3))).image_shape == (8, 8, 3)
  assert own_model.Backbone(Normed()).image_shape is None


@pytest.mark.parametrize("layer", [
    layers.Dense(3, kernel_regularizer="l2"), layers.Dense(3, activity_regularizer="l2")])
def test_a_training_that_cannot_add_losses_of_layers_refuses_them(layer):
  backbone = own_model.Backbone(net(layer))
  backbone(image_shape=SHAPE)
  with pytest.raises(ValueError, match="adds losses in dense.*and episodes has no place for them"):
    backbone.refuse_losses("episodes")
