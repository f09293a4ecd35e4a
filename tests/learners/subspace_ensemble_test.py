# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""EASE: adapters of each phase, prototypes in all subspaces, and answers from them, by hand."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from suite.compute import distribution
from suite.compute import ledger
from suite.compute import seeds
from suite.contracts import deliveries
from suite.contracts import tasks
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.learners import gradient
from suite.learners import learner_each_task
from suite.learners import subspace_ensemble
from suite.models import vit
from suite.models import vit_hooks
from suite.state import context
from suite.state import journal
from suite.state import weight_store
from suite.training.gradient import hooked_vit
from suite.training.objectives import phase_classes

SMALL = functools.partial(vit.vit, patch_size=4, layers=1, width=8, heads=2, mlp_size=12)
TASK = tasks.Task("t", tasks.SINGLE_LABEL, 4)



def test_an_old_class_takes_the_new_subspace_from_similar_new_classes():
  # Class 0 is old, in subspace 0, where class 2 has its direction and class 3 a right angle to it.
  prototypes = np.zeros([4, 2, 2], np.float32)
  prototypes[0, 0], prototypes[2, 0], prototypes[3, 0] = [2, 0], [1, 0], [0, 5]
  prototypes[2, 1], prototypes[3, 1] = [1, 3], [7, -1]
  old, now = np.array([1, 0, 0, 0], bool), np.array([0, 0, 1, 1], bool)
  found = subspace_ensemble.completed(prototypes, np.array([0, -1, 1, 1]), old, now, 1)
  share = np.e / (np.e + 1)
  np.testing.assert_allclose(found, [[share + 7 * (1 - share), 3 * share - (1 - share)]], rtol=1e-6)


