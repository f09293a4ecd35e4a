# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Learners of sequences, stopped within an offline phase: the same records, bit for bit.

tests/contracts/method_matrix_test.py stops nine methods under FLUID between two events, among them
thresholds and a memory, and under CLEAR one with logits in its memory. Here are those whose offline
phases change what none of these has: norms that drift, observations, centroids.
"""

from __future__ import annotations

import json
import shutil

import pytest
import stopped_runs

from suite.data.digits import digits
from suite.data.images import image_ops
from suite.learners import gradient
from suite.learners import oltr
from suite.models import conv4
from suite.protocols import fluid
from suite.protocols import run_state
from suite.training.gradient import composition
from suite.training.gradient import frozen_backbone
from suite.training.gradient import optimizers
from suite.training.gradient import trainable_parts
from suite.training.objectives import ewc
from suite.training.sequence import update_strategies

PLAIN = image_ops.Plain(8)


def net():
  return frozen_backbone.FrozenBackbone(conv, 8, seed=1)


def conv(image_shape):
  return conv4.conv4(image_shape, filters=4, blocks=1)


def tuner(net, **settings):
  return gradient.GradientLearner(
    transform=PLAIN,
    net=net,
    **{
      **dict(
        train_on="all",
        epochs=1,
        base=composition.Base(2),
        batch_size=32,
        learning_rate=0.01,
        optimizer=optimizers.Momentum(0.9, 1e-4, keep=True),
      ),
      **settings,
    },
  )


def frozen():
  return trainable_parts.HeadOnly(frozen_backbone.pixels)


LEARNERS = {
    "drifting": lambda: tuner(trainable_parts.Drifting(net)),
    "ewc": lambda: tuner(frozen(), objective=ewc.Ewc(anchor="first")),
    "oltr": lambda: oltr.Oltr(transform=PLAIN, net=frozen(), refresh_until=60, batch_size=32),
}


def run(name, folder):
  with stopped_runs.state(folder) as state:
    return fluid.run(
        LEARNERS[name](), state=state, sequence=digits.sequence(40), base=digits.sequence_base(),
        update=update_strategies.Every(16),
        blocks=fluid.Blocks(record_every=15, block_size=16, encode_batch=24))


def read(folder):
  return json.dumps(stopped_runs.records(folder))


@pytest.mark.parametrize("name", LEARNERS)
def test_stopped_and_resumed_it_gives_the_same_records(name, tmp_path, monkeypatch):
  """Killed before the commit of the second offline phase, whose work is lost."""
  commit = run_state.RunState.commit

  def copying(state, record, *others, **named):
    if record.get("phase") == 2:
      shutil.copytree(tmp_path / "whole", tmp_path / "stopped")
    commit(state, record, *others, **named)

  with monkeypatch.context() as patch:
    patch.setattr(run_state.RunState, "commit", copying)
    summary = run(name, tmp_path / "whole")
  assert summary["updates"] == 2 and summary["no_answer"] == 0
  assert len(stopped_runs.records(tmp_path / "stopped")) < len(stopped_runs.records(
      tmp_path / "whole"))
  assert run(name, tmp_path / "stopped") == summary
  assert read(tmp_path / "stopped") == read(tmp_path / "whole")
