# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A stream of tasks, each with a head of its own on shared layers."""

from __future__ import annotations

import json

import numpy as np
import pytest

from suite.compute import distribution
from suite.contracts import tasks
from suite.data.digits import digits
from suite.data.images import image_ops
from suite.learners import gradient
from suite.models import conv4
from suite.protocols import nevis
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import records
from suite.reporting import run_writer
from suite.training.gradient import class_heads
from suite.training.gradient import trainable_parts
from suite.training.memories import memory
from suite.training.memories import reservoir
from suite.training.objectives import lwf


def small(image_shape):
  return conv4.conv4(image_shape, filters=8, blocks=2)


def make(**settings):
  defaults = {"net": trainable_parts.AllLayers(small), "head": class_heads.PerTask(), "epochs": 6,
              "batch_size": 16, "learning_rate": 0.1}
  return gradient.GradientLearner(transform=image_ops.Plain(8), **{**defaults, **settings})


def run(folder, learner, num_tasks=3, stop_before=None):
  writer = run_writer.RunWriter(folder, None, progress.Progress("x"))
  state = run_state.RunState(folder, writer, name="x", seed=5, distribution=distribution.build())
  stream = digits.nevis_stream(max_train_images=150)
  stream = type(stream)(stream.name, stream.entries[:num_tasks])
  if stop_before is not None:
    make_context = state.context

    def context():
      if state.done == stop_before:
        raise InterruptedError
      return make_context()
    state.context = context
  try:
    return nevis.run(learner, state=state, stream=stream)
  finally:
    writer.close()


def lines(folder):
  return json.dumps(records.strip_times(records.read(folder / "records.jsonl")))


def test_a_task_that_is_met_again_has_its_head_and_many_labels_are_learned(tmp_path):
  learner = make()
  run(tmp_path, learner, num_tasks=5)
  stream = digits.nevis_stream(num_tasks=5)
  names = [entry.task.name for entry in stream.entries]
  assert len(learner.nets.nets) == len(set(names)) < len(names)
  assert any(entry.task.kind == tasks.MULTI_LABEL for entry in stream.entries)
  uppers = {id(net.upper) for net in learner.nets.nets.values()}
  assert len(uppers) == 1
  found = {r["task_key"]: r for r in records.read(tmp_path / "records.jsonl")
           if r["kind"] == "predict"}
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
