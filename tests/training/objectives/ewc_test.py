# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest
import steps
import tensorflow as tf

from suite.training.objectives import ewc
from suite.training.objectives import example_gradients
from suite.training.objectives import objective as objective_lib

# Two parameters w; the loss of an example (x, y) is (w . x - y)^2 / 2, its gradient (w . x - y) x.
X = np.array([[1, 0], [0, 2], [1, 1]], np.float32)
Y = np.array([0, 0, 1], np.float32)
W = [1.0, 2.0]  # So the errors are 1, 4, 2 and the gradients (1, 0), (0, 8), (2, 2).

# A batch whose cross-entropy is 0: what is left of the loss is the distance.
SURE = steps.batch(np.array([[200, 0]], np.float32), [0])
# And one whose cross-entropy is log 3.
EVEN = steps.batch(np.zeros([1, 3], np.float32), [0])


def make(**options):
  layer = tf.keras.layers.Dense(1, use_bias=False)
  model = tf.keras.Sequential([tf.keras.Input([2]), layer])
  layer.kernel.assign(np.array(W)[:, None])
  objective = ewc.Ewc(**options)
  objective.build(model)

  def answers_of(images, labels):
    return objective_lib.Batch(images, model(images), labels)

  return objective, layer.kernel, answers_of


@pytest.fixture(autouse=True)
def _squares(monkeypatch):
  """Errors of numbers, in place of cross-entropies: ewc_fisher_test.py is about these."""
  monkeypatch.setattr(ewc, "values_of", lambda fisher, batch: tf.square(
      batch.logits[:, 0] - batch.labels) / 2)


def observe(objective, answers_of, batches, graph=False):
  def call(x, y, m):
    return objective.observe(answers_of, x, y, m)

  call = tf.function(call, autograph=False) if graph else call
  for rows in batches:
    call(tf.constant(X[rows]), tf.constant(Y[rows]), tf.ones([len(rows)], tf.bool))
  objective.end_phase()


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("limit", [0, 2**20])
def test_fisher_of_examples_by_hand(graph, limit, monkeypatch):
  monkeypatch.setattr(example_gradients, "_MAX_BYTES", limit)
  objective, _, answers_of = make(fisher="true")
  observe(objective, answers_of, [[0, 1], [2]], graph)
  np.testing.assert_allclose(objective.importance[0][:, 0], [(1 + 4) / 3, (64 + 4) / 3], rtol=1e-6)


@pytest.mark.parametrize("graph", [False, True])
def test_fisher_of_minibatches_by_hand(graph):
  # Means (1/2, 4) and (2, 2): squares (1/4, 16) and (4, 4); the short batch counts as much.
  objective, _, answers_of = make(fisher="avalanche")
  observe(objective, answers_of, [[0, 1], [2]], graph)
  np.testing.assert_allclose(objective.importance[0][:, 0], [2.125, 10.0], rtol=1e-6)


@pytest.mark.parametrize("limit", [0, 2**20])
@pytest.mark.parametrize("fisher", ["true", "avalanche"])
def test_padding_does_not_count(fisher, limit, monkeypatch):
  monkeypatch.setattr(example_gradients, "_MAX_BYTES", limit)
  results = []
  for rows, mask in [([0, 1], [True, True]), ([0, 2, 1], [True, False, True])]:
    objective, _, answers_of = make(fisher=fisher)
    objective.observe(answers_of, tf.constant(X[rows]), tf.constant(Y[rows]), tf.constant(mask))
    objective.observe(answers_of, tf.constant(X[rows]), tf.constant(Y[rows]),
                    tf.zeros([len(rows)], tf.bool))
    objective.end_phase()
    results.append(objective.importance[0].numpy())
  np.testing.assert_allclose(*results)


def test_loss_and_decay_by_hand():
  objective, kernel, answers_of = make(strength=0.4, decay=0.1, fisher="avalanche")
  assert steps.loss_of(objective, SURE).numpy() == 0
  observe(objective, answers_of, [[0, 1], [2]])
  kernel.assign([[2.0], [1.0]])
  # 0.4 * (2.125 * 1^2 + 10 * 1^2); its gradient is 0.8 * F * difference.
  with tf.GradientTape() as tape:
    loss = steps.loss_of(objective, SURE)
  np.testing.assert_allclose(loss, 4.85, rtol=1e-6)
  np.testing.assert_allclose(tape.gradient(loss, kernel)[:, 0], [1.7, -8.0], rtol=1e-6)
  # Second phase: w = (2, 1), only example 0, gradient (2, 0): F = 0.1 * F + (4, 0), w* = w.
  observe(objective, answers_of, [[0]])
  np.testing.assert_allclose(objective.importance[0][:, 0], [4.2125, 1.0], rtol=1e-6)
  assert steps.loss_of(objective, SURE).numpy() == 0


