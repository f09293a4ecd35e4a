# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The optimizers that stand in for tensorflow-addons': by hand, and beside that library's."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.models import addons

SETTINGS = {
    "SGDW": {"learning_rate": 0.1, "momentum": 0.9, "nesterov": True},
    "AdamW": {"learning_rate": 0.01, "beta_1": 0.8, "beta_2": 0.9, "epsilon": 1e-4},
}


def _schedule():
  return tf.keras.optimizers.schedules.PiecewiseConstantDecay([1], [0.25, 0.125])


def _steps(optimizer, first=(1.0, -2.0, 4.0), num=3):
  """The weights after each step of x^2 / 2, whose gradient is the weight itself."""
  weights = tf.Variable(first)
  found = []
  for _ in range(num):
    optimizer.apply_gradients([(tf.identity(weights), weights)])
    found.append(weights.numpy())
  return np.array(found)


def test_weights_decay_before_the_step_by_hand():
  optimizer = addons.SGDW(weight_decay=0.25, learning_rate=0.5, momentum=0.0)
  # 8 -> 8 - 0.25 * 8 - 0.5 * 8 = 2, the gradient being that of the undecayed weight.
  np.testing.assert_array_equal(_steps(optimizer, first=(8.0,), num=2), [[2.0], [0.5]])


def test_a_schedule_of_decay_follows_the_steps():
  optimizer = addons.SGDW(weight_decay=_schedule(), learning_rate=0.0)
  np.testing.assert_array_equal(
      _steps(optimizer, first=(8.0,), num=3)[:, 0], [6.0, 4.5, 4.5 * 0.875])


def test_the_settings_say_the_decay():
  assert addons.AdamW(weight_decay=0.25).get_config()["weight_decay"] == 0.25


@pytest.mark.parametrize("decay", [0.05, "schedule"])
@pytest.mark.parametrize("name", ["SGDW", "AdamW"])
def test_every_step_is_that_of_the_library(name, decay):
  library = pytest.importorskip("tensorflow_addons", reason="needs tensorflow-addons")
  steps = [_steps(getattr(module, name)(
      weight_decay=_schedule() if decay == "schedule" else decay, **SETTINGS[name]))
           for module in (library.optimizers, addons)]
  np.testing.assert_allclose(steps[0], steps[1], rtol=1e-6)
