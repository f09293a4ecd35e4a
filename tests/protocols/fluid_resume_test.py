# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A sequence's run that is stopped within an offline phase: the same records, bit for bit.

tests/contracts/method_matrix_test.py stops every method between two events, among others those
whose phases change memories, observations, thresholds and centroids. Here is what it lacks: norms
that drift, and their running averages.
"""

from __future__ import annotations

import json
import shutil

import stopped_runs

from suite.data.digits import digits
from suite.data.images import image_ops
from suite.learners import gradient
from suite.models import conv4
from suite.protocols import fluid
from suite.protocols import run_state
from suite.training.gradient import composition
from suite.training.gradient import frozen_backbone
from suite.training.gradient import optimizers
from suite.training.gradient import trainable_parts
from suite.training.sequence import update_strategies


def net():
  return frozen_backbone.FrozenBackbone(conv, 8, seed=1)


def conv(image_shape):
  return conv4.conv4(image_shape, filters=4, blocks=1)


def run(folder):
  learner = gradient.GradientLearner(
      transform=image_ops.Plain(8), net=trainable_parts.Drifting(net), train_on="all", epochs=1,
      base=composition.Base(2), batch_size=32, learning_rate=0.01,
      optimizer=optimizers.Momentum(0.9, 1e-4, keep=True))
  with stopped_runs.state(folder) as state:
    return fluid.run(
        learner, state=state, sequence=digits.sequence(40), base=digits.sequence_base(),
        update=update_strategies.Every(16),
        blocks=fluid.Blocks(record_every=15, block_size=16, encode_batch=24))


def test_stopped_and_resumed_it_gives_the_same_records(tmp_path, monkeypatch):
  """Killed before the commit of the second offline phase, whose work is lost."""
  commit = run_state.RunState.commit

  def copying(state, record, *others, **named):
    if record.get("phase") == 2:
      shutil.copytree(tmp_path / "whole", tmp_path / "stopped")
    commit(state, record, *others, **named)

  with monkeypatch.context() as patch:
    patch.setattr(run_state.RunState, "commit", copying)
    summary = run(tmp_path / "whole")
  whole, stopped = tmp_path / "whole", tmp_path / "stopped"
  assert summary["updates"] == 2 and summary["no_answer"] == 0
  assert len(stopped_runs.records(stopped)) < len(stopped_runs.records(whole))
  assert run(stopped) == summary
  assert json.dumps(stopped_runs.records(stopped)) == json.dumps(stopped_runs.records(whole))
