# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Fisher information by its definition, and the estimates of public codes of EWC."""
import numpy as np
import pytest
import steps
import tensorflow as tf

from suite.compute import flops
from suite.contracts import refusals
from suite.contracts import tasks
from suite.training.gradient import class_heads
from suite.training.objectives import ewc
from suite.training.objectives import example_gradients
from suite.training.objectives import objective as objective_lib

D, C, N = 3, 4, 5
RNG = np.random.default_rng(3)
X, W = RNG.normal(size=[N, D]).astype(np.float32), RNG.normal(size=[D, C]).astype(np.float32)
Y = np.array([0, 1, 3, 3, 2])
# A batch whose cross-entropy is log 3.
EVEN = steps.batch(np.zeros([1, 3], np.float32), [0])


def importance(fisher, *, batches=((0, 1, 2, 3, 4),), kind=tasks.SINGLE_LABEL, labels=Y,
               repeats=1, **fields):
  """F [D, C] of the kernel of a linear layer."""
  layer = tf.keras.layers.Dense(C, use_bias=False)
  model = tf.keras.Sequential([tf.keras.Input([D]), layer])
  layer.kernel.assign(W)
  objective = ewc.Ewc(fisher=fisher)
  objective.build(model, seed=(5, 6))

  @tf.function(autograph=False)
  def observe(x, y):
    objective.observe(lambda codes, labels: objective_lib.Batch(
        codes, model(codes), labels, kind=kind, **fields), x, y)

  for rows in list(batches) * repeats:
    observe(tf.constant(X[list(rows)]), tf.constant(labels[list(rows)]))
  objective.end_phase()
  return objective.importance[0].numpy()


def probabilities(allowed=True):
  shares = np.exp(X @ W) * allowed
  return shares / shares.sum(1, keepdims=True)


def squares_of(p, y):
  """The squared gradient of -log p(y) of each row, [N, D, C]."""
  return (X[:, :, None] * (p - np.eye(C)[y])[:, None, :])**2


@pytest.mark.parametrize("limit", [0, 2**20])
@pytest.mark.parametrize("batches", [[range(5)], [[0], [1, 2], [3, 4]]])
def test_exact_information_is_the_mean_over_all_labels_by_their_probabilities(
    batches, limit, monkeypatch):
  monkeypatch.setattr(example_gradients, "_MAX_BYTES", limit)
  p = probabilities()
  expected = sum(p[:, k, None, None] * squares_of(p, np.full(N, k)) for k in range(C)).mean(0)
  np.testing.assert_allclose(importance("all", batches=batches), expected, rtol=1e-4)


def test_labels_that_are_drawn_give_the_exact_information_in_the_mean():
  exact = importance("all")
  found = importance("sample", repeats=400)
  np.testing.assert_allclose(found, exact, rtol=0.25, atol=0.01)
  assert np.abs(importance("sample") - exact).max() > np.abs(found - exact).max()


def test_labels_of_the_codes_by_hand():
  p = probabilities()
  predicted, true = squares_of(p, p.argmax(1)), squares_of(p, Y)
  np.testing.assert_allclose(importance("pred"), predicted.mean(0), rtol=1e-4)
  np.testing.assert_allclose(importance("true"), true.mean(0), rtol=1e-4)
  weights = p[np.arange(N), Y]
  np.testing.assert_allclose(
      importance("mammoth"), (weights[:, None, None] * true).mean(0), rtol=1e-4)
  of_batches = [np.square((X[rows, :, None] * (p - np.eye(C)[Y])[rows, None, :]).mean(0))
                for rows in ([0, 1, 2], [3, 4])]
  np.testing.assert_allclose(importance("avalanche", batches=[[0, 1, 2], [3, 4]]),
                             np.mean(of_batches, 0), rtol=1e-4)


