# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Learners with most to save, stopped in the middle of their meta-training."""

from __future__ import annotations

import json

import numpy as np
import pytest

from suite.compute import distribution
from suite.data.episodes import episodes
from suite.data.episodes import task_types
from suite.data.images import image_ops
from suite.learners import embedded_maml
from suite.learners import pretrain_tune
from suite.models.episodic import attention_head
from suite.models.episodic import dense_attention
from suite.models.episodic import embedding
from suite.models.episodic import functional_conv4
from suite.protocols import cfsl
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import run_writer
from suite.training.episodic import inner_loop
from suite.training.episodic import meta_schedules
from suite.training.episodic import self_critique

SIZE = 4
SETTINGS = {"transform": image_ops.AsStored(SIZE), "channels": 1,
            "training": meta_schedules.MetaTraining(weight_decay=1e-4)}


def _sca():
  net = dense_attention.DenseAttention(filters=2, stages=1, blocks=1, size=2)
  return embedded_maml.EmbeddedMaml(
      embedding.Embedding(net), attention_head.AttentionHead(filters=2),
      inner=inner_loop.InnerLoop(steps=1, num_support_sets=1), **SETTINGS,
      critique=self_critique.SelfCritique())


def _pretrain_tune():
  return pretrain_tune.PretrainTune(
      functional_conv4.Conv4(filters=2, blocks=2), num_classes=5, **SETTINGS,
      inner=inner_loop.InnerLoop(steps=1, num_support_sets=1, learn_rates=False))


def _episodes(seed, with_classes=False):
  """5 classes of 6 images; a support set of one image for each of 2 classes, 2 targets."""
  images = np.random.default_rng(0).integers(0, 256, [30, SIZE, SIZE, 1]).astype(np.uint8)
  setting = task_types.Setting(2, shot=1, targets=1, num_support_sets=1)
  return episodes.Episodes(images, np.repeat(np.arange(5), 6), setting, seed=seed,
                           with_classes=with_classes)


def _run(folder, learner, stop_after=None):
  folder.mkdir(exist_ok=True)
  state = run_state.RunState(
      folder, run_writer.RunWriter(folder, None, progress.Progress("x")), name="x", seed=0,
      distribution=distribution.build())
  commit = state.commit

  def commit_then_stop(*args):
    commit(*args)
    if state.done == stop_after:
      raise KeyboardInterrupt

  state.commit = commit_then_stop
  cfsl.run(learner, state=state, episodes_train=_episodes(0, with_classes=True),
           episodes_test=_episodes(1), episodes_validation=_episodes(2), validation_episodes=4,
           updates=2, updates_per_event=1, tasks_per_update=1, test_episodes=4, ensemble=2)
  lines = (folder / "records.jsonl").read_text().splitlines()
  return [{k: v for k, v in json.loads(line).items() if not k.startswith("seconds")}
          for line in lines]


@pytest.mark.parametrize("make, transductive", [(_sca, True), (_pretrain_tune, False)])
def test_a_run_stopped_in_its_middle_goes_on_the_same(tmp_path, make, transductive):
  whole = _run(tmp_path / "whole", make())
  with pytest.raises(KeyboardInterrupt):
    _run(tmp_path / "parts", make(), stop_after=1)
  assert _run(tmp_path / "parts", make()) == whole
  assert [r["kind"] for r in whole] == ["train", "train", "predict"]
  assert whole[-1]["transductive"] == transductive and whole[-1]["flops"] > 0
  assert whole[-1]["models"] and np.isfinite(whole[1]["loss"])
