# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""One loop, in a graph, with every objective; batches and their rows by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import steps
import tensorflow as tf

from suite.contracts import tasks
from suite.training.gradient import array_loop
from suite.training.gradient import gradient_loop
from suite.training.gradient import optimizers
from suite.training.gradient import train_step
from suite.training.memories import memory as memory_lib
from suite.training.memories import reservoir
from suite.training.objectives import der
from suite.training.objectives import er_ace
from suite.training.objectives import ewc
from suite.training.objectives import gem
from suite.training.objectives import losses
from suite.training.objectives import lwf
from suite.training.objectives import mas
from suite.training.objectives import mir
from suite.training.objectives import objective as objective_lib
from suite.training.objectives import si

OBJECTIVES = {
    "ewc_each": lambda: ewc.Ewc(strength=20.0, anchor="each"),
    "mas": mas.Mas,
    "si": lambda: si.Si(strength=1.0, epsilon=0.01, max_importance=None),
    "lwf": lambda: lwf.Lwf([0.0, 4.0]),
    "agem": gem.Agem,
    "er_ace": er_ace.ErAce,
    "der": lambda: der.Der(alpha=1.0),
    "mir": lambda: mir.Mir(12),
}
REPLAYED = 8  # Rows, or candidates, of objectives that replay.


def two_phases(objective):
  """Class = sign of the first feature, then of the second; loss on the first at the end."""
  rng = np.random.default_rng(0)
  images = rng.normal(size=[2, 64, 2]).astype(np.float32)
  labels = np.stack([images[0, :, 0] > 0, images[1, :, 1] > 0]).astype(np.int64)
  model = tf.keras.Sequential([tf.keras.Input([2]), tf.keras.layers.Dense(
      2, kernel_initializer="zeros")])
  step = train_step.TrainStep(model, objective=objective, optimizer=optimizers.Sgd(
      model.trainable_variables, momentum=0.0))
  objective.build(model, seed=(1, 2))
  replays = objective_lib.REPLAY in objective.needs
  loop, memory = array_loop.ArrayLoop(step, replay_batch=REPLAYED * replays), memory_lib.Memory(
      16, reservoir.Reservoir())
  memory.build([2], tf.float32, seed=(0, 0), num_classes=2, with_logits=True)

  for phase in (0, 1):
    x, y = tf.constant(images[phase]), tf.constant(labels[phase])
    held = memory.held()
    data = objective_lib.Data(
        tf.concat([x, held.codes], 0), tf.concat([y, held.labels], 0),
        64 + tf.range(tf.size(held.labels, out_type=tf.int64)), held.logits)
    objective.begin_phase()
    plan = array_loop.PhaseRows(64, 30, 64, (3, phase), held=int(memory.size), seeded=False,
                                replay_batch=sum(loop.blank(1, data).drawn))
    for part in plan.parts():
      loop.train(data, part, np.full([part.num_steps], 0.3, np.float32))
    if objective.observes:
      loop.observe(x, y, 64, lambda cost: None)
    objective.end_phase()
    memory.add(x, y, model(x))
  return np.mean(losses.softmax_cross_entropy(labels[0], model(images[0])))


@pytest.fixture(name="forgotten", scope="module")
def _forgotten():
  """The loss on the first phase where nothing guards it."""
  return two_phases(objective_lib.Objective())


@pytest.mark.parametrize("name", OBJECTIVES)
def test_each_forgets_less_than_cross_entropy(name, forgotten):
  assert two_phases(OBJECTIVES[name]()) < 0.9 * forgotten


LOG2, LOG3 = math.log(2.0), math.log(3.0)


def batch(logits, labels, **fields):
  return objective_lib.Batch(
      np.arange(len(labels))[:, None], tf.constant(logits, tf.float32), np.array(labels), **fields)


def loss_of(logits, labels, objective=None, **settings):
  return float(steps.loss_of(objective or objective_lib.Objective(), steps.batch(
      tf.constant(logits, tf.float32), labels, **settings)))


def classes(known):
  return objective_lib.Classes(*[np.array(known, bool)] * 3)


def test_a_softmax_is_over_known_classes():
  # Logits log 1, log 3 and a third class that is not known: -log(1 / 4).
  loss = loss_of([[0, LOG3, 50]], [0], classes=classes([1, 1, 0]))
  assert loss == pytest.approx(2 * LOG2, rel=1e-6)


