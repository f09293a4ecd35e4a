# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Tuning within episodes of digits: a head or a whole net, with and without what retains."""

from __future__ import annotations

import types

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import seeds
from suite.contracts import tasks
from suite.data.digits import digits
from suite.data.images import image_ops
from suite.learners import tune_in_episode
from suite.models.episodic import functional_conv4
from suite.protocols import cfsl
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import run_writer
from suite.training.episodic import set_tuning
from suite.training.gradient import frozen_backbone

NET = functional_conv4.Conv4(filters=8, blocks=2)
TASK = tasks.Task("episode", tasks.SINGLE_LABEL, 4)
OPTIONS = {"finetune": {}, "er": dict(memory=8), "ewc": dict(ewc=10.0), "lwf": dict(lwf=1.0)}


def make(net=None, steps=5, rate=0.05, **options):
  return tune_in_episode.TuneInEpisode(
      set_tuning.SetTuning(steps=steps, rate=rate, **options), transform=image_ops.Plain(8),
      net=net)


def context():
  return types.SimpleNamespace(distribution=distribution.build(), seeds=seeds.Seeds(0))


def run(learner, folder, test_episodes=40):
  writer = run_writer.RunWriter(folder, None, progress.Progress("x"))
  state = run_state.RunState(folder, writer, name="x", seed=0, distribution=distribution.build())
  train, test = (digits.episodes(way=2, shot=3, num_support_sets=2, split=split,
                                 classes=(6, 7, 8, 9)) for split in ("train", "test"))
  return cfsl.run(learner, state=state, episodes_train=train, episodes_test=test, updates=0,
                  test_episodes=test_episodes)


@pytest.mark.parametrize("name", OPTIONS)
def test_a_head_on_pixels_is_above_chance(name, tmp_path):
  summary = run(make(**OPTIONS[name]), tmp_path)
  assert summary["accuracy"] > 0.35  # By chance 0.25.
  assert summary["macs_per_task"] > 0 and not summary["transductive"]
  weights, rows = 4 * 193, 12 * 192
  extra = {"finetune": 0, "er": 8 * 192 + 8 * 2 + 8, "ewc": weights, "lwf": 4}[name]
  assert summary["atm"] == pytest.approx((weights + extra) / rows)


def test_replay_keeps_classes_of_the_first_set(tmp_path):
  er = run(make(memory=8), tmp_path / "er")
  plain = run(make(), tmp_path / "plain")
  assert er["accuracy"] > plain["accuracy"]


@pytest.mark.parametrize("options", [dict(), dict(memory=4, ewc=1.0, lwf=1.0)])
def test_a_whole_net_is_tuned(options, tmp_path):
  summary = run(make(NET, steps=2, **options), tmp_path, test_episodes=10)
  assert 0.2 < summary["accuracy"] <= 1.0 and summary["transductive"]
  assert summary["macs_per_task"] > 0


def test_episodes_change_no_variable_and_all_start_alike():
  learner = make(NET, memory=4)
  learner.begin(TASK, context())
  before = [v.numpy() for v in learner.variables]
  images = tf.random.stateless_uniform([4, 8, 8, 3], (1, 2), maxval=255.0)
  state = learner.initial_state(4)
  after = learner.adapt(state, learner.encode(images), tf.constant([0, 1, 2, 3]))
  assert np.abs(after.weights["head/bias"]).max() > 0
  for variable, value in zip(learner.variables, before):
    np.testing.assert_array_equal(variable, value)
  again = make(NET)
  again.begin(TASK, context())
  for one, other in zip(learner.variables, again.variables):
    np.testing.assert_array_equal(one, other)


def test_wrong_use_is_named():
  with pytest.raises(ValueError, match="both features and a net"):
    tune_in_episode.TuneInEpisode(set_tuning.SetTuning(), transform=image_ops.Plain(8),
                                  features=frozen_backbone.pixels, net=NET)
  with pytest.raises(ValueError, match="'m' is multi_label"):
    make().begin(tasks.Task("m", tasks.MULTI_LABEL, 3), context())
  learner = make()
  learner.begin(TASK, context())
  with pytest.raises(ValueError, match="has 6 classes, but the head was made for 4"):
    learner.initial_state(6)
  with pytest.raises(ValueError, match="1 channels, but .* made for 3. Set its channels = 1"):
    learner.encode(tf.zeros([1, 8, 8, 1]))
