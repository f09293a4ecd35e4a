# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""RWalk against its equations, step by step."""

from __future__ import annotations

import numpy as np
import pytest
import steps
import tensorflow as tf

from suite.training.objectives import rwalk

# A batch whose cross-entropy is 0: what is left of the loss is the penalty.
SURE = steps.batch(np.array([[200, 0]], np.float32), [0])


def expected(phases, alpha, interval, strength):
  """Penalties and anchors after each phase of (gradients of the cross-entropy, changes)."""
  w, fisher, scores, number, found = np.ones(2), None, None, 0, []
  penalty, anchor = np.zeros(2), np.zeros(2)
  for moves in phases:
    score, path, since = np.zeros(2), np.zeros(2), w.copy()
    for gradient, change in moves:
      g, number = np.array(gradient, float), number + 1
      fisher = g ** 2 if fisher is None else alpha * g ** 2 + (1 - alpha) * fisher
      w = w + change
      path = path - g * change
      if number % interval == 0:
        score += path / (fisher * (w - since) ** 2 / 2 + np.finfo(np.float32).eps)
        path, since = np.zeros(2), w.copy()
    scores = score if scores is None else (scores + score) / 2
    penalty, anchor = fisher / fisher.max() + np.maximum(scores, 0) / max(scores.max(), 0), w
    found.append((penalty, anchor))
  return found


@pytest.mark.parametrize("alpha, interval", [(0.9, 1), (0.5, 2)])
def test_penalties_are_those_of_the_equations_without_the_penaltys_own_gradient(alpha, interval):
  rng = np.random.default_rng(0)
  phases = [[(rng.normal(size=2), 0.3 * rng.normal(size=2)) for _ in range(num)]
            for num in (4, 3, 3)]
  layer = tf.keras.layers.Dense(1, use_bias=False)
  model = tf.keras.Sequential([tf.keras.Input([2]), layer])
  layer.kernel.assign([[1.0], [1.0]])
  objective = rwalk.Rwalk(0.7, alpha, interval)
  objective.build(model)

  @tf.function(autograph=False)
  def step(gradient, change):
    # What a step follows: the gradient of the cross-entropy and that of the penalty.
    with tf.GradientTape() as tape:
      penalty = steps.loss_of(objective, {**SURE, "variables": [layer.kernel]})
    whole = gradient + tape.gradient(penalty, layer.kernel)
    steps.taken(objective, variables=[layer.kernel], gradients=[whole], change=[change], **SURE)

  for moves, (penalty, anchor) in zip(phases, expected(phases, alpha, interval, 0.7)):
    objective.begin_phase()
    for gradient, change in moves:
      step(*(tf.constant(a, tf.float32)[:, None] for a in (gradient, change)))
    objective.end_phase()
    np.testing.assert_allclose(objective.penalty[0][:, 0], penalty, rtol=1e-4)
    np.testing.assert_allclose(objective.anchors[0][:, 0], anchor, rtol=1e-5)
    assert float(steps.loss_of(objective, SURE)) == 0.0
  layer.kernel.assign_add([[1.0], [2.0]])
  np.testing.assert_allclose(
      steps.loss_of(objective, SURE), 0.7 * (penalty[0] + 4 * penalty[1]), rtol=1e-4)


def test_a_phase_without_steps_guards_nothing_and_bad_settings_are_refused():
  model = tf.keras.Sequential([tf.keras.Input([2]), tf.keras.layers.Dense(2)])
  objective = rwalk.Rwalk()
  objective.build(model)
  objective.begin_phase()
  objective.end_phase()
  model.layers[-1].kernel.assign_add(tf.ones([2, 2]))
  assert float(steps.loss_of(objective, SURE)) == 0.0
  with pytest.raises(ValueError, match="Rwalk.alpha is 0; it must be above 0 and at most 1"):
    rwalk.Rwalk(alpha=0)
  with pytest.raises(ValueError, match="Rwalk.interval is 0; it must be at least 1"):
    rwalk.Rwalk(interval=0)
