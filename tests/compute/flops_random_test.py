# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Random small networks against an oracle that knows their layers and nothing of graphs."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import flops


def slow_conv_macs(shape, size, strides, padding):
  """Output side lengths and positions, by sliding a window along each side."""
  sides = []
  for side in shape[1:3]:
    if padding == "SAME":
      sides.append(len(range(0, side, strides)))
    else:
      sides.append(len(range(0, side - size + 1, strides)))
  return sides


class Oracle:
  """Builds one layer at a time and adds up its analytic cost."""

  def __init__(self, rng, shape):
    self.rng, self.shape, self.flops, self.macs, self.layers = rng, list(shape), 0, 0, []

  @property
  def elements(self):
    return int(np.prod(self.shape))

  def conv(self):
    size, strides = int(self.rng.choice([1, 3])), int(self.rng.choice([1, 2]))
    padding = str(self.rng.choice(["SAME", "VALID"]))
    if min(self.shape[1:3]) < size:
      return
    groups = 2 if self.shape[3] % 2 == 0 and self.rng.random() < 0.5 else 1
    filters = 2 * int(self.rng.integers(1, 4))
    kernel = tf.ones([size, size, self.shape[3] // groups, filters])
    self.layers.append(lambda x: tf.nn.conv2d(x, kernel, strides, padding))
    sides = slow_conv_macs(self.shape, size, strides, padding)
    macs = self.shape[0] * filters * (self.shape[3] // groups) * size**2 * sides[0] * sides[1]
    self.shape[1:] = [*sides, filters]
    self.macs, self.flops = self.macs + macs, self.flops + 2 * macs

  def depthwise(self):
    kernel = tf.ones([3, 3, self.shape[3], 1])
    self.layers.append(lambda x: tf.nn.depthwise_conv2d(x, kernel, [1, 1, 1, 1], "SAME"))
    self.macs, self.flops = self.macs + 9 * self.elements, self.flops + 18 * self.elements

  def relu(self):
    self.layers.append(tf.nn.relu)
    self.flops += self.elements

  def shortcut(self):
    self.layers.append(lambda x: x + tf.tanh(x))
    self.flops += 2 * self.elements

  def pool(self):
    if min(self.shape[1:3]) < 2:
      return
    self.layers.append(lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID"))
    self.shape[1:3] = [self.shape[1] // 2, self.shape[2] // 2]
    self.flops += 4 * self.elements

  def dead_branch(self):
    def layer(x):
      tf.nn.softmax(x)
      return x

    self.layers.append(layer)

  def nested(self):
    inner = tf.function(lambda x: 2.0 * x, autograph=False)
    self.layers.append(inner)
    self.flops += self.elements

  def loop(self):
    trips = int(self.rng.integers(0, 4))
    self.layers.append(lambda x: tf.while_loop(
        lambda i, x: i < trips, lambda i, x: (i + 1, tf.square(x)), [0, x])[1])
    self.flops += trips * self.elements

  def map(self):
    weights = tf.ones([self.shape[3], 3])
    self.layers.append(lambda x: tf.map_fn(lambda a: tf.tensordot(a, weights, 1), x))
    macs = self.elements * 3
    self.shape[3] = 3
    self.macs, self.flops = self.macs + macs, self.flops + 2 * macs


KINDS = ("conv", "conv", "depthwise", "relu", "shortcut", "pool", "dead_branch", "nested", "loop",
         "map")


@pytest.mark.parametrize("seed", range(25))
def test_random_network(seed):
  rng = np.random.default_rng(seed)
  start = [int(rng.integers(1, 4)), int(rng.integers(4, 12)), int(rng.integers(4, 12)), 4]
  oracle = Oracle(rng, start)
  for kind in rng.choice(KINDS, size=int(rng.integers(2, 9))):
    getattr(oracle, kind)()

  @tf.function(autograph=False)
  def network(x):
    for layer in oracle.layers:
      x = layer(x)
    return x

  concrete = network.get_concrete_function(tf.TensorSpec(start))
  assert concrete.outputs[0].shape.as_list() == oracle.shape
  assert flops.count(concrete) == flops.Cost(oracle.flops, oracle.macs)
