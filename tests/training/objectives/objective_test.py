# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""One loop, in a graph, with every objective; batches and their rows by hand."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
import tensorflow as tf

from suite.contracts import tasks
from suite.training.gradient import gradient_loop
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
  variables = model.trainable_variables
  memory = memory_lib.Memory(16, reservoir.Reservoir())
  memory.build([2], tf.float32, seed=(0, 0), num_classes=2, with_logits=objective.reads_logits)
  follows = isinstance(objective, gem.Agem)
  taken = 0 if follows or not objective.needs_memory else REPLAYED
  width = memory.held().logits.shape[1]

  def losses_of(x, y, known=None):
    return losses.softmax_cross_entropy(y, model(x, training=True))

  def answers_of(x, y):
    return objective_lib.Batch(x, model(x), y)

  objective.build(model, losses_of=losses_of, seed=(1, 2))

  def rows_of(step, x, y, data, replays):
    """The rows of a step, and stored logits: all that came and, behind, some of the memory."""
    if not replays:
      return x, y, None, 0
    slots = memory_lib.sample(tf.size(data.places), tf.stack([step, 7]), taken)
    old, stored = tf.gather(data.places, slots), tf.gather(data.stored, slots)
    old_x, old_y = tf.gather(data.codes, old), tf.gather(data.labels, old)
    if objective.candidates:
      with tf.GradientTape() as tape:
        loss = tf.reduce_mean(losses_of(x, y))
      best = objective.choose(
          objective_lib.Candidates(old_x, old_y), losses_of, tape.gradient(loss, variables),
          variables, tf.constant(0.3), 4)
      old_x, old_y, stored = (tf.gather(t, best) for t in (old_x, old_y, stored))
    return tf.concat([x, old_x], 0), tf.concat([y, old_y], 0), stored, old_y.shape[0]

  @functools.cache
  def steps_on(replays):
    """The steps of a phase, in a graph; `replays`: whether rows are taken of the memory."""
    rows = [tf.TensorSpec([64, 2]), tf.TensorSpec([64], tf.int64)]
    held = [tf.TensorSpec([None, 2]), tf.TensorSpec([None], tf.int64),
            tf.TensorSpec([None], tf.int64), tf.TensorSpec([None, width])]

    @tf.function(input_signature=rows + held, autograph=False)
    def steps(x, y, *fields):
      data = objective_lib.Data(*fields)

      def step(number):
        rows, classes, stored, num = rows_of(number, x, y, data, replays)
        with tf.GradientTape() as tape:
          loss = objective.loss(objective_lib.Batch(
              rows, model(rows, training=True), classes, num, stored))
        gradients = objective.gradients(tape.gradient(loss, variables), data)
        objective.before_update()
        for variable, gradient in zip(variables, gradients):
          variable.assign_sub(0.3 * gradient)
        objective.after_update(gradients)
        return number + 1

      tf.while_loop(lambda number: number < 30, step, [0])

    return steps

  for phase in (0, 1):
    x, y = tf.constant(images[phase]), tf.constant(labels[phase])
    held = memory.held()
    data = objective_lib.Data(
        tf.concat([x, held.codes], 0), tf.concat([y, held.labels], 0),
        64 + tf.range(tf.size(held.labels, out_type=tf.int64)), held.logits)
    if objective.observes == objective_lib.VALIDATION and phase:
      objective.observe(answers_of, tf.constant(images[0]), tf.constant(labels[0]))
      objective.refresh()
    objective.before_phase()
    steps_on(bool(taken and phase))(x, y, *data[:4])
    if objective.observes == objective_lib.TRAINING or objective.observes and not phase:
      objective.observe(answers_of, x, y)
    objective.after_phase()
    memory.add(x, y, model(x) if objective.reads_logits else None)
  return np.mean(losses_of(images[0], labels[0]))


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


def classes(known):
  return objective_lib.Classes(*[np.array(known, bool)] * 3)


def test_a_softmax_is_over_known_classes():
  # Logits log 1, log 3 and a third class that is not known: -log(1 / 4).
  loss = objective_lib.Objective().loss(batch([[0, LOG3, 50]], [0], classes=classes([1, 1, 0])))
  assert float(loss) == pytest.approx(2 * LOG2, rel=1e-6)


def test_replayed_rows_count_as_much_as_incoming_ones():
  rows = [[0, LOG3, 50], [0, 0, 0], [0, 0, 0]]
  loss = objective_lib.Objective().loss(
      batch(rows, [0, 1, 2], num_replayed=2, classes=classes([1, 1, 0])))
  # Class 2 is not known: no sample of it is ever replayed, and its loss is beyond all measure.
  assert float(loss) > 1e8
  loss = objective_lib.Objective().loss(
      batch(rows, [0, 1, 1], num_replayed=2, classes=classes([1, 1, 0])))
  assert float(loss) == pytest.approx((2 * LOG2 + LOG2 + LOG2) / 3, rel=1e-6)


def test_incoming_rows_come_first():
  rows = batch([[1.0], [2.0], [3.0]], [4, 5, 6], num_replayed=1, stored=np.ones([1, 1]))
  first, last = rows.incoming(), rows.replayed()
  assert (first.codes[:, 0].tolist(), first.labels.tolist()) == ([0, 1], [4, 5])
  assert first.logits.numpy().tolist() == [[1], [2]]
  assert (first.num_replayed, first.stored) == (0, None)
  assert (last.codes[:, 0].tolist(), last.labels.tolist()) == ([2], [6])
  assert last.logits.numpy().tolist() == [[3]] and last.stored.tolist() == [[1]]
  alone = batch([[1.0]], [0])
  assert alone.incoming() is alone


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
  rows = batch([[0, LOG3]] * 2, [[1, 1], [0, 0]], kind=tasks.MULTI_LABEL)
  expected = ((LOG2 + math.log(4 / 3)) / 2 + (LOG2 + 2 * LOG2) / 2) / 2
  assert float(objective_lib.Objective().loss(rows)) == pytest.approx(expected, rel=1e-6)


def test_smoothing_is_that_of_the_losses():
  rows, smoothing = batch([[0, LOG3], [0, 0]], [0, 1]), tf.Variable(0.2)
  loss = gradient_loop.CrossEntropy(smoothing).loss(rows)
  expected = np.mean(losses.softmax_cross_entropy(rows.labels, rows.logits, 0.2))
  assert float(loss) == pytest.approx(expected, rel=1e-6)
  assert float(gradient_loop.CrossEntropy().loss(rows)) == pytest.approx(
      float(objective_lib.Objective().loss(rows)))


def test_a_distance_by_hand():
  a, b = [tf.Variable([1.0, 2.0]), tf.Variable([[3.0]])], [tf.Variable([0.0, 5.0]), tf.Variable(
      [[1.0]])]
  weights = [tf.Variable([2.0, 1.0]), tf.Variable([[0.5]])]
  assert float(objective_lib.weighted_distance(weights, a, b)) == 2 * 1 + 9 + 0.5 * 4


def test_candidates_without_a_choice_are_an_error():
  with pytest.raises(NotImplementedError, match="Objective has candidates, but no choose"):
    objective_lib.Objective().choose(None, None, [], [], 0.1, 1)


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
  np.testing.assert_allclose(own.loss(batch), math.log(8 / 3) / 2, rtol=1e-5)