@pytest.mark.parametrize("fisher", ["true", "avalanche"])
def test_one_quadratic_a_phase_is_the_sum_of_them(fisher):
  """F and w* of each phase by an Ewc of one phase; the sum of their gradients, literally."""
  each, kernel, answers_of = make(strength=0.3, fisher=fisher, anchor="each")
  lone, phases = [], [([1.0, 2.0], [[0, 1], [2]]), ([2.0, -1.0], [[0], [1]]), ([0.5, 3.0], [[2]])]
  for weights, batches in phases:
    kernel.assign(np.array(weights)[:, None])
    observe(each, answers_of, batches)
    one, other, losses = make(strength=0.3, fisher=fisher)
    other.assign(kernel)
    observe(one, losses, batches)
    lone.append((one.importance[0].numpy(), other.numpy()))
  constants = []
  for weights in ([0.0, 0.0], [3.0, -2.0], [1.5, 1.5]):
    kernel.assign(np.array(weights)[:, None])
    with tf.GradientTape() as tape:
      loss = steps.loss_of(each, SURE)
    expected = sum(0.3 * f * (kernel.numpy() - anchor)**2 for f, anchor in lone).sum()
    slopes = sum(2 * 0.3 * f * (kernel.numpy() - anchor) for f, anchor in lone)
    np.testing.assert_allclose(tape.gradient(loss, kernel), slopes, rtol=1e-4, atol=1e-4)
    constants.append(expected - loss.numpy())
  np.testing.assert_allclose(constants, constants[0], rtol=1e-4)
  assert constants[0] > 1.0


def test_a_weight_without_information_stays_free():
  each, kernel, answers_of = make(anchor="each")
  observe(each, answers_of, [[0]])  # Its gradient is (1, 0).
  np.testing.assert_array_equal(each.anchors[0][:, 0], [1.0, 0.0])
  kernel.assign([[1.0], [50.0]])
  assert steps.loss_of(each, SURE).numpy() == 0


def test_the_first_weights_stay_the_anchor_and_their_information_is_refreshed():
  objective, kernel, answers_of = make(strength=0.05, share=0.9, fisher="true", anchor="first")
  assert objective.observes.split == objective_lib.VALIDATION
  observe(objective, answers_of, [[0, 1, 2]])
  np.testing.assert_allclose(objective.importance[0][:, 0], [5 / 3, 68 / 3], rtol=1e-6)
  kernel.assign([[3.0], [2.0]])
  expected = 0.9 * np.log(3) + 0.05 * 5 / 3 * 2**2
  np.testing.assert_allclose(steps.loss_of(objective, EVEN), expected, rtol=1e-6)
  # At (3, 2) the errors are 3, 4, 4 and the gradients (3, 0), (0, 8), (4, 4).
  objective.observe(answers_of, tf.constant(X), tf.constant(Y))
  objective.begin_phase()
  np.testing.assert_allclose(objective.importance[0][:, 0], [25 / 3, 80 / 3], rtol=1e-6)
  np.testing.assert_allclose(objective.anchors[0][:, 0], W)
  objective.end_phase()  # Of a later phase: nothing was observed, and nothing is asked for.
  np.testing.assert_allclose(objective.importance[0][:, 0], [25 / 3, 80 / 3], rtol=1e-6)
  np.testing.assert_allclose(objective.anchors[0][:, 0], W)


def test_without_a_first_validation_split_nothing_is_guarded():
  objective, kernel, _ = make(anchor="first")
  for _ in range(2):
    objective.end_phase()
    kernel.assign(kernel + 5.0)
    assert steps.loss_of(objective, SURE).numpy() == 0


def test_each_quadratic_goes_on_from_a_checkpoint_between_phases(tmp_path):
  results = []
  whole, kernel, answers_of = make(anchor="each")
  observe(whole, answers_of, [[0, 1]])
  path = tf.train.Checkpoint(objective=whole, kernel=kernel).save(str(tmp_path / "c"))
  again, weights, other = make(anchor="each")
  tf.train.Checkpoint(objective=again, kernel=weights).restore(path).assert_consumed()
  for objective, variable, losses in ((whole, kernel, answers_of), (again, weights, other)):
    variable.assign([[4.0], [1.0]])
    observe(objective, losses, [[2]])
    results.append([objective.importance[0].numpy(), objective.anchors[0].numpy()])
  np.testing.assert_array_equal(*results)


def test_it_goes_on_from_a_checkpoint(tmp_path):
  objective, kernel, answers_of = make()
  observe(objective, answers_of, [[0, 1, 2]])
  kernel.assign([[3.0], [3.0]])
  path = tf.train.Checkpoint(objective=objective, kernel=kernel).save(str(tmp_path / "c"))
  again, weights, _ = make()
  tf.train.Checkpoint(objective=again, kernel=weights).restore(path).assert_consumed()
  assert steps.loss_of(again, SURE).numpy() == steps.loss_of(objective, SURE).numpy() > 0


def test_bad_input_says_what_to_do():
  with pytest.raises(ValueError, match="fisher is 'full'; allowed are all, sample, pred, true, "):
    ewc.Ewc(fisher="full")
  with pytest.raises(ValueError, match="anchor is 'mean'; allowed are last, each, first"):
    ewc.Ewc(anchor="mean")
  with pytest.raises(ValueError, match="observed no example of the phase. Call observe"):
    make()[0].end_phase()
