# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest
import tensorflow as tf

from suite.data.images import feature_set
from suite.models import feature_head
from suite.training.gradient import bucket_loop
from suite.training.gradient import bucket_plan
from suite.training.memories import memory as memory_lib
from suite.training.memories import reservoir
from suite.training.penalties import agem
from suite.training.penalties import ewc
from suite.training.penalties import penalty as penalty_lib

D, C = 3, 2


def data(num=8):
  rng = np.random.default_rng(1)
  return (tf.constant(rng.normal(size=[num, D]), tf.float32), tf.constant(np.arange(num) % C))


def make(penalty=None, memory=None, **arguments):
  model = feature_head.linear(C, D)
  model.set_weights([np.zeros([D, C]), np.zeros([C])])
  penalty = penalty or penalty_lib.Penalty()
  loop = bucket_loop.BucketLoop(
      model, transform=feature_set.Features(D), penalty=penalty, **arguments)
  penalty.build(model, losses_of=loop.losses_of, memory=memory)
  return loop


def plan(*places):
  places = tf.constant(places, tf.int64)
  return bucket_plan.Rows(places, tf.zeros(places.shape, tf.uint64))


def step_by_numpy(kernel, bias, x, y, rate):
  logits = x @ kernel + bias
  p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
  d = (p - np.eye(C)[y]) / len(y)
  return kernel - rate * x.T @ d, bias - rate * d.sum(0), -np.log(p[np.arange(len(y)), y]).mean()


def test_two_steps_equal_numpy_s():
  images, labels = data()
  loop = make(momentum=0.0)
  total = loop.train(images, labels, plan([0, 1, 2], [5, 6, 7]), np.float32([0.5, 0.1]))
  kernel, bias, losses = np.zeros([D, C]), np.zeros([C]), 0.0
  for places, rate in (([0, 1, 2], 0.5), ([5, 6, 7], 0.1)):
    kernel, bias, loss = step_by_numpy(
        kernel, bias, images.numpy()[places], labels.numpy()[places], rate)
    losses += loss
  np.testing.assert_allclose(loop.model.get_weights()[0], kernel, rtol=1e-5)
  np.testing.assert_allclose(loop.model.get_weights()[1], bias, rtol=1e-5)
  assert total == pytest.approx(losses, rel=1e-5)


def test_only_the_given_variables_change():
  loop = make()
  loop.train_only(loop.model.trainable_variables[1:])
  loop.train(*data(), plan([0, 1, 2]), np.float32([0.5]))
  kernel, bias = loop.model.get_weights()
  assert not kernel.any() and bias.any()


def test_a_penalty_observes_each_example_once_in_batches_and_a_rest():
  penalty = ewc.Ewc()
  loop = make(penalty)
  cost = loop.observe(*data(8), 3)
  assert penalty.count.numpy() == 3.0 and cost.flops > 0
  assert make().observe(*data(8), 3).flops == 0


def test_the_cost_of_a_linear_step_by_hand():
  images, labels = data()
  # Forward and the kernel's gradient: 4 x 3 x 2 multiply-adds each, and none to the inputs.
  assert make().step_cost(images, labels, 4).macs == 2 * 4 * D * C


def test_a_gem_costs_the_gradient_of_all_that_is_held():
  images, labels = data()
  memory = memory_lib.Memory(6, reservoir.Reservoir())
  memory.build([D], tf.float32, seed=(0, 0), num_classes=C)
  loop = make(agem.Agem(), memory=memory)
  assert loop.step_cost(images, labels, 4).macs == 2 * 4 * D * C
  memory.add(images, labels)
  assert loop.step_cost(images, labels, 4).macs == 2 * (4 + 6) * D * C