def test_replayed_rows_count_as_much_as_incoming_ones():
  rows = [[0, LOG3, 50], [0, 0, 0], [0, 0, 0]]
  # Class 2 is not known: no sample of it is ever replayed, and its loss is beyond all measure.
  assert loss_of(rows, [0, 1, 2], draws=[2], classes=classes([1, 1, 0])) > 1e8
  loss = loss_of(rows, [0, 1, 1], draws=[2], classes=classes([1, 1, 0]))
  assert loss == pytest.approx((2 * LOG2 + LOG2 + LOG2) / 3, rel=1e-6)


def test_padding_is_masked_and_a_divisor_is_that_of_the_global_batch():
  rows = [[0, LOG3], [0, 0], [9, 0]]
  whole = batch(rows, [0, 1, 1])
  masked = whole._replace(mask=tf.constant([True, True, False]))
  assert float(objective_lib.cross_entropy(masked)) == pytest.approx(3 * LOG2 / 3, rel=1e-6)
  assert float(objective_lib.cross_entropy(masked._replace(divisor=12))) == pytest.approx(
      3 * LOG2 / 12, rel=1e-6)
  assert float(objective_lib.cross_entropy(whole._replace(divisor=6))) == pytest.approx(
      float(objective_lib.cross_entropy(whole)) / 2, rel=1e-6)


def test_several_labels_are_several_sigmoids():
  expected = ((LOG2 + math.log(4 / 3)) / 2 + (LOG2 + 2 * LOG2) / 2) / 2
  found = loss_of([[0, LOG3]] * 2, [[1.0, 1], [0, 0]], kind=tasks.MULTI_LABEL)
  assert found == pytest.approx(expected, rel=1e-6)


def test_smoothing_is_that_of_the_losses():
  rows, labels = [[0, LOG3], [0, 0]], [0, 1]
  expected = np.mean(losses.softmax_cross_entropy(labels, tf.constant(rows, tf.float32), 0.2))
  assert loss_of(rows, labels, gradient_loop.CrossEntropy(tf.Variable(0.2))) == pytest.approx(
      expected, rel=1e-6)
  assert loss_of(rows, labels, gradient_loop.CrossEntropy()) == pytest.approx(loss_of(rows, labels))


def test_a_distance_by_hand():
  a, b = [tf.Variable([1.0, 2.0]), tf.Variable([[3.0]])], [tf.Variable([0.0, 5.0]), tf.Variable(
      [[1.0]])]
  weights = [tf.Variable([2.0, 1.0]), tf.Variable([[0.5]])]
  assert float(objective_lib.weighted_distance(weights, a, b)) == 2 * 1 + 9 + 0.5 * 4


def test_a_row_s_loss_is_over_its_own_head():
  # Heads {0, 2} and {1, 3}; the logits of the other head have no part in a loss.
  logits = tf.constant([[0.0, 90.0, math.log(3.0), 9.0], [70.0, 1.0, 8.0, 1.0]])
  batch = objective_lib.Batch(logits, logits, tf.constant([2, 3], tf.int64),
                              heads=tf.constant([1, 2, 1, 2], tf.int64))
  np.testing.assert_allclose(
      objective_lib.row_losses(batch, None), [math.log(4 / 3), math.log(2.0)], rtol=1e-5)
  # Of a head, too, only allowed classes take part.
  np.testing.assert_allclose(objective_lib.row_losses(
      batch, tf.constant([True, False, True, True])), [math.log(4 / 3), 0.0], atol=1e-5)
  own = objective_lib.OwnLoss(losses.hard_cross_entropy)
  found = steps.loss_of(own, steps.batch(logits, [2, 3], heads=batch.heads))
  np.testing.assert_allclose(found, math.log(8 / 3) / 2, rtol=1e-5)


class Inner(tf.keras.layers.Layer):
  """A layer of layers, and a setting that its config does not have."""

  scale = 1.0

  def __init__(self, **settings):
    super().__init__(**settings)
    self.first, self.second = tf.keras.layers.Dense(3), tf.keras.layers.Dense(3)

  def call(self, x):
    return self.second(self.first(x)) * self.scale


def test_a_frozen_copy_has_the_weights_in_their_places_or_is_refused():
  inner = Inner(name="mine")
  model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.Sequential([inner])])
  inner.first.trainable = False
  copy, pairs = objective_lib.frozen_copy(model)
  x = tf.constant([[1.0, 2, 3]])
  np.testing.assert_array_equal(copy(x), model(x))
  assert not copy.trainable_variables and len(pairs) == 4
  inner.scale = 3.0
  with pytest.raises(ValueError, match="keeps an earlier one, .* its copy has other outputs in "
                     "evaluation.* mine.scale of the copy differs"):
    objective_lib.frozen_copy(model)