def test_prototypes_are_made_again_from_all_later_classes(tmp_path):
  """Each class of one of three phases, against loops over phases, subspaces and classes."""
  learner, account, rng = make(subspaces=3), ledger.Ledger(), np.random.default_rng(1)
  means = np.zeros([4, 3, 0])
  for event, labels in enumerate(([0] * 4, [1, 2, 2, 1], [3] * 4)):
    here = context.Context(
        event=event, ledger=account, seeds=seeds.Seeds(event), distribution=distribution.build(),
        store=weight_store.WeightStore(tmp_path, event), journal=journal.Journal(event, account))
    learner.begin(TASK, here)
    part = image_set.ImageSet.from_arrays(
        "t", rng.integers(0, 256, [4, 8, 8, 3], dtype=np.uint8), np.array(labels), kind=TASK.kind,
        num_classes=4)
    learner.learn(deliveries.Experience(TASK, part, part, deliveries.History()), here)
    found = learner.prototypes.numpy()
    if not event:
      means = np.zeros(found.shape)
    for c in set(labels):  # These see all subspaces so far.
      means[c, :event + 1] = found[c, :event + 1]
  came = [0, 1, 1, 2]
  for c in range(4):
    for s in range(came[c] + 1, 3):
      later = [n for n in range(4) if came[n] >= s]
      cosines = [means[c, came[c]] @ means[n, came[c]] / np.linalg.norm(means[c, came[c]])
                 / np.linalg.norm(means[n, came[c]]) for n in later]
      shares = np.exp(cosines) / np.exp(cosines).sum()
      expected = sum(share * means[n, s] for share, n in zip(shares, later))
      np.testing.assert_allclose(found[c, s], expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(found[c, :came[c] + 1], means[c, :came[c] + 1])


def test_the_own_subspace_counts_as_one_and_all_others_share_a_part():
  weights = subspace_ensemble.weights_of(np.array([0, 2, 2]), 3, 0.1)
  np.testing.assert_allclose(
      weights, [[1, .05, .05], [.05, .05, 1], [.05, .05, 1]], rtol=1e-6)
  np.testing.assert_allclose(subspace_ensemble.weights_of(np.array([0]), 1, 0.1), [[1]])


def test_means_of_labels_and_of_several_labels_an_image():
  features = np.array([[[1.0]], [[3.0]], [[8.0]]])
  means, there = subspace_ensemble.class_means(features, np.array([1, 1, 0]), 3)
  np.testing.assert_array_equal(means[:, 0, 0], [8, 2, 0])
  assert there.tolist() == [True, True, False]
  means, _ = subspace_ensemble.class_means(features, np.array([[1, 0], [1, 1], [0, 1]]), 2)
  np.testing.assert_array_equal(means[:, 0, 0], [2, 5.5])


def make(**settings):
  net = hooked_vit.HookedVit(
      SMALL, functools.partial(vit_hooks.Adapters, bottleneck=4), seed=1)
  tuned = gradient.GradientLearner(
      transform=image_ops.Plain(8), net=net, objective=phase_classes.PhaseClasses(), reset=True,
      epochs=2, batch_size=4, learning_rate=0.5)
  return subspace_ensemble.SubspaceEnsemble(tuned, transform=image_ops.Plain(8), **settings)


def test_each_phase_has_a_subspace_and_the_last_one_serves_further_phases(tmp_path):
  learner, account, weights, shown = make(subspaces=2, recalculate=False), ledger.Ledger(), [], []
  rng = np.random.default_rng(0)
  for event, labels in enumerate(([0, 1, 1, 0], [2] * 4, [3] * 4)):
    here = context.Context(
        event=event, ledger=account, seeds=seeds.Seeds(event), distribution=distribution.build(),
        store=weight_store.WeightStore(tmp_path, event), journal=journal.Journal(event, account))
    learner.begin(TASK, here)
    images = rng.integers(0, 256, [len(labels), 8, 8, 3], dtype=np.uint8)
    part = image_set.ImageSet.from_arrays(
        "t", images, np.array(labels), kind=TASK.kind, num_classes=4)
    record = learner.learn(deliveries.Experience(
        TASK, part, part, deliveries.History()), here)
    assert record["subspaces"] == min(event + 1, 2)
    weights.append(learner.tuned.composed.upper.get_weights())
    shown.append(images)
  assert int(learner.tuned.phases) == 2
  for kept, *trained in zip(learner.adapters, *weights):
    np.testing.assert_array_equal(kept, trained[:2])
    assert np.abs(trained[0] - trained[1]).max() > 0  # From new weights.
  layer = learner.tuned.composed.upper.layers[-1]
  features = [np.stack([layer.features(images, [a[s] for a in learner.adapters]).numpy()
                        for s in range(2)], axis=1) for images in shown]
  prototypes = learner.prototypes.numpy()
  np.testing.assert_allclose(prototypes[2:], [features[1].mean(0), features[2].mean(0)], atol=1e-5)
  # There is one new class in the second phase: both old ones have its prototype.
  np.testing.assert_allclose(prototypes[:2, 1], [prototypes[2, 1]] * 2, atol=1e-5)
  np.testing.assert_allclose(
      prototypes[:2, 0], [features[0][[0, 3], 0].mean(0), features[0][1:3, 0].mean(0)], atol=1e-5)
  cosines = [[f @ p / np.linalg.norm(f) / np.linalg.norm(p) for f, p in zip(features[2][0], rows)]
             for rows in prototypes]
  own = np.array([[1, .1], [1, .1], [.1, 1], [.1, 1]])
  np.testing.assert_allclose(
      learner.predict(shown[2][:1])[0], (own * cosines).sum(axis=1), atol=1e-4)


def test_separate_tasks_have_an_ensemble_each():
  learner = make()
  assert learner.form(deliveries.BUCKETS) is learner
  assert isinstance(learner.form(deliveries.TASKS), learner_each_task.LearnerEachTask)


def test_compositions_that_keep_their_weights_are_refused():
  tuned = make().tuned
  tuned._reset = False
  with pytest.raises(ValueError, match="give it a HookedVit with vit_hooks.Adapters, and reset"):
    subspace_ensemble.SubspaceEnsemble(tuned, transform=image_ops.Plain(8))
  with pytest.raises(ValueError, match="subspaces is 0; it must be at least 1"):
    make(subspaces=0)
