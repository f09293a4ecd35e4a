# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Whole models against a count by layer: a ResNet, attention, optimizers."""

from __future__ import annotations

import pytest
import tensorflow as tf

from suite.compute import flops

layers = tf.keras.layers


def conv_norm(x, filters, size, strides):
  x = layers.Conv2D(filters, size, strides, padding="same", use_bias=False)(x)
  return layers.BatchNormalization()(x)


def block(x, filters, strides):
  y = layers.ReLU()(conv_norm(x, filters, 3, strides))
  y = conv_norm(y, filters, 3, 1)
  if strides != 1 or x.shape[-1] != filters:
    x = conv_norm(x, filters, 1, strides)
  return layers.ReLU()(layers.add([x, y]))


STAGES = [(64, 1), (128, 2)]  # Filters and blocks.


def resnet(num_classes):
  """A ResNet for small images: 3 x 3 stem of stride 1, no max pool. [B, 64, 64, 3] -> [B, C]."""
  inputs = x = layers.Input([64, 64, 3])
  x = layers.ReLU()(conv_norm(x, 64, 3, 1))
  for stage, (filters, depth) in enumerate(STAGES):
    for i in range(depth):
      x = block(x, filters, 2 if stage and i == 0 else 1)
  return tf.keras.Model(inputs, layers.Dense(num_classes)(layers.GlobalAveragePooling2D()(x)))


