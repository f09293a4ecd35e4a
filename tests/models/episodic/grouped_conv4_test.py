# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Episodes that are computed together are those computed one by one."""

from __future__ import annotations

import types

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import flops
from suite.compute import seeds
from suite.contracts import learner as learner_lib
from suite.contracts import refusals
from suite.contracts import tasks
from suite.learners import maml
from suite.models.episodic import functional_conv4
from suite.training.episodic import episode_graphs
from suite.training.episodic import inner_loop
from suite.training.episodic import meta_schedules

WAY, SIZE, CHANNELS, EPISODES = 2, 6, 2, 2


def _learner(inner, training, blocks=2, seed=0):
  learner = maml.Maml(
      functional_conv4.Conv4(filters=3, blocks=blocks),
      inner=inner_loop.InnerLoop(**{"steps": 1, "num_support_sets": 2, "rate": 0.3, **inner}),
      transform=types.SimpleNamespace(size=SIZE), channels=CHANNELS,
      training=meta_schedules.MetaTraining(**training))
  context = types.SimpleNamespace(distribution=distribution.build(), seeds=seeds.Seeds(seed))
  learner.begin(tasks.Task("episode", tasks.SINGLE_LABEL, WAY * 2), context)
  rng = np.random.default_rng(seed)
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


def _gradients(loss_of, variables):
  """The loss and its gradients."""
  with tf.GradientTape() as tape:
    loss = loss_of()
  found = tape.gradient(loss, variables, unconnected_gradients="zero")
  return [loss, *map(tf.convert_to_tensor, found)]


def _assert_close(found, wanted):
  scale = max(np.abs(wanted).max(), 1e-3)
  np.testing.assert_allclose(found / scale, wanted / scale, atol=1e-5)


@pytest.mark.parametrize("inner, training, blocks", [
    (dict(), {}, 2),
    (dict(steps=2, norms_by_step=False, last_set_only=True, transductive=True,
          target_row="last"), dict(multi_step_epochs=2, second_order=False), 1),
])
def test_losses_gradients_and_answers_are_those_of_a_loop(inner, training, blocks):
  learner, batch = _learner(inner, training, blocks), _batch()
  found = _gradients(lambda: learner.meta_loss_together(batch)[0], learner.trainable_variables)
  for a, *parts in zip(found, *(
      _gradients(lambda e=e: learner.meta_loss([part[e] for part in batch])[0],
                 learner.trainable_variables) for e in range(EPISODES))):
    _assert_close(a, np.mean(parts, axis=0))
  _assert_close(learner.answers_together(batch[:3]),
                episode_graphs.Graphs(learner, WAY * 2).answer(tuple(batch[:3])))


def test_a_graph_costs_as_much_as_that_of_a_loop():
  images, labels, *targets = _batch()
  spec = episode_graphs.episodes_lib.Episode(*(tf.TensorSpec(part.shape, part.dtype) for part in (
      images[:, :1], labels[:, :1], *targets)))
  costs = []
  for batching in episode_graphs.BATCHINGS:
    graphs = episode_graphs.Graphs(
        _learner(dict(num_support_sets=1), {}, blocks=1), WAY * 2, batching=batching)
    asked = (graphs.update, spec), (graphs.answer, tuple(spec[:3]))
    costs.append([graphs.cost(*one) for one in asked])
  assert costs[0] == costs[1] and not costs[1][0].uncounted
  for cost, (fn, arguments) in zip(costs[1], asked):  # And what it does is as many products.
    assert flops.count(fn.get_concrete_function(arguments)).macs == cost.macs


def test_unknown_ways_and_learners_without_groups_are_refused():
  learner = learner_lib.EpisodicLearner()
  with pytest.raises(ValueError, match="batched by 'all'; allowed are loop, grouped"):
    episode_graphs.Graphs(learner, 2, batching="all")
  with pytest.raises(refusals.RefusedError, match="no grouped form.*task_batching = 'loop'"):
    episode_graphs.Graphs(learner, 2, batching="grouped")
