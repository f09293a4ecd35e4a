# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest
import tensorflow as tf

from suite.models import conv4
from suite.models import norms
from suite.models.episodic import embedding
from suite.models.episodic import proto_conv4

SHAPE = (8, 8, 3)
IMAGES = np.random.default_rng(0).integers(0, 256, [5, *SHAPE]).astype(np.uint8)


def _made(momentum=0.9, **settings):
  made = embedding.Embedding(proto_conv4.ProtoConv4(filters=3, blocks=2, **settings),
                             momentum=momentum)
  made.make(0, SHAPE)
  return made


def _keras(made, norm_last):
  """The same net of Keras layers, sharing the kernels."""
  layers, kernels = [tf.keras.Input(SHAPE)], [v for v in made.variables if "kernel" in v.name]
  for _ in kernels:
    act = tf.keras.layers.LeakyReLU(0.01) if norm_last else tf.keras.layers.ReLU()
    norm = tf.keras.layers.BatchNormalization(epsilon=norms.EPSILON, momentum=0.9)
    layers += [tf.keras.layers.Conv2D(3, 3, padding="same", use_bias=False),
               *((act, norm) if norm_last else (norm, act)), tf.keras.layers.MaxPool2D()]
  model = tf.keras.Sequential([*layers, tf.keras.layers.Flatten()])
  for kernel in kernels:
    index = int(kernel.name.split("/")[0][len("block"):]) - 1
    [x for x in model.layers if isinstance(x, tf.keras.layers.Conv2D)][index].kernel.assign(kernel)
  return model


@pytest.mark.parametrize("norm_last", [False, True])
def test_features_and_running_statistics_are_those_of_keras_layers(norm_last):
  made = _made(norm_last=norm_last)
  model = _keras(made, norm_last)
  prepared = IMAGES / 127.5 - 1.0
  features, seen = made.train(tf.constant(IMAGES))
  np.testing.assert_allclose(features, model(prepared, training=True), rtol=1e-3, atol=1e-4)
  made.update_statistics(seen)  # As Keras has just done.
  np.testing.assert_allclose(made.encode(tf.constant(IMAGES)), model(prepared, training=False),
                             rtol=1e-3, atol=1e-4)


def test_an_image_is_encoded_by_itself():
  made = _made()
  alone = [made.encode(tf.constant(IMAGES[i:i + 1]))[0] for i in range(5)]
  np.testing.assert_allclose(made.encode(tf.constant(IMAGES)), alone, rtol=1e-4, atol=1e-5)


def test_what_was_seen_adds_up_and_moves_the_statistics_by_hand():
  made = _made(momentum=0.5)
  parts = [made.train(tf.constant(IMAGES[rows]))[1] for rows in (slice(0, 2), slice(2, 5))]
  total = embedding.add(made.zero_statistics(), *parts)
  assert float(total.count) == 5.0
  made.update_statistics(total)
  mean = (parts[0].mean + parts[1].mean) / 5.0  # Both weigh as many images as they hold.
  np.testing.assert_allclose(made._mean, 0.5 * mean, rtol=1e-5)
  np.testing.assert_allclose(made._variance, 0.5 + 0.5 * total.variance / 5.0, rtol=1e-5)


def test_weights_are_a_function_of_the_seed():
  one, same, other = _made(), _made(), embedding.Embedding(proto_conv4.ProtoConv4(3, 2))
  other.make(1, SHAPE)
  kernels = [next(v for v in m.variables if "kernel" in v.name).numpy()
             for m in (one, same, other)]
  np.testing.assert_array_equal(kernels[0], kernels[1])
  assert not np.array_equal(kernels[0], kernels[2])


def test_a_keras_model_keeps_no_statistics():
  made = embedding.KerasEmbedding(lambda image_shape: conv4.conv4(
      image_shape, filters=4, blocks=2, norm="group"))
  made.make(0, SHAPE)
  features, seen = made.train(tf.constant(IMAGES))
  np.testing.assert_array_equal(features, made.encode(tf.constant(IMAGES)))
  assert [part.shape for part in tf.nest.flatten(seen)] == [
      part.shape for part in tf.nest.flatten(made.zero_statistics())]


def test_a_momentum_of_one_is_refused():
  with pytest.raises(ValueError, match="momentum is 1.0; allowed"):
    _made(momentum=1.0)
