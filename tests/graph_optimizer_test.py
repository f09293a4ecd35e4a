# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""TensorFlow's graph optimizer, which most tests run without, changes no result but by rounding."""

from __future__ import annotations

import contextlib
import types

import matrix_runs
import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import seeds
from suite.configs import methods
from suite.contracts import tasks
from suite.data.episodes import episodes
from suite.data.episodes import task_types
from suite.data.images import image_ops
from suite.learners import maml
from suite.models.episodic import functional_conv4
from suite.training.episodic import episode_graphs
from suite.training.episodic import inner_loop
from suite.training.episodic import meta_schedules

METHODS = {method.name: method for method in methods.load()}


@contextlib.contextmanager
def _optimizer(on):
  before = tf.config.optimizer.get_experimental_options()
  tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": not on})
  try:
    yield
  finally:
    tf.config.optimizer.set_experimental_options(
        {"disable_meta_optimizer": before.get("disable_meta_optimizer", False)})


def _numbers(value, path=""):
  """(path, number) of all numbers of a summary, times aside."""
  if isinstance(value, dict):
    return [n for key, part in value.items() if "seconds" not in key and "date" not in key
            for n in _numbers(part, f"{path}/{key}")]
  if isinstance(value, list):
    return [n for i, part in enumerate(value) for n in _numbers(part, f"{path}/{i}")]
  return [(path, value)] if isinstance(value, (int, float)) else []


def test_a_run_gives_the_same_with_it_and_without(tmp_path):
  found = []
  for on in (True, False):
    with _optimizer(on):
      found.append(dict(_numbers(
          matrix_runs.CellRun(tmp_path / str(on), METHODS["er"], "clear", "EPOCHS = 1").whole(0))))
  with_it, without = found
  assert with_it.keys() == without.keys() and len(with_it) > 3
  for path, number in with_it.items():
    # FLOPs and other whole numbers are exact.
    expected = number if isinstance(number, int) else pytest.approx(number, rel=1e-3, abs=0.02)
    assert without[path] == expected, path


def _meta_updates():
  """Losses of updates of MAML, through second derivatives, and the answers afterwards."""
  setting = task_types.Setting(way=3, shot=1, targets=2, num_support_sets=1)
  learner = maml.Maml(
      functional_conv4.Conv4(filters=4, blocks=1),
      inner=inner_loop.InnerLoop(steps=1, rate=0.1), transform=image_ops.AsStored(8), channels=1,
      training=meta_schedules.MetaTraining())
  learner.begin(tasks.Task("episode", tasks.SINGLE_LABEL, setting.num_labels),
                types.SimpleNamespace(distribution=distribution.build(), seeds=seeds.Seeds(0)))
  graphs = episode_graphs.Graphs(learner, setting.num_labels)
  images = np.random.default_rng(0).integers(0, 256, (30, 8, 8, 1), dtype=np.uint8)
  batch = next(iter(episodes.Episodes(images, np.repeat(np.arange(6), 5), setting).batches(2)))
  losses = [float(graphs.update(batch)) for _ in range(3)]
  return [*losses, *np.ravel(graphs.answer(tuple(batch[:3])))]


def test_meta_updates_are_the_same_with_it_and_without():
  found = []
  for on in (True, False):
    with _optimizer(on):
      found.append(_meta_updates())
  assert found[0][0] > found[0][2]  # It learns.
  np.testing.assert_allclose(*found, rtol=1e-3, atol=1e-3)
