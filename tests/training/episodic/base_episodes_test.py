# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Rates and sizes of the meta-training on base classes."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.contracts import tasks
from suite.data.images import example_arrays
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.training.episodic import base_episodes


def test_the_rate_is_halved_every_forty_epochs():
  made = base_episodes.BaseEpisodes(updates_per_epoch=10)
  stairs = base_episodes.Stairs(0.01, 0.5, 400)
  found = [float(stairs(tf.constant(step))) for step in (0, 399, 400, 799, 800, 999)]
  np.testing.assert_allclose(found, [0.01, 0.01, 0.005, 0.005, 0.0025, 0.0025], rtol=1e-6)
  assert made.num_updates == 1000


def test_there_are_no_more_ways_than_base_classes():
  labels = np.repeat(np.arange(4), 12)
  source = base_episodes.BaseEpisodes(way=30, shot=5, targets=5).source(
      np.zeros([48, 2, 2, 3], np.uint8), labels, seed=0)
  assert source.setting.way == 4 and len(source.labels) == 4 * 10


def test_an_unknown_optimizer_is_refused():
  with pytest.raises(ValueError, match="'adam'; allowed are sgd, adamw"):
    base_episodes.BaseEpisodes(optimizer_name="adam")


def test_other_images_than_those_delivered_may_be_meta_trained_on():
  delivered = example_arrays.Examples(np.zeros([4, 2, 2, 3], np.uint8), np.array([0, 0, 1, 1]))
  transform = image_ops.Plain(2)
  assert base_episodes.BaseEpisodes().examples(delivered, transform) is delivered

  asked = []

  def pretraining():
    asked.append(True)
    return image_set.ImageSet.from_arrays(
        "pretraining", np.full([6, 2, 2, 3], 7, np.uint8), np.repeat(np.arange(3), 2),
        kind=tasks.SINGLE_LABEL, num_classes=3)

  made = base_episodes.BaseEpisodes(images=pretraining)
  assert not asked  # Read when the meta-training begins, not in a run that has done it.
  found = made.examples(delivered, transform)
  assert found.labels.tolist() == [0, 0, 1, 1, 2, 2] and found.images.max() == 7