def train_step(model, optimizer, batch, image_shape):
  loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
  optimizer.build(model.trainable_variables)

  @tf.function(autograph=False)
  def step(images, labels):
    with tf.GradientTape() as tape:
      loss = loss_fn(labels, model(images, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss

  return step.get_concrete_function(
      tf.TensorSpec([batch, *image_shape]), tf.TensorSpec([batch], tf.int64))


class HandCount:
  """Adds up a training step layer by layer: products three times, the rest forward and backward."""

  def __init__(self, batch):
    self.batch, self.macs, self.other, self.parameters = batch, 0, 0, 0

  def conv(self, size, side, channels, filters, is_first=False):
    macs = self.batch * side * side * filters * size * size * channels
    self.macs += macs * (2 if is_first else 3)  # no gradient for the images
    self.parameters += size * size * channels * filters

  def norm(self, side, channels):
    """Batch norm: 6 FLOPs an element forward, 9 backward; the rest is per channel."""
    self.other += self.batch * side * side * channels * (6 + 9) + channels * (12 + 6)
    self.parameters += 2 * channels

  def relu(self, side, channels):
    self.other += 2 * self.batch * side * side * channels

  def addition(self, side, channels):
    """The sum itself, and the sum of the two gradients where the branches parted."""
    self.other += 2 * self.batch * side * side * channels

  def dense(self, inputs, outputs):
    self.macs += 3 * self.batch * inputs * outputs
    self.other += 2 * self.batch * outputs
    self.parameters += (inputs + 1) * outputs


def resnet_by_hand(batch, num_classes) -> HandCount:
  count = HandCount(batch)
  count.conv(3, 64, 3, 64, is_first=True)
  count.norm(64, 64)
  count.relu(64, 64)
  channels = 64
  for side, (filters, depth) in zip((64, 32), STAGES):
    for i in range(depth):
      count.conv(3, side, channels, filters)
      count.norm(side, filters)
      count.relu(side, filters)
      count.conv(3, side, filters, filters)
      count.norm(side, filters)
      if i == 0 and channels != filters:
        count.conv(1, side, channels, filters)
        count.norm(side, filters)
      count.addition(side, filters)
      count.relu(side, filters)
      channels = filters
  count.other += 2 * batch * 32 * 32 * 128  # the global average and its gradient
  count.dense(128, num_classes)
  return count


def test_a_resnets_training_step_is_the_sum_of_its_layers():
  optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True)
  cost = flops.count(train_step(resnet(10), optimizer, 2, [64, 64, 3]))
  hand = resnet_by_hand(2, 10)
  assert cost.macs == hand.macs
  # m = 0.9 m - lr g; w += 0.9 m - lr g: six FLOPs a parameter, lr * g computed once or twice.
  total = 2 * hand.macs + hand.other + 6 * hand.parameters
  assert cost.flops == pytest.approx(total, rel=0.002)
  assert cost.uncounted == ()


def test_inference_is_a_third_of_the_products():
  model = tf.keras.Sequential([
      layers.Conv2D(4, 3, input_shape=(8, 8, 3)), layers.ReLU(), layers.Flatten(), layers.Dense(5)])
  predict = tf.function(lambda x: model(x, training=False), autograph=False)
  cost = flops.count(predict.get_concrete_function(tf.TensorSpec([2, 8, 8, 3])))
  conv, dense = 2 * 36 * 4 * 27, 2 * 144 * 5
  assert cost == flops.Cost(2 * (conv + dense) + 2 * (2 * 144) + 2 * 5, conv + dense)


def test_multi_head_attention():
  attention = layers.MultiHeadAttention(num_heads=2, key_dim=5)
  attention(tf.ones([3, 4, 8]), tf.ones([3, 4, 8]))
  step = tf.function(lambda x: attention(x, x), autograph=False)
  cost = flops.count(step.get_concrete_function(tf.TensorSpec([3, 4, 8])))
  # Query, key, value: 12 tokens of 8 to 2 heads of 5. Scores and their use: 4 x 4 pairs, 2 heads,
  # 5 numbers. Output: 10 back to 8.
  macs = 3 * (12 * 8 * 10) + 2 * (3 * 2 * 4 * 4 * 5) + 12 * 10 * 8
  assert cost.macs == macs
  # Biases of query, key, value and output; the query's scale; softmax over 3 x 2 x 4 x 4 scores.
  assert cost.flops == 2 * macs + 3 * 120 + 96 + 120 + 5 * 96


def test_transformer_training_step_is_three_times_its_forward_products():
  inputs = layers.Input([16, 8])
  x = layers.Dense(8)(inputs)
  y = layers.LayerNormalization()(x)
  x = x + layers.Dropout(0.1)(layers.MultiHeadAttention(2, 4)(y, y))
  y = layers.LayerNormalization()(x)
  x = x + layers.Dense(8)(layers.Dense(32, "gelu")(y))
  model = tf.keras.Model(inputs, layers.Dense(3)(layers.GlobalAveragePooling1D()(x)))
  cost = flops.count(train_step(model, tf.keras.optimizers.AdamW(), 2, [16, 8]))
  first = 32 * 8 * 8
  attention = 4 * 32 * 8 * 8 + 2 * (2 * 2 * 16 * 16 * 4)
  mlp = 2 * 32 * 8 * 32
  assert cost.macs == 3 * (first + attention + mlp + 2 * 8 * 3) - first
  assert cost.uncounted == ()


@pytest.mark.parametrize("name", [
    "SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "Nadam", "Lion"])
def test_keras_optimizers_are_counted(name):
  model = tf.keras.Sequential([layers.Dense(5, use_bias=False, input_shape=(7,))])
  optimizer = getattr(tf.keras.optimizers, name)()
  cost = flops.count(train_step(model, optimizer, 4, [7]))
  assert cost.macs == 2 * 4 * 7 * 5  # forward and the weights' gradient
  products_and_loss = 2 * cost.macs + 5 * 20 + 3 * 4
  assert 2 * 35 <= cost.flops - products_and_loss <= 25 * 35


@pytest.mark.parametrize("norm", [
    layers.BatchNormalization, layers.LayerNormalization, lambda: layers.GroupNormalization(4),
    lambda: layers.BatchNormalization(fused=False)])
def test_norms_in_a_training_step_are_counted(norm):
  model = tf.keras.Sequential([
      layers.Conv2D(8, 3, input_shape=(6, 6, 3)), norm(), layers.Flatten(), layers.Dense(5)])
  cost = flops.count(train_step(model, tf.keras.optimizers.SGD(), 2, [6, 6, 3]))
  assert cost.macs == 2 * (2 * 16 * 8 * 27) + 3 * (2 * 128 * 5)
  elements = 2 * 16 * 8
  assert 2 * cost.macs + 8 * elements < cost.flops < 2 * cost.macs + 60 * elements


def test_two_replicas_cost_twice_one():
  """Two replicas in one function, as a mirrored strategy makes them."""
  weights = tf.Variable(tf.ones([4, 4]))
  one = tf.function(lambda x: tf.matmul(x, weights), autograph=False)
  both = tf.function(lambda x: [one(half) for half in tf.split(x, 2)], autograph=False)
  cost = flops.count(one.get_concrete_function(tf.TensorSpec([3, 4])))
  assert flops.count(both.get_concrete_function(tf.TensorSpec([6, 4]))) == cost * 2
