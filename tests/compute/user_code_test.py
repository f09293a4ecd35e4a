# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""AutoGraph converts what reaches code of users, wherever that is, and nothing else."""

from __future__ import annotations

import functools
import types

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import user_code
from suite.data.images import image_ops
from suite.training.gradient import class_heads
from suite.training.statistics import class_means
from suite.training.statistics import statistic


def halved(values):
  """Branches on tensors, as code of users may."""
  for _ in tf.range(2):
    if tf.reduce_max(values) > 1.0:
      values = values / 2.0
  return values


class Branching(tf.keras.layers.Layer):
  def call(self, inputs):
    return halved(inputs)


class Wrapping(tf.keras.layers.Layer):
  """A layer of Keras that holds a part as an attribute."""

  def __init__(self, part):
    super().__init__()
    self.part = part

  def call(self, inputs):
    return inputs


class Inside(tf.Module):
  """A module of TensorFlow that holds a part."""

  def __init__(self, part):
    super().__init__()
    self.part = part


Wrapping.__module__ = tf.keras.layers.Layer.__module__
Inside.__module__ = tf.Module.__module__


class Holder(tf.Module):
  """Stands for a class of the suite."""

  def __init__(self, part):
    super().__init__()
    self.part = part

  def call(self, values):
    return self.part(values)


Holder.__module__ = Holder.call.__module__ = "suite.holder"


def model(layer):
  inputs = tf.keras.Input([3])
  return tf.keras.Model(inputs, layer(inputs))


REACHED = {
    "function": lambda: halved,
    "closure": lambda: (lambda part: lambda values: part(values))(halved),
    "partial": lambda: functools.partial(halved),
    "method": lambda: Holder(halved).call,
    "deep": lambda: Holder({"a": [Holder(halved)]}).call,
    "layer": lambda: Holder(model(Branching())).call,
    "nested layer": lambda: Holder(model(model(Branching()))).call,
    "layer of a module of a layer": lambda: Wrapping(Inside(Branching())),
}


@pytest.mark.parametrize("name", REACHED)
def test_code_of_users_is_reached(name):
  assert user_code.is_reached(REACHED[name]())


@pytest.mark.parametrize("part", [
    Holder(tf.nn.relu).call, Holder(model(tf.keras.layers.Dense(2))).call,
    class_heads.linear(2, 3), statistic.Running(class_means.ClassMeans(), 2, 3).answer,
    image_ops.Plain(8).evaluate, [None, 1, "a", np.zeros(3), types.SimpleNamespace()],
], ids=range(6))
def test_what_the_suite_and_keras_have_is_not(part):
  assert not user_code.is_reached(part)


def test_objects_that_hold_one_another_end_the_search():
  one, other = Holder(None), Holder(None)
  one.part, other.part = other, one
  assert not user_code.is_reached(one)


def test_code_of_users_may_branch_on_tensors():
  values = tf.constant([1.0, 2.0, 8.0])
  compiled = user_code.compiled(halved, input_signature=[tf.TensorSpec([3])])
  np.testing.assert_array_equal(compiled(values), [0.25, 0.5, 2.0])
  data = tf.data.Dataset.from_tensors(values).map(user_code.mapped(halved))
  np.testing.assert_array_equal(next(iter(data)), [0.25, 0.5, 2.0])
