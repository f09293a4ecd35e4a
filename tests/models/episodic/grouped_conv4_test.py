# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Episodes that are computed together are those computed one by one."""

from __future__ import annotations

import types

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import seeds
from suite.contracts import learner as learner_lib
from suite.contracts import refusals
from suite.contracts import tasks
from suite.learners import maml
from suite.models.episodic import functional_conv4
from suite.training.episodic import episode_graphs
from suite.training.episodic import inner_loop
from suite.training.episodic import meta_schedules

WAY, SIZE, CHANNELS, EPISODES = 2, 6, 2, 3


def _learner(inner, training, blocks=2):
  learner = maml.Maml(
      functional_conv4.Conv4(filters=3, blocks=blocks),
      inner=inner_loop.InnerLoop(**{"steps": 1, "num_support_sets": 2, "rate": 0.3, **inner}),
      transform=types.SimpleNamespace(size=SIZE), channels=CHANNELS,
      training=meta_schedules.MetaTraining(**training))
  context = types.SimpleNamespace(distribution=distribution.build(), seeds=seeds.Seeds(0))
  learner.begin(tasks.Task("episode", tasks.SINGLE_LABEL, WAY * 2), context)
  rng = np.random.default_rng(0)
  for variable in learner.trainable_variables:
    if "norm" in variable.name or "rates" in variable.name:
      variable.assign_add(0.1 * rng.normal(size=variable.shape))
  return learner


def _batch():
  rng = np.random.default_rng(0)
  image = [SIZE, SIZE, CHANNELS]
  return (tf.constant(rng.integers(0, 256, [EPISODES, 2, WAY, *image])),
          tf.constant(np.tile(np.arange(WAY * 2).reshape(2, WAY), [EPISODES, 1, 1])),
          tf.constant(rng.integers(0, 256, [EPISODES, 6, *image])),
          tf.constant(rng.integers(0, WAY * 2, [EPISODES, 6])))


@pytest.mark.parametrize("inner, training", [
    (dict(), {}),
    (dict(steps=2, norms_by_step=False, last_set_only=True, transductive=True,
          target_row="last"), dict(multi_step_epochs=2, second_order=False)),
])
def test_the_mean_loss_and_its_gradients_are_those_of_a_loop(inner, training):
  learner, batch = _learner(inner, training), _batch()
  variables = learner.trainable_variables

  def gradients(meta_loss, episode):
    with tf.GradientTape() as tape:
      loss, _ = meta_loss(episode)
    found = tape.gradient(loss, variables, unconnected_gradients="zero")
    return [loss, *map(tf.convert_to_tensor, found)]

  found = gradients(learner.meta_loss_together, batch)
  every = [gradients(learner.meta_loss, [part[e] for part in batch]) for e in range(EPISODES)]
  for name, a, *parts in zip(["loss", *(v.name for v in variables)], found, *every):
    wanted = np.mean(parts, axis=0)
    scale = max(np.abs(wanted).max(), 1e-3)
    np.testing.assert_allclose(a / scale, wanted / scale, atol=1e-5, err_msg=name)


def test_an_update_has_the_same_multiply_adds():
  batch = [tf.TensorSpec(part.shape, part.dtype) for part in _batch()]
  costs = []
  for batching in episode_graphs.BATCHINGS:
    learner = _learner({}, {}, blocks=1)
    graphs = episode_graphs.Graphs(learner, WAY * 2, batching=batching)
    spec = episode_graphs.episodes_lib.Episode(*batch)
    costs.append(graphs.cost(graphs.update, spec))
  assert costs[0].macs == costs[1].macs and not costs[1].uncounted


def test_unknown_ways_and_learners_without_groups_are_refused():
  learner = learner_lib.EpisodicLearner()
  with pytest.raises(ValueError, match="batched by 'all'; allowed are loop, grouped"):
    episode_graphs.Graphs(learner, 2, batching="all")
  with pytest.raises(refusals.RefusedError, match="no grouped form.*task_batching = 'loop'"):
    episode_graphs.Graphs(learner, 2, batching="grouped")
