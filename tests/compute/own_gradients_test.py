# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Tests of custom gradients whose graphs are freed."""

from __future__ import annotations

import functools
import gc
import weakref

import pytest
import tensorflow as tf

from suite.compute import own_gradients
from suite.compute import private_tensorflow


def cubed(decorator):
  """x^3 with the gradient 30 x^2, whose own gradient is 600 x."""
  @decorator
  def first(upstream, x):
    def second(more):
      return more * 30.0 * x ** 2, more * upstream * 600.0 * x

    return upstream * 30.0 * x ** 2, second

  @decorator
  def of(x):
    def gradient(upstream):
      return first(upstream, x)

    return x ** 3, gradient

  return of


def traced(function):
  return tf.function(function, autograph=False).get_concrete_function(tf.TensorSpec([]))


def is_freed(make):
  """Whether the graph of a concrete function goes with it."""
  registered = len(private_tensorflow._gradients._registry)
  graph = weakref.ref(make().graph)
  tf.keras.backend.clear_session()
  gc.collect()
  return graph() is None and len(private_tensorflow._gradients._registry) == registered


def first_and_second(of, x):
  with tf.GradientTape() as outer:
    outer.watch(x)
    with tf.GradientTape() as inner:
      inner.watch(x)
      y = of(x)
    first = inner.gradient(y, x)
  return first, outer.gradient(first, x)


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "graph"])
def test_gradients_are_those_of_tensorflow(wrap):
  for decorator in (tf.custom_gradient, own_gradients.custom_gradient):
    of = cubed(decorator)
    first, second = wrap(functools.partial(first_and_second, of))(tf.constant(2.0))
    assert (float(first), float(second)) == (120.0, 1200.0)


def test_a_graph_in_use_keeps_its_gradients():
  of = cubed(own_gradients.custom_gradient)

  def twice(x):
    return tf.while_loop(lambda i, _: i < 2, lambda i, y: (i + 1, of(y)), [0, x])[1]

  function = traced(twice)
  gc.collect()
  x = tf.constant(1.0)
  with tf.GradientTape() as tape:
    tape.watch(x)
    y = function(x)
  assert float(tape.gradient(y, x)) == 900.0


def test_a_graph_goes_with_its_function():
  def differentiated(decorator):
    return lambda: traced(lambda x: first_and_second(cubed(decorator), x))

  assert not is_freed(differentiated(tf.custom_gradient))
  assert is_freed(differentiated(own_gradients.custom_gradient))


def test_a_graph_with_a_keras_optimizer_goes_too():
  def make():
    variable, optimizer = tf.Variable(1.0), tf.keras.optimizers.SGD(0.1, jit_compile=False)
    optimizer.build([variable])

    def update(gradient):
      with own_gradients.released():
        optimizer.apply_gradients([(gradient, variable)])

    return traced(update)

  assert is_freed(make)
