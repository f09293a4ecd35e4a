# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""SCR against its equation, pair by pair, and what its second view changes."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import flops
from suite.data.images import contrastive_views
from suite.models import conv4
from suite.training.gradient import class_heads
from suite.training.gradient import optimizers
from suite.training.gradient import train_step
from suite.training.memories import step_rows
from suite.training.objectives import scr


def expected(features, labels, temperature):
  """The equation as it is printed, over the rows that have another one of their class."""
  unit, found = features / np.linalg.norm(features, axis=1, keepdims=True), []
  for i in range(len(labels)):
    others = [j for j in range(len(labels)) if j != i]
    similar = np.exp(unit @ unit[i] / temperature)
    positives = [j for j in others if labels[j] == labels[i]]
    if positives:
      found.append(-np.mean([np.log(similar[p] / similar[others].sum()) for p in positives]))
  return np.mean(found) if found else 0.0


@pytest.mark.parametrize("labels", [[0, 1, 0, 2, 1, 0, 3], [0, 1, 2], [4, 4]])
def test_the_loss_is_that_of_the_equation(labels):
  features = np.random.default_rng(0).normal(size=[len(labels), 5])
  found = scr.contrast(tf.constant(features, tf.float32), tf.constant(labels, tf.int64), 0.3)
  assert float(found) == pytest.approx(expected(features, np.array(labels), 0.3), rel=1e-5)


def net(view, channels=3):
  """An objective, a net of images of 8 x 8 pixels behind a projection, and its parts."""
  lower = conv4.conv4((8, 8, channels), filters=4, blocks=1)
  top = class_heads.ProjectedExemplars(6).make(lower.output_shape[-1], 3, is_input=False)
  inputs = tf.keras.Input([8, 8, channels], dtype=lower.inputs[0].dtype)
  model, objective = tf.keras.Model(inputs, top(lower(inputs))), scr.Scr(0.2, view)
  objective.build(model, seed=(3, 4))
  return objective, model, (lower, top)


def step_of(model, objective, parts):
  return train_step.TrainStep(
      model, objective=objective, parts=parts,
      optimizer=optimizers.Momentum().build(model.trainable_variables))


def taken(step, images, labels, rate=0.1, **settings):
  rows = step_rows.Rows(images, labels, sizes=tuple(labels.shape))
  return step.take(rows, rate=tf.constant(rate), **settings)


def passes(step, images, labels):
  return taken(step, images, labels, mode=train_step.BLANK).passes


@pytest.mark.parametrize("view", [None, contrastive_views.AugPlus(8, blur_probability=0.0)])
def test_a_step_trains_all_but_the_logits_with_one_view_or_two(view):
  objective, model, parts = net(view)
  images = tf.constant(np.random.default_rng(1).integers(0, 256, [5, 8, 8, 3]), tf.float32)
  labels = tf.constant([0, 1, 0, 2, 1], tf.int64)
  step = step_of(model, objective, parts)
  graph = tf.function(lambda: taken(step, images, labels).loss,
                      autograph=False).get_concrete_function()
  before = model.get_weights()
  one, two = float(graph()), float(graph())
  assert one != two and int(objective.steps) == 2
  changed = [not np.array_equal(a, b) for a, b in zip(before, model.get_weights())]
  names = [v.name for v in model.variables]
  assert not any(c for c, n in zip(changed, names) if "logits" in n)
  assert all(c for c, n in zip(changed, names) if "projection" in n or "conv" in n)
  assert flops.count(graph).flops > 0
  assert passes(step, images, labels) == (10 if view else 5, 0)


def test_two_views_are_rows_of_one_class_with_draws_of_their_step():
  objective, model, parts = net(contrastive_views.AugPlus(8, blur_probability=0.0))
  images = tf.constant(np.random.default_rng(2).integers(0, 256, [3, 8, 8, 3]), tf.float32)
  step = step_of(model, objective, parts)

  def loss():
    return float(taken(step, images, tf.constant([0, 1, 2], tf.int64), rate=0.0).loss)

  # The view of a row is the only other one of its class.
  first = loss()
  objective.steps.assign(0)
  assert first > 0 and loss() == first
  assert loss() != first


def test_by_default_the_second_view_is_that_of_the_authors():
  images = np.random.default_rng(2).integers(0, 256, [3, 8, 8, 3])
  labels = tf.constant([0, 1, 2], tf.int64)

  def loss(view, channels):
    tf.keras.utils.set_random_seed(1)
    objective, model, parts = net(view, channels)
    step, rows = step_of(model, objective, parts), tf.constant(images[..., :channels], tf.float32)
    assert passes(step, rows, labels) == (6, 0)
    return float(taken(step, rows, labels).loss)

  assert loss(scr.AUTHORS, 3) == loss(contrastive_views.AugPlus(8, blur_probability=0.0), 3) > 0
  assert loss(scr.AUTHORS, 1) > 0
  assert scr.Scr()._view == scr.AUTHORS


def test_features_have_one_view():
  top = class_heads.ProjectedExemplars(6).make(5, 3, is_input=False)
  lower = tf.keras.Sequential([tf.keras.Input([4]), tf.keras.layers.Dense(5)])
  inputs = tf.keras.Input([4])
  objective, model = scr.Scr(), tf.keras.Model(inputs, top(lower(inputs)))
  objective.build(model)
  assert passes(step_of(model, objective, (lower, top)), tf.zeros([3, 4]),
                tf.constant([0, 1, 0], tf.int64)) == (3, 0)


def test_what_has_no_projection_below_which_to_train_is_refused():
  model = tf.keras.Sequential([tf.keras.Input([2]), tf.keras.layers.Dense(3)])
  with pytest.raises(ValueError, match="Scr trains a net below a projection; give .*AllLayers"):
    scr.Scr().build(model)
  with pytest.raises(ValueError, match=r"makes examples \(9, 9, 3\), and the net takes \(8, 8"):
    net(contrastive_views.AugPlus(9))
  with pytest.raises(ValueError, match="view is 'flips'; give 'authors', a transform or None"):
    scr.Scr(view="flips")
  with pytest.raises(ValueError, match="Scr.temperature is 0; it must be above 0"):
    scr.Scr(0)