@pytest.mark.parametrize("fisher", ["all", "sample", "pred"])
def test_labels_are_among_known_classes_of_the_head_of_the_row(fisher):
  heads, known = np.array([0, 0, 1, 1]), np.array([True, True, True, False])
  fields = {"heads": tf.constant(heads),
            "classes": objective_lib.Classes(*[tf.constant(known)] * 3)}
  labels = np.array([0, 1, 2, 2, 1])
  p = probabilities((heads[None] == heads[labels][:, None]) & known)
  expected = sum(p[:, k, None, None] * squares_of(p, np.full(N, k)) for k in range(C)).mean(0)
  found = importance(fisher, labels=labels, **fields)
  assert not found[:, 2:].any()  # Class 2 is alone, and 3 unknown: nothing can be learned.
  if fisher == "all":
    np.testing.assert_allclose(found, expected, rtol=1e-4)
  assert found[:, :2].all()


def test_several_labels_are_independent_and_the_loss_is_their_mean():
  labels = RNG.integers(0, 2, [N, C]).astype(np.float32)
  p = 1 / (1 + np.exp(-X @ W))

  def squares(errors):
    return (X[:, :, None] * errors[:, None] / C)**2

  fields = {"kind": tasks.MULTI_LABEL, "labels": labels}
  exact = (X[:, :, None]**2 * (p * (1 - p))[:, None]).mean(0) / C**2
  np.testing.assert_allclose(importance("all", **fields), exact, rtol=1e-4)
  np.testing.assert_allclose(importance("pred", **fields), squares(p - (p > 0.5)).mean(0),
                             rtol=1e-4)
  np.testing.assert_allclose(importance("true", **fields), squares(p - labels).mean(0), rtol=1e-4)
  np.testing.assert_allclose(importance("sample", repeats=400, **fields), exact, rtol=0.25)


def test_exact_information_costs_a_backward_pass_for_each_class():
  layer = tf.keras.layers.Dense(C, use_bias=False)
  model = tf.keras.Sequential([tf.keras.Input([D]), layer])
  macs = {}
  for fisher in ("all", "sample", "true"):
    objective = ewc.Ewc(fisher=fisher)
    objective.build(model)
    observe = tf.function(lambda x, y, o=objective: o.observe(
        lambda codes, labels: objective_lib.Batch(codes, model(codes), labels), x, y),
                          autograph=False)
    cost = flops.count(observe.get_concrete_function(
        tf.TensorSpec([1, D]), tf.TensorSpec([1], tf.int64)))
    macs[fisher] = cost.macs
  assert macs == {"true": 2 * D * C, "sample": 3 * D * C, "all": (1 + C) * D * C}
  assert [ewc.Ewc(fisher=f).observes.passes(7) for f in ewc.FISHERS] == [7, 1, 1, 1, 1, 1]


def test_drawn_labels_are_refused_in_episodes():
  with pytest.raises(refusals.RefusedError, match="Take 'all' or 'true'"):
    ewc.Ewc(fisher="sample").in_episodes()


def test_it_pulls_towards_the_first_weights_of_a_softmax_layer_by_importance():
  model = class_heads.linear(3, 2)
  model.set_weights([np.zeros([2, 3], np.float32), np.zeros(3, np.float32)])
  objective = ewc.Ewc(strength=0.05, share=0.9, fisher="true", anchor="first")
  objective.build(model)
  images, label = tf.constant([[2.0, 0.0]]), tf.constant([1], tf.int64)

  def answers_of(x, y):
    return objective_lib.Batch(
        x, model(x), y, classes=objective_lib.Classes(*[tf.constant([True, True, False])] * 3))

  objective.observe(answers_of, images, label)
  objective.end_phase()
  # p = (1/2, 1/2): gradients of the kernel's first row +-2 * 1/2, squared 1; of biases 1/4.
  model.layers[-1].kernel.assign([[3.0, 0, 5.0], [7.0, 0, 0]])
  model.layers[-1].bias.assign([0.0, 2.0, 0])
  expected = 0.9 * np.log(3) + 0.05 * (1 * 9 + 0.25 * 4)
  assert float(steps.loss_of(objective, EVEN)) == pytest.approx(expected, rel=1e-5)
  # Once more, at the present weights, which do not become those to stay near to.
  model.layers[-1].kernel.assign(np.zeros([2, 3]))
  objective.observe(answers_of, images, label)
  objective.begin_phase()
  importance = objective.importance[0].numpy()
  assert importance[0, 2] == importance[1, 0] == 0.0 and importance[0, 0] != 1.0
  np.testing.assert_array_equal(objective.anchors[1], [0, 0, 0])
