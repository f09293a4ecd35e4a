# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What layers add to the loss: of the last pass, of weights, nothing of layers not reached."""

from __future__ import annotations

import tensorflow as tf

from suite.models import layer_losses

layers = tf.keras.layers


def test_losses_of_a_pass_and_of_weights_are_apart():
  regular = layers.Dense(1, kernel_initializer="ones", name="regular",
                         kernel_regularizer=tf.keras.regularizers.l2(3.0))
  active = layers.Dense(1, kernel_initializer="ones", name="active",
                        activity_regularizer=tf.keras.regularizers.l1(1.0))
  model = tf.keras.Sequential([tf.keras.Input([2]), regular, active, layers.Flatten()])
  assert layer_losses.of_pass(model) == []  # Keras's model.losses has a tensor of no graph here.
  for _ in range(2):
    model(tf.ones([4, 2]), training=True)
  assert [float(loss) for loss in layer_losses.of_pass(model)] == [2.0]
  assert [float(loss) for loss in layer_losses.of_weights(model)] == [6.0]
  assert [layer.name for layer in layer_losses.layers(model)] == ["regular", "active"]
