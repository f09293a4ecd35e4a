# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Steps on support sets against numpy, for a linear head of one feature and two classes."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.training.episodic import set_tuning

START = {"head/kernel": tf.zeros([1, 2]), "head/bias": tf.zeros([2])}


def apply(weights, codes):
  return tf.matmul(codes, weights["head/kernel"]) + weights["head/bias"]


def learn(tuning, *sets):
  """The states before the first set and after each."""
  states = [tuning.initial(START, (1,), 2)]
  for codes, labels in sets:
    states.append(tuning.learn(
        apply, states[-1], tf.constant(codes, tf.float32)[:, None], tf.constant(labels, tf.int64)))
  return states


def parameters(state):
  """[2, 2]: kernel and bias as rows."""
  return np.concatenate(
      [state.weights["head/kernel"], state.weights["head/bias"][None]]).astype(np.float64)


def softmax(logits):
  e = np.exp(logits - logits.max(-1, keepdims=True))
  return e / e.sum(-1, keepdims=True)


def residuals(w, codes, labels):
  """Rows' gradients of the cross-entropy for [kernel; bias]: [B, 2, 2]."""
  x = np.stack([codes, np.ones(len(codes))], 1)
  return x[:, :, None] * (softmax(x @ w) - np.eye(2)[labels])[:, None]


def test_one_step_by_hand():
  _, after = learn(set_tuning.SetTuning(steps=1, rate=1.0), ([2.0], [0]))
  # At zero both probabilities are 1/2: the gradient is (-1/2, 1/2), times 2 for the kernel.
  np.testing.assert_allclose(parameters(after), [[1, -1], [0.5, -0.5]])
  assert after.memory == after.fisher == after.shown == ()


def test_each_set_continues_from_the_weights_after_the_one_before():
  _, one, two = learn(set_tuning.SetTuning(steps=1, rate=1.0), ([2.0], [0]), ([1.0, -1.0], [1, 0]))
  w = parameters(one)
  expected = w - residuals(w, np.array([1.0, -1.0]), [1, 0]).mean(0)
  np.testing.assert_allclose(parameters(two), expected, rtol=1e-5)


def test_memory_holds_the_last_rows_and_counts_only_filled_ones():
  tuning = set_tuning.SetTuning(steps=1, rate=1.0, memory=3)
  before, one, two, three = learn(tuning, ([2.0], [0]), ([1.0, -1.0], [1, 0]), ([4.0], [1]))
  np.testing.assert_array_equal(before.memory[2], [0, 0, 0])
  np.testing.assert_allclose(parameters(one), [[1, -1], [0.5, -0.5]])  # As without a memory.
  np.testing.assert_array_equal(one.memory[2], [0, 0, 1])
  w = parameters(one)
  expected = w - residuals(w, np.array([1.0, -1.0, 2.0]), [1, 0, 0]).mean(0)
  np.testing.assert_allclose(parameters(two), expected, rtol=1e-5)
  np.testing.assert_array_equal(two.memory[0][:, 0], [2, 1, -1])
  np.testing.assert_array_equal(three.memory[0][:, 0], [1, -1, 4])
  np.testing.assert_array_equal(three.memory[1], [1, 0, 1])


def test_the_penalty_is_the_fisher_diagonal_of_earlier_sets_about_the_weights_before_the_set():
  tuning = set_tuning.SetTuning(steps=2, rate=0.5, ewc=3.0)
  sets = [(np.array([2.0, 0.5]), [0, 1]), (np.array([1.0]), [1])]
  states = learn(tuning, *sets)
  w, fisher = np.zeros([2, 2]), np.zeros([2, 2])
  for (codes, labels), state in zip(sets, states[1:]):
    anchor = w
    for _ in range(2):
      w = w - 0.5 * (residuals(w, codes, labels).mean(0) + 3.0 * fisher * (w - anchor))
    fisher = fisher + (residuals(w, codes, labels) ** 2).mean(0)
    np.testing.assert_allclose(parameters(state), w, rtol=1e-4)
    found = np.concatenate([state.fisher["head/kernel"], state.fisher["head/bias"][None]])
    np.testing.assert_allclose(found, fisher, rtol=1e-4)


def test_distillation_pulls_towards_the_answers_before_the_set():
  tuning = set_tuning.SetTuning(steps=2, rate=0.5, lwf=4.0, temperature=2.0)
  first, second = (np.array([2.0, -1.0]), [0, 1]), (np.array([1.0]), [1])
  _, one, two = learn(tuning, first, second)
  plain = learn(set_tuning.SetTuning(steps=2, rate=0.5), first)[-1]
  np.testing.assert_array_equal(parameters(one), parameters(plain))  # No class was shown before.
  np.testing.assert_array_equal(one.shown, [1, 1])
  codes, labels = second
  w = old = parameters(one)
  x = np.stack([codes, np.ones(1)], 1)
  for _ in range(2):
    pull = x.T @ (softmax(x @ w / 2.0) - softmax(x @ old / 2.0)) / 2.0
    w = w - 0.5 * (residuals(w, codes, labels).mean(0) + 4.0 * pull)
  np.testing.assert_allclose(parameters(two), w, rtol=1e-4)


def test_distillation_leaves_classes_out_that_were_not_shown():
  tuning = set_tuning.SetTuning(steps=2, rate=0.5, lwf=4.0)
  sets = (np.array([2.0]), [0]), (np.array([1.0]), [1])
  # Class 0 alone was shown: a softmax over one class is always 1, so nothing is pulled.
  found = learn(tuning, *sets)[-1]
  plain = learn(set_tuning.SetTuning(steps=2, rate=0.5), *sets)[-1]
  np.testing.assert_allclose(parameters(found), parameters(plain), rtol=1e-6)


@pytest.mark.parametrize("settings, message", [
    (dict(steps=0), "steps is 0; it must be at least 1"), (dict(rate=0), "rate is 0"),
    (dict(memory=-1), "memory is -1; it must be a number of rows"), (dict(ewc=-1.0), "ewc is -1.0"),
    (dict(lwf=-2.0), "lwf is -2.0"), (dict(temperature=0), "temperature is 0")])
def test_wrong_settings_are_named(settings, message):
  with pytest.raises(ValueError, match=f"SetTuning.{message}"):
    set_tuning.SetTuning(**settings)
