# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A stream of tasks, each with a head of its own on shared layers."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import stopped_runs

from suite.contracts import tasks
from suite.data.digits import digits
from suite.data.images import image_ops
from suite.data.streams import streams
from suite.learners import gradient
from suite.models import conv4
from suite.protocols import nevis
from suite.training.gradient import class_heads
from suite.training.gradient import trainable_parts
from suite.training.memories import memory
from suite.training.memories import reservoir
from suite.training.objectives import lwf

small = functools.partial(conv4.conv4, filters=8, blocks=1)


def make(**settings):
  defaults = {"net": trainable_parts.AllLayers(small), "head": class_heads.PerTask(), "epochs": 6,
              "batch_size": 16, "learning_rate": 0.1}
  return gradient.GradientLearner(transform=image_ops.Plain(8), **{**defaults, **settings})


def run(folder, learner, places=(0, 1)):
  """Runs the tasks at these places of the stream; returns the stream."""
  entries = digits.nevis_stream(max_train_images=150).entries
  stream = streams.Stream("some", [entries[place] for place in places])
  with stopped_runs.state(folder) as state:
    nevis.run(learner, state=state, stream=stream)
  return stream


def test_a_task_that_is_met_again_has_its_head_and_many_labels_are_learned(tmp_path):
  learner = make()
  stream = run(tmp_path, learner, places=(2, 3, 4))
  names = [entry.task.name for entry in stream.entries]
  assert len(learner.nets.nets) == len(set(names)) < len(names)
  assert any(entry.task.kind == tasks.MULTI_LABEL for entry in stream.entries)
  uppers = {id(net.upper) for net in learner.nets.nets.values()}
  assert len(uppers) == 1
  found = {r["task_key"]: r for r in stopped_runs.records(tmp_path) if r["kind"] == "predict"}
  assert np.mean([r["error"] for r in found.values()]) < 0.6


@pytest.mark.parametrize("settings, message", [
    ({"head": class_heads.Linear()}, "one head, Linear, for tasks that have separate classes"),
    ({"memory": memory.Memory(9, reservoir.Reservoir()), "replay_batch": 4},
     "mix examples of one list of classes"),
    ({"train_on": "all"}, "mix examples of one list of classes"),
    ({"objective": lwf.Lwf()}, "the objective Lwf compares answers about one list of classes"),
])
def test_what_needs_one_list_of_classes_is_refused(settings, message, tmp_path):
  with pytest.raises(ValueError, match=message):
    run(tmp_path, make(**settings))
