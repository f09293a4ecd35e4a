# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""APER: the net is adapted once, and prototypes are class means of both nets' features."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import ledger
from suite.compute import seeds
from suite.contracts import deliveries
from suite.contracts import tasks
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.learners import adapted_statistics
from suite.learners import gradient
from suite.models import mlp
from suite.models import vit
from suite.models import vit_hooks
from suite.state import context
from suite.state import journal
from suite.state import weight_store
from suite.training.gradient import frozen_backbone
from suite.training.gradient import hooked_vit
from suite.training.gradient import trainable_parts
from suite.training.statistics import class_means

SMALL = functools.partial(vit.vit, patch_size=4, layers=1, width=8, heads=2, mlp_size=12)
TASK = tasks.Task("t", tasks.SINGLE_LABEL, 3)


def make():
  net = hooked_vit.HookedVit(
      SMALL, functools.partial(vit_hooks.Adapters, bottleneck=4), seed=1)
  tuned = gradient.GradientLearner(
      transform=image_ops.Plain(8), net=net, epochs=2, batch_size=4, learning_rate=0.5)
  return adapted_statistics.AdaptedStatistics(
      tuned, class_means.ClassMeans("cosine"), transform=image_ops.Plain(8))


def context_in(folder):
  account = ledger.Ledger()
  return context.Context(
      event=0, ledger=account, seeds=seeds.Seeds(0), distribution=distribution.build(),
      store=weight_store.WeightStore(folder, 0), journal=journal.Journal(0, account))


def test_prototypes_are_class_means_of_both_nets_features_joined(tmp_path):
  learner, here = make(), context_in(tmp_path)
  learner.begin(TASK, here)
  rng, weights, means, shown = np.random.default_rng(0), [], {}, []
  for labels in ([0, 1, 1, 1], [2] * 4):
    images = rng.integers(0, 256, [len(labels), 8, 8, 3], dtype=np.uint8)
    part = image_set.ImageSet.from_arrays(
        "t", images, np.array(labels), kind=TASK.kind, num_classes=3)
    learner.learn(deliveries.Experience(TASK, part, part, deliveries.History()), here)
    weights.append(learner.tuned.composed.upper.get_weights())
    shown.append((images, np.array(labels)))
  assert int(learner.tuned.phases) == 1
  assert all(np.abs(w).max() > 0 for w in weights[0])  # All but the first began at zero.
  for first, later in zip(*weights):  # The second delivery trains nothing.
    np.testing.assert_array_equal(first, later)
  frozen = frozen_backbone.FrozenBackbone(SMALL, 8, seed=1)
  adapted = learner.tuned.composed.features
  for images, labels in shown:
    joined = np.concatenate([frozen(tf.constant(images)), adapted(images)], axis=1)
    means.update({c: joined[labels == c].mean(axis=0) for c in set(labels.tolist())})
  prototypes = class_means.means(learner.statistics.state).numpy()
  np.testing.assert_allclose(prototypes, [means[c] for c in range(3)], atol=1e-5)
  image = shown[1][0][:1]
  feature = np.concatenate([frozen(tf.constant(image)), adapted(image)], axis=1)[0]
  cosines = [feature @ p / np.linalg.norm(feature) / np.linalg.norm(p) for p in prototypes]
  np.testing.assert_allclose(learner.predict(image)[0], cosines, atol=1e-5)
  (nets,), (answers,) = learner.mac_layers()
  assert (nets.trained, answers.macs) == (False, 3 * 16)  # Products with 3 means of 2 x 8 features.
  # Four patches of 48 values to width 8; of five tokens query, key, value and output, attention of
  # each to each, and an MLP of 12; beside it adapters of 4.
  frozen_macs = 4 * 48 * 8 + 5 * 4 * 8 * 8 + 2 * 5 * 5 * 8 + 2 * 5 * 8 * 12
  assert nets.macs == 2 * frozen_macs + 2 * 5 * 8 * 4
  # A second task gets its own class means; its adapters are not trained.
  net, statistics = learner.tuned.composed, learner.statistics
  learner.begin(dataclasses.replace(TASK, name="u", num_classes=2), here)
  assert learner.tuned.composed is net and learner.statistics is not statistics
  assert learner.statistics.num_classes == 2


def test_a_learner_without_a_transformer_is_refused():
  tuned = gradient.GradientLearner(
      transform=image_ops.Plain(8), net=trainable_parts.AllLayers(mlp.mlp), epochs=1)
  with pytest.raises(ValueError, match="tuned has the net AllLayers; give it a HookedVit"):
    adapted_statistics.AdaptedStatistics(
        tuned, class_means.ClassMeans("cosine"), transform=image_ops.Plain(8))
