# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Steps on support sets against numpy, for a linear head of one feature and two classes; and tuning
within episodes of digits: a head or a whole net, with and without what retains.
"""

from __future__ import annotations

import types

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import seeds
from suite.contracts import deliveries
from suite.contracts import refusals
from suite.contracts import tasks
from suite.data.digits import digits
from suite.data.images import image_ops
from suite.learners import gradient
from suite.models.episodic import functional_conv4
from suite.protocols import cfsl
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import run_writer
from suite.training.episodic import set_tuning
from suite.training.gradient import class_heads
from suite.training.gradient import optimizers
from suite.training.gradient import trainable_parts
from suite.training.memories import memory
from suite.training.memories import reservoir
from suite.training.objectives import ewc
from suite.training.objectives import lwf

NET = functional_conv4.Conv4(filters=4, blocks=1)
TASK = tasks.Task("episode", tasks.SINGLE_LABEL, 4)
START = {"head/kernel": tf.zeros([1, 2]), "head/bias": tf.zeros([2])}


def apply(weights, codes):
  return tf.matmul(codes, weights["head/kernel"]) + weights["head/bias"]


def tuning(epochs, rate, **settings):
  return set_tuning.SetTuning(epochs=epochs, learning_rate=rate, **settings)


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
  _, after = learn(tuning(1, 1.0), ([2.0], [0]))
  # At zero both probabilities are 1/2: the gradient is (-1/2, 1/2), times 2 for the kernel.
  np.testing.assert_allclose(parameters(after), [[1, -1], [0.5, -0.5]])
  assert after.memory == after.term == ()


def test_each_set_continues_from_the_weights_after_the_one_before():
  _, one, two = learn(tuning(1, 1.0), ([2.0], [0]), ([1.0, -1.0], [1, 0]))
  w = parameters(one)
  expected = w - residuals(w, np.array([1.0, -1.0]), [1, 0]).mean(0)
  np.testing.assert_allclose(parameters(two), expected, rtol=1e-5)


def test_memory_holds_the_last_rows_and_counts_only_filled_ones():
  before, one, two, three = learn(
      tuning(1, 1.0, memory=3), ([2.0], [0]), ([1.0, -1.0], [1, 0]), ([4.0], [1]))
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
  penalty = ewc.Ewc(1.5, decay=1.0, fisher="true", anchor="last").in_episodes()
  sets = [(np.array([2.0, 0.5]), [0, 1]), (np.array([1.0]), [1])]
  states = learn(tuning(2, 0.5, term=penalty), *sets)
  w, fisher = np.zeros([2, 2]), np.zeros([2, 2])
  for (codes, labels), state in zip(sets, states[1:]):
    anchor = w
    for _ in range(2):
      w = w - 0.5 * (residuals(w, codes, labels).mean(0) + 3.0 * fisher * (w - anchor))
    fisher = fisher + (residuals(w, codes, labels) ** 2).mean(0)
    np.testing.assert_allclose(parameters(state), w, rtol=1e-4)
    found = np.concatenate([state.term["head/kernel"], state.term["head/bias"][None]])
    np.testing.assert_allclose(found, fisher, rtol=1e-4)


def test_distillation_pulls_towards_the_answers_before_the_set():
  pulled = tuning(2, 0.5, term=lwf.Lwf(4.0, 2.0).in_episodes())
  first, second = (np.array([2.0, -1.0]), [0, 1]), (np.array([1.0]), [1])
  _, one, two = learn(pulled, first, second)
  plain = learn(tuning(2, 0.5), first)[-1]
  np.testing.assert_array_equal(parameters(one), parameters(plain))  # No class was shown before.
  np.testing.assert_array_equal(one.term, [1, 1])
  codes, labels = second
  w = old = parameters(one)
  x = np.stack([codes, np.ones(1)], 1)
  for _ in range(2):
    pull = x.T @ (softmax(x @ w / 2.0) - softmax(x @ old / 2.0)) / 2.0
    w = w - 0.5 * (residuals(w, codes, labels).mean(0) + 4.0 * pull)
  np.testing.assert_allclose(parameters(two), w, rtol=1e-4)


def test_distillation_leaves_classes_out_that_were_not_shown():
  pulled = tuning(2, 0.5, term=lwf.Lwf(4.0).in_episodes())
  sets = (np.array([2.0]), [0]), (np.array([1.0]), [1])
  # Class 0 alone was shown: a softmax over one class is always 1, so nothing is pulled.
  found = learn(pulled, *sets)[-1]
  plain = learn(tuning(2, 0.5), *sets)[-1]
  np.testing.assert_allclose(parameters(found), parameters(plain), rtol=1e-6)


def test_one_quadratic_a_set_is_anchored_at_the_mean_weighted_by_the_information():
  penalty = ewc.Ewc(1.5, fisher="avalanche", anchor="each", share=0.5).in_episodes()
  sets = [(np.array([2.0, 0.5]), [0, 1]), (np.array([1.0]), [1]), (np.array([-1.0]), [0])]
  states = learn(tuning(2, 0.5, term=penalty), *sets)
  w, fisher, anchor = (np.zeros([2, 2]) for _ in range(3))
  for (codes, labels), state in zip(sets, states[1:]):
    for _ in range(2):
      slope = residuals(w, codes, labels).mean(0)
      w = w - 0.5 * (0.5 * slope + 3.0 * fisher * (w - anchor))
    new = residuals(w, codes, labels).mean(0) ** 2
    anchor, fisher = (fisher * anchor + new * w) / (fisher + new), fisher + new
    np.testing.assert_allclose(parameters(state), w, rtol=1e-4)


def test_momentum_and_decay_are_those_of_the_optimizer():
  _, after = learn(
      tuning(2, 0.5, optimizer=optimizers.Momentum(0.9, 0.1)), (np.array([2.0]), [0]))
  w, velocity = np.zeros([2, 2]), np.zeros([2, 2])
  for _ in range(2):
    velocity = 0.9 * velocity + residuals(w, np.array([2.0]), [0]).mean(0) + 0.1 * w
    w = w - 0.5 * velocity
  np.testing.assert_allclose(parameters(after), w, rtol=1e-5)


def test_a_set_larger_than_the_batch_is_refused():
  with pytest.raises(refusals.RefusedError, match="2 rows, but GradientLearner.batch_size is 1"):
    learn(tuning(1, 1.0, batch_size=1), ([1.0, 2.0], [0, 1]))


METHODS = {
    "finetune": {}, "ewc": dict(objective=ewc.Ewc(5.0, 1.0, "true")),
    "lwf": dict(objective=lwf.Lwf(1.0, 2.0)),
    "er": dict(memory=memory.Memory(8, reservoir.Latest()), replay_batch=8)}


def learner_of(net=None, **settings):
  return gradient.GradientLearner(**{**dict(
      transform=image_ops.Plain(8), net=net or trainable_parts.HeadOnly(), epochs=5,
      learning_rate=0.05, head=class_heads.Linear("zeros"),
      optimizer=optimizers.Momentum(0.0)), **settings})


def whole_net(**settings):
  return set_tuning.TuneInEpisode(
      tuning(2, 0.05, **settings), transform=image_ops.Plain(8), net=NET)


def context():
  return types.SimpleNamespace(distribution=distribution.build(), seeds=seeds.Seeds(0))


def run(learner, folder, test_episodes=40):
  writer = run_writer.RunWriter(folder, None, progress.Progress("x"))
  state = run_state.RunState(folder, writer, name="x", seed=0, distribution=distribution.build())
  train, test = (digits.episodes(way=2, shot=3, num_support_sets=2, split=split,
                                 classes=(6, 7, 8, 9)) for split in ("train", "test"))
  return cfsl.run(learner, state=state, episodes_train=train, episodes_test=test, updates=0,
                  test_episodes=test_episodes)


@pytest.fixture(name="summaries", scope="module")
def _summaries(tmp_path_factory):
  return {name: run(learner_of(**settings), tmp_path_factory.mktemp(name))
          for name, settings in METHODS.items()}


@pytest.mark.parametrize("name", METHODS)
def test_a_gradient_learner_tunes_a_head_above_chance(name, summaries):
  summary = summaries[name]
  assert summary["accuracy"] > 0.35  # By chance 0.25.
  assert summary["macs_per_task"] > 0 and not summary["transductive"]
  weights, rows = 4 * 193, 12 * 192
  extra = {"finetune": 0, "er": 8 * 192 + 8 * 2 + 8, "ewc": weights, "lwf": 4}[name]
  assert summary["atm"] == pytest.approx((weights + extra) / rows)


def test_replay_keeps_classes_of_the_first_set(summaries):
  assert summaries["er"]["accuracy"] > summaries["finetune"]["accuracy"]


def test_a_whole_net_is_tuned(tmp_path):
  net = whole_net(memory=4, term=ewc.Ewc(0.5).in_episodes())
  summary = run(net, tmp_path, test_episodes=10)
  assert 0.2 < summary["accuracy"] <= 1.0 and summary["transductive"]
  assert summary["macs_per_task"] > 0


def test_episodes_change_no_variable_and_all_start_alike():
  learner = whole_net(memory=4)
  learner.begin(TASK, context())
  before = [v.numpy() for v in learner.variables]
  images = tf.random.stateless_uniform([4, 8, 8, 3], (1, 2), maxval=255.0)
  state = learner.initial_state(4)
  after = learner.adapt(state, learner.encode(images), tf.constant([0, 1, 2, 3]))
  assert np.abs(after.weights["head/bias"]).max() > 0
  for variable, value in zip(learner.variables, before):
    np.testing.assert_array_equal(variable, value)
  again = whole_net()
  again.begin(TASK, context())
  for one, other in zip(learner.variables, again.variables):
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("settings, message", [
    (dict(net=trainable_parts.AllLayers(lambda shape: None)), "the net AllLayers.*Take HeadOnly"),
    (dict(head=class_heads.Linear()), "the head Linear, 'glorot'.*Take Linear"),
    (dict(head=class_heads.Split()), "the head Split"),
    (dict(train_on="all"), "train_on='all' and reset=False"),
    (dict(reset=True), "train_on='current' and reset=True"),
    (dict(memory=memory.Memory(8, reservoir.Reservoir()), replay_batch=8),
     "a memory with the rule Reservoir.*Take reservoir.Latest"),
    (dict(memory=memory.Memory(8, reservoir.Latest()), replay_batch=4),
     "replay_batch=4 for 8 slots"),
    (dict(optimizer=tf.keras.optimizers.Adam), "a Keras optimizer"),
    (dict(optimizer=optimizers.Momentum(0.9, keep=True)), "keeps velocities"),
    (dict(epochs=0.5), "epochs is 0.5; .*a whole number"),
    (dict(objective=ewc.Ewc(anchor="first")), "anchor is 'first'"),
    (dict(objective=lwf.Lwf(teacher="first")), "the teacher 'first'")])
def test_what_has_no_functional_form_is_refused_for_episodes(settings, message):
  with pytest.raises(refusals.RefusedError, match=message):
    learner_of(**settings).form(deliveries.EPISODES)


def test_wrong_use_is_named():
  learner = learner_of().form(deliveries.EPISODES)
  with pytest.raises(refusals.RefusedError, match="multi_label tasks, too"):
    learner.begin(tasks.Task("m", tasks.MULTI_LABEL, 3), context())
  learner.begin(TASK, context())
  with pytest.raises(ValueError, match="has 6 classes, but the head was made for 4"):
    learner.initial_state(6)
  with pytest.raises(refusals.RefusedError, match="1 channels, but .*makes 3"):
    learner.encode(tf.zeros([1, 8, 8, 1]))
