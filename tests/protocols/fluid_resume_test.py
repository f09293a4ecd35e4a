# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Learners of sequences, stopped in mid-run and made anew: the same records, bit for bit."""

from __future__ import annotations

import json

import pytest
import stopped_runs

from suite.data.digits import digits
from suite.data.images import image_ops
from suite.learners import minimum_distance
from suite.learners import stream_tuner
from suite.learners import streaming_lda
from suite.models import conv4
from suite.protocols import fluid
from suite.protocols import run_state
from suite.training.gradient import frozen_backbone
from suite.training.sequence import sequence_heads
from suite.training.sequence import trainable_parts
from suite.training.sequence import update_strategies

PLAIN = image_ops.Plain(8)


def net():
  return frozen_backbone.FrozenBackbone(
      lambda image_shape: conv4.conv4(image_shape, filters=4, blocks=2), 8, seed=1)


def tuner(network, head=None, transform=PLAIN):
  return stream_tuner.StreamTuner(
      transform=transform, network=network, head=head, epochs=1, base_epochs=2, batch_size=32,
      learning_rate=0.01)


def frozen():
  return trainable_parts.HeadOnly(frozen_backbone.pixels)


LEARNERS = {
    "finetune": lambda: tuner(frozen()),
    "split_head": lambda: tuner(frozen(), sequence_heads.Split()),
    "last_layers": lambda: tuner(trainable_parts.LastLayers(net, 1, norms="trained")),
    "standard": lambda: tuner(trainable_parts.Whole(net), transform=image_ops.Nevis(8)),
    "imprinting": lambda: stream_tuner.WeightImprinting(
        transform=PLAIN, network=frozen(), imprint_phases=1, batch_size=32),
    "slda": lambda: streaming_lda.StreamingLda(transform=PLAIN, features=frozen_backbone.pixels),
    "mdt": lambda: minimum_distance.MinimumDistance(
        tuner(frozen()), minimum_distance.LeastShare()),
}


def run(name, folder):
  with stopped_runs.state(folder) as state:
    return fluid.run(
        LEARNERS[name](), state=state, sequence=digits.sequence(60), base=digits.sequence_base(),
        update=update_strategies.Every(20), record_every=15, block_size=16, encode_batch=24)


def read(folder):
  return json.dumps(stopped_runs.records(folder))


@pytest.mark.parametrize("name", LEARNERS)
def test_stopped_and_resumed_it_gives_the_same_records(name, tmp_path, monkeypatch):
  """Stopped before the commit of the second offline phase, whose work is lost."""
  summary = run(name, tmp_path / "whole")
  assert summary["updates"] == 3 and summary["no_answer"] == 0
  stopping = stopped_runs.stopping(run_state.RunState.commit,
                                   lambda state, record, *_: record.get("phase") == 2)
  with monkeypatch.context() as patch:
    patch.setattr(run_state.RunState, "commit", stopping)
    with pytest.raises(stopped_runs.Stop):
      run(name, tmp_path / "stopped")
  assert run(name, tmp_path / "stopped") == summary
  assert read(tmp_path / "stopped") == read(tmp_path / "whole")
