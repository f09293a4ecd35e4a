# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Meta-training of a net on the first data that a learner of tasks or sequences is delivered."""

from __future__ import annotations

import dataclasses
from typing import Any

from suite.compute import distribution as distribution_lib
from suite.contracts import learner as learner_lib
from suite.contracts import tasks
from suite.contracts import transform as transform_lib
from suite.data.images import example_arrays
from suite.state import context as context_lib
from suite.training.episodic import base_episodes
from suite.training.episodic import episode_graphs


def check_images(transform: transform_lib.Transform, owner: str, instead: str) -> None:
  """Raises an error for a transform that makes feature vectors.

  Args:
    transform: of the learner.
    owner: the learner's name.
    instead: a learner that takes feature vectors.
  """
  shape = example_arrays.shape(transform)
  if len(shape) != 3:
    raise ValueError(
        f"{owner}.transform makes feature vectors {shape}, but its net is meta-trained on images. "
        f"Give it a transform of images, or take {instead} on the features.")


def begin(net: learner_lib.EpisodicLearner, episodes: base_episodes.BaseEpisodes,
          context: context_lib.Context) -> None:
  """Makes the net's variables on one device: an update has one episode, which is not shared."""
  alone = dataclasses.replace(context, distribution=distribution_lib.build())
  net.begin(tasks.Task("episodes", tasks.SINGLE_LABEL, episodes.way), alone)


def train(net: learner_lib.EpisodicLearner, episodes: base_episodes.BaseEpisodes,
          delivered: example_arrays.Examples, transform: transform_lib.Transform,
          context: context_lib.Context) -> dict[str, Any]:
  """Meta-trains a net that has begun; returns values for the record.

  Args:
    net: a `MetaLearner`.
    episodes: the episodes and their schedule.
    delivered: the images to train on, as `transform` prepares them, unless `episodes` has others.
    transform: of the learner.
    context: charged.
  """
  read = episodes.examples(delivered, transform)
  graphs = episode_graphs.Graphs(net, episodes.way)
  return episodes.run(graphs.update, read.images, read.labels, context)
