# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Pretrain + Tune: trained on classes of the data set, tuned by plain steps."""

import types

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import seeds
from suite.contracts import tasks
from suite.data.episodes import episodes
from suite.data.episodes import task_types
from suite.learners import pretrain_tune
from suite.models.episodic import functional_conv4
from suite.training.episodic import inner_loop
from suite.training.episodic import meta_schedules

WAY, SIZE, CLASSES = 2, 4, 6
NET = functional_conv4.Conv4(filters=3, blocks=2)


def _learner(seed=0, **inner):
  settings = {"steps": 3, "num_support_sets": 2, "rate": 0.5, "learn_rates": False, **inner}
  learner = pretrain_tune.PretrainTune(
      NET, inner=inner_loop.InnerLoop(**settings), transform=types.SimpleNamespace(size=SIZE),
      num_classes=CLASSES, channels=1,
      training=meta_schedules.MetaTraining(learning_rate=0.05, weight_decay=1e-4))
  context = types.SimpleNamespace(distribution=distribution.build(), seeds=seeds.Seeds(seed))
  learner.begin(tasks.Task("episode", tasks.SINGLE_LABEL, 2 * WAY), context)
  return learner


def _episode(with_classes=True):
  """2 sets of one image for 2 classes each, 3 targets a class."""
  rng = np.random.default_rng(0)
  labels = np.repeat(np.arange(CLASSES), 4)
  source = episodes.Episodes(
      rng.integers(0, 256, [24, SIZE, SIZE, 1]).astype(np.uint8), labels,
      task_types.Setting(WAY, 1, 3, 2, 1, False), with_classes=with_classes)
  return source.episode(0)


def _train(learner, episode, updates):
  @tf.function(autograph=False)
  def differentiated():
    with tf.GradientTape() as tape:
      loss, seen = learner.meta_loss(episode)
    assert seen == learner.zero_statistics() == ()
    return loss, tape.gradient(loss, learner.trainable_variables, unconnected_gradients="zero")

  for _ in range(updates):
    loss, gradients = differentiated()
    learner.optimizer.apply_gradients(zip(gradients, learner.trainable_variables))
  return float(loss)


def test_the_loss_is_that_of_all_images_against_their_classes():
  learner, episode = _learner(), _episode()
  adapted = learner._adapted
  images = np.concatenate([episode.support_images.reshape(-1, SIZE, SIZE, 1),
                           episode.target_images])
  classes = np.concatenate([episode.support_classes.ravel(), episode.target_classes])
  weights = {**adapted.weights, **learner._class_head}
  row = functional_conv4.Norms(tf.ones([2, 3]), tf.zeros([2, 3]))
  logits = NET.apply(weights, row, NET.prepare(images))
  assert logits.shape == (16, CLASSES) and len(set(classes)) == 2 * WAY
  expected = inner_loop.cross_entropy(classes, logits)
  assert float(learner.meta_loss(episode)[0]) == pytest.approx(float(expected), rel=1e-6)


def test_training_learns_the_classes_and_leaves_the_tasks_head_alone():
  learner, episode = _learner(), _episode()
  before = {name: value.numpy() for name, value in learner._adapted.weights.items()}
  first = float(learner.meta_loss(episode)[0])
  assert _train(learner, episode, 31) < 0.5 * first
  after = learner._adapted.weights
  for name in ("head/kernel", "head/bias"):
    np.testing.assert_array_equal(after[name], before[name])
  assert np.abs(after["block1/kernel"] - before["block1/kernel"]).max() > 1e-3
  assert learner._class_head["head/kernel"].shape == (3, CLASSES)


def test_it_tunes_by_plain_steps_on_every_set():
  learner, episode = _learner(transductive=True), _episode()
  inner = learner._adapted.inner
  state = learner.initial_state(2 * WAY)
  weights = dict(state.weights)
  for s in range(2):
    state = learner.adapt(state, episode.support_images[s], episode.support_labels[s])
    for _ in range(inner.steps):
      with tf.GradientTape() as tape:
        tape.watch(weights)
        row = functional_conv4.Norms(tf.ones([2, 3]), tf.zeros([2, 3]))
        loss = inner_loop.cross_entropy(
            episode.support_labels[s],
            NET.apply(weights, row, NET.prepare(episode.support_images[s])))
      gradients = tape.gradient(loss, weights, unconnected_gradients="zero")
      weights = {name: w - 0.5 * gradients[name] for name, w in weights.items()}
  for name, expected in weights.items():
    np.testing.assert_allclose(state.weights[name], expected, rtol=1e-4, atol=1e-6)
  assert learner.logits(state, episode.target_images).shape == (12, 2 * WAY)
  assert learner.transductive


def test_what_cannot_be_is_refused():
  with pytest.raises(ValueError, match="with_classes = True"):
    _learner().meta_loss(_episode(with_classes=False))
  with pytest.raises(ValueError, match="learn_rates = False"):
    _learner(learn_rates=True)
