# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The loss among the classes of a phase, worked by hand."""

from __future__ import annotations

import math

import pytest
import steps
import tensorflow as tf

from suite.contracts import tasks
from suite.training.objectives import phase_classes

LOG2, LOG3 = math.log(2.0), math.log(3.0)


class Phased(tf.keras.layers.Layer):
  """Counts phases."""

  phases = 0

  def begin_phase(self):
    self.phases += 1


def built():
  layer = Phased()
  model = tf.keras.Sequential([tf.keras.Input([4]), layer])
  found = phase_classes.PhaseClasses()
  found.build(model)
  return found, layer, model


def given(model, labels):
  return steps.batch(tf.constant([[0.0, LOG3, 9.0, 0.0]] * len(labels)), labels, model=model)


def test_only_classes_of_the_phase_and_of_the_batch_take_part():
  found, layer, model = built()
  found.begin_phase(tf.constant([True, True, False, False]))
  assert layer.phases == 1
  # Shares 1/4 and 3/4; with the third label also e^9, and the fourth never.
  assert float(steps.loss_of(found, given(model, [0]))) == pytest.approx(2 * LOG2, rel=1e-5)
  total = math.log(4 + math.exp(9.0))
  assert float(steps.loss_of(found, given(model, [0, 2]))) == pytest.approx(
      (total + total - 9.0) / 2, rel=1e-5)



def test_several_labels_an_image_are_all_compared():
  found, _, model = built()
  found.begin_phase(tf.constant([True, False, False, False]))
  rows = steps.batch(tf.zeros([1, 4]), [[1.0, 0, 0, 1]], model=model, kind=tasks.MULTI_LABEL)
  assert float(steps.loss_of(found, rows)) == pytest.approx(LOG2, rel=1e-5)
