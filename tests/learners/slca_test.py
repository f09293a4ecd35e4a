# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""SLCA: numbers by hand, the rate of the backbone, and what an alignment changes."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import ledger
from suite.compute import seeds
from suite.contracts import deliveries
from suite.contracts import tasks
from suite.data.images import feature_set
from suite.learners import gradient
from suite.learners import slca
from suite.models import mlp
from suite.state import context
from suite.state import journal
from suite.state import weight_store
from suite.training.gradient import class_heads
from suite.training.gradient import optimizers
from suite.training.gradient import trainable_parts
from suite.training.memories import memory
from suite.training.memories import reservoir
from suite.training.objectives import phase_classes

TASK = tasks.Task("t", tasks.SINGLE_LABEL, 4)


def test_norms_scales_and_gaussians_by_hand():
  # Parts (3, 4) and (6) have the norms 5 and 6; the last class takes no part.
  phases = tf.constant([[1.0, 0], [1, 0], [0, 1], [0, 0]])
  found = slca.normed(tf.constant([[3.0, 4, 6, 9]]), phases, 0.1)
  np.testing.assert_allclose(found, np.array([[3.0, 4, 6, 9]]) / 0.55, rtol=1e-6)
  np.testing.assert_allclose(slca.scales(np.array([0, 1, 3])), [0.925, 0.95, 1.0])
  mean, covariance = slca.gaussian(np.array([[0.0, 1.0], [2, 1], [4, 4]], np.float32))
  np.testing.assert_allclose(mean, [2, 2])
  np.testing.assert_allclose(covariance, [[4.0001, 3], [3, 3.0001]])
  np.testing.assert_allclose(slca.gaussian(np.ones([1, 2]))[1], 1e-4 * np.eye(2))


def make(epochs=3, **changed):
  factor = functools.partial(slca.backbone_factor, share=0.5)
  tuned = gradient.GradientLearner(
      transform=feature_set.Features(6), objective=phase_classes.PhaseClasses(),
      net=trainable_parts.AllLayers(functools.partial(mlp.mlp, hidden=(5,))),
      optimizer=optimizers.Momentum(momentum=0.0, factor_of=factor),
      epochs=changed.pop("passes", 4), batch_size=8, learning_rate=0.1, **changed)
  return slca.Slca(tuned, transform=feature_set.Features(6), epochs=epochs, samples=64)


def learned(learner, tmp_path, deliver):
  """Records of phases, and the weights of the head and of its copy after each."""
  account, found, rng = ledger.Ledger(), [], np.random.default_rng(0)
  for event, labels in enumerate(deliver):
    here = context.Context(
        event=event, ledger=account, seeds=seeds.Seeds(event), distribution=distribution.build(),
        store=weight_store.WeightStore(tmp_path, event), journal=journal.Journal(event, account))
    learner.begin(TASK, here)
    of = np.repeat(labels, 20)
    features = rng.normal(size=[len(of), 6]) + 3.0 * np.eye(6)[of]
    part = feature_set.FeatureSet.from_arrays(
        "t", features.astype(np.float32), of, kind=TASK.kind, num_classes=4)
    record = learner.learn(deliveries.Experience(TASK, part, None, deliveries.History()), here)
    found.append((record, learner.tuned.composed.top.get_weights(),
                  [v.numpy() for v in learner.aligned], account.totals()["flops"]))
  return found, features, of


def test_the_copy_of_the_head_knows_all_classes_and_the_head_stays(tmp_path):
  learner = make()
  (first, second), features, of = learned(learner, tmp_path, [[0, 1], [2, 3]])
  # No alignment after the first phase.
  assert first[0]["alignment_loss"] is None
  for ours, theirs in zip(first[1], first[2]):
    np.testing.assert_array_equal(ours, theirs)
  assert 0 < second[0]["alignment_loss"] < np.log(4)
  assert all(not np.array_equal(a, b) for a, b in zip(second[1], second[2]))
  assert learner.phase_of.numpy().tolist() == [0, 0, 1, 1]
  # Gaussians of the last phase are those of the net as it is.
  hidden = learner.tuned.composed.features(tf.constant(features, tf.float32)).numpy()
  np.testing.assert_allclose(learner.means[2], hidden[of == 2].mean(axis=0), rtol=1e-5)
  np.testing.assert_allclose(learner.covariances[3], np.cov(hidden[of == 3].T) + 1e-4 * np.eye(5),
                             rtol=1e-4, atol=1e-6)
  answers = learner.predict(tf.constant(features, tf.float32))
  np.testing.assert_allclose(answers, hidden @ second[2][0] + second[2][1], rtol=1e-4, atol=1e-5)
  assert np.mean(np.argmax(answers, axis=1) == of) > 0.7
  # Without epochs of alignment fewer FLOPs are charged: 3 epochs of 4 steps, samples and factors.
  (_, plain), _, _ = learned(make(epochs=0), tmp_path / "plain", [[0, 1], [2, 3]])
  samples = 2 * 4 * (5 ** 3 // 6 + 3 * 64 * 5 ** 2)
  steps = 3 * 4 * 2 * (2 * 64 * 5 * 4)  # Products of the head, forward and of its gradient.
  assert samples + steps < second[3] - plain[3] < 3 * (samples + steps)
  for ours, theirs in zip(plain[1], second[1]):
    np.testing.assert_array_equal(ours, theirs)


def test_the_backbone_has_its_share_of_the_rate():
  head = tf.Variable([1.0], name="head/logits/kernel")
  below = tf.Variable([1.0], name="mlp/dense/kernel")
  momentum = optimizers.Momentum(momentum=0.0, factor_of=slca.backbone_factor)
  momentum.build([head, below]).apply([tf.constant([1.0])] * 2, [head, below], tf.constant(0.5))
  np.testing.assert_allclose([head.numpy(), below.numpy()], [[0.5], [0.995]])
  top = class_heads.Linear().make(5, 3, is_input=False)
  assert [slca.backbone_factor(v) for v in top.trainable_variables] == [1.0, 1.0]


def test_a_head_without_linear_answers_is_refused():
  with pytest.raises(ValueError, match="Slca.tuned has the head NearestExemplars; a linear one"):
    make(head=class_heads.NearestExemplars(), memory=memory.Memory(8, reservoir.Reservoir()),
         train_on="both")
