# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""InfLoRA: directions by hand, and that the data of earlier phases sees no change."""

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
from suite.learners import inf_lora
from suite.models import vit
from suite.models import vit_hooks
from suite.state import context
from suite.state import journal
from suite.state import weight_store
from suite.training.gradient import hooked_vit
from suite.training.objectives import phase_classes

TASK = tasks.Task("t", tasks.SINGLE_LABEL, 4)


def test_directions_are_those_of_most_inputs_that_earlier_phases_did_not_use():
  moments, none = np.diag([5.0, 3.0, 2.0]), np.zeros([3, 3])
  np.testing.assert_allclose(np.abs(inf_lora.directions(none, moments, 2)), np.eye(3)[:, :2])
  used = np.diag([1.0, 0.0, 0.0])
  np.testing.assert_allclose(np.abs(inf_lora.directions(used, moments, 1)), [[0], [1], [0]])
  # Two are left for three columns.
  found = inf_lora.directions(used, moments, 3)
  np.testing.assert_allclose(np.abs(found), [[0, 0, 0], [1, 0, 0], [0, 1, 0]], atol=1e-12)


def test_the_projection_grows_by_the_fewest_directions_that_hold_the_share():
  moments = np.diag([5.0, 3.0, 2.0])
  for used, threshold, expected in (([0, 0, 0], 0.5, [1, 0, 0]), ([0, 0, 0], 0.51, [1, 1, 0]),
                                    ([0, 0, 1], 0.7, [1, 0, 1]), ([0, 1, 0], 0.3, [0, 1, 0]),
                                    ([1, 0, 0], 1.0, [1, 1, 1])):
    found = inf_lora.grown(np.diag(np.array(used, float)), moments, threshold)
    np.testing.assert_allclose(found, np.diag(expected), atol=1e-12)


def make(width):
  small = functools.partial(vit.vit, patch_size=4, layers=1, width=width, heads=2, mlp_size=12)
  net = hooked_vit.HookedVit(small, functools.partial(vit_hooks.GivenLowRank, rank=2), seed=1)
  tuned = gradient.GradientLearner(
      transform=image_ops.Plain(8), net=net, objective=phase_classes.PhaseClasses(), epochs=4,
      batch_size=4, learning_rate=0.5)
  return inf_lora.InfLora(tuned, transform=image_ops.Plain(8), threshold=1.0)


def test_features_of_earlier_phases_stay_while_those_of_new_ones_change(tmp_path):
  learner, account, shown, features = make(24), ledger.Ledger(), [], []
  rng = np.random.default_rng(0)
  for event, labels in enumerate(([0, 1], [2, 3])):  # Ten tokens each, of 24 directions.
    here = context.Context(
        event=event, ledger=account, seeds=seeds.Seeds(event), distribution=distribution.build(),
        store=weight_store.WeightStore(tmp_path, event), journal=journal.Journal(event, account))
    learner.begin(TASK, here)
    images = rng.integers(0, 256, [2, 8, 8, 3], dtype=np.uint8)
    part = image_set.ImageSet.from_arrays(
        "t", images, np.array(labels), kind=TASK.kind, num_classes=4)
    shown.append(images)
    features.append([learner.tuned.composed.features(i).numpy() for i in shown])
    record = learner.learn(deliveries.Experience(
        TASK, part, part, deliveries.History()), here)
    features.append([learner.tuned.composed.features(i).numpy() for i in shown])
  assert 10 <= record["directions"][0] <= 20
  before_first, after_first, before, after = features
  assert np.abs(after_first[0] - before_first[0]).max() > 0.01
  np.testing.assert_allclose(after[0], before[0], atol=1e-4)
  assert np.abs(after[1] - before[1]).max() > 0.01


def test_settings_that_do_not_fit_are_refused():
  learner = make(8)
  with pytest.raises(ValueError, match="threshold is 0; it must be above 0 and at most 1"):
    inf_lora.InfLora(learner.tuned, transform=image_ops.Plain(8), threshold=0)
