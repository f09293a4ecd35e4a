# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import tensorflow as tf

from suite.models import heads
from suite.training.gradient import class_heads


def gradients(model, x):
  with tf.GradientTape() as tape:
    tape.watch(x)
    loss = tf.reduce_sum(tf.square(model(x)))
  return [loss, *tape.gradient(loss, [x, *model.trainable_variables])]


def test_it_is_the_plain_head_with_the_plain_head_s_gradients():
  quick, plain = class_heads.linear(3, 5), heads.linear(3, 5)
  plain.set_weights(quick.get_weights())
  x = tf.constant(np.random.default_rng(0).normal(size=[4, 5]), tf.float32)
  for ours, theirs in zip(gradients(quick, x), gradients(plain, x)):
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_a_clone_is_of_the_same_kind():
  model = class_heads.linear(3, 5)
  clone = tf.keras.models.clone_model(model)
  clone.set_weights(model.get_weights())
  assert isinstance(clone.layers[-1], class_heads.WideDense)
  np.testing.assert_array_equal(clone(tf.ones([1, 5])), model(tf.ones([1, 5])))
