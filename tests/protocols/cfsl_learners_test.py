# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Learners with most to save, stopped in the middle of their meta-training."""

from __future__ import annotations

import pathlib
import types

import numpy as np
import pytest

from suite.compute import distribution
from suite.compute import seeds
from suite.contracts import tasks
from suite.data.episodes import cfsl_data
from suite.data.episodes import episodes
from suite.data.episodes import task_types
from suite.data.images import image_ops
from suite.learners import embedded_maml
from suite.learners import maml
from suite.learners import pretrain_tune
from suite.models.episodic import dense_attention
from suite.models.episodic import embedding
from suite.models.episodic import functional_conv4
from suite.protocols import cfsl
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import records
from suite.reporting import run_writer
from suite.training.episodic import episode_graphs
from suite.training.episodic import inner_loop
from suite.training.episodic import meta_schedules
from suite.training.episodic import self_critique

SIZE = 4
SETTINGS = {"transform": image_ops.AsStored(SIZE), "channels": 1,
            "training": meta_schedules.MetaTraining(weight_decay=1e-4)}


def _sca():
  net = dense_attention.DenseAttention(filters=2, stages=1, blocks=1, size=2)
  return embedded_maml.EmbeddedMaml(
      embedding.Embedding(net), dense_attention.AttentionHead(filters=2),
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
           episodes_test=_episodes(1), validation=cfsl.Validation(_episodes(2), 4, ensemble=2),
           updates=2, updates_per_event=1, tasks_per_update=1, test_episodes=4)
  return records.strip_times(records.read(folder / "records.jsonl"))


@pytest.mark.parametrize("make, transductive", [(_sca, True), (_pretrain_tune, False)])
def test_a_run_stopped_in_its_middle_goes_on_the_same(tmp_path, make, transductive):
  whole = _run(tmp_path / "whole", make())
  with pytest.raises(KeyboardInterrupt):
    _run(tmp_path / "parts", make(), stop_after=1)
  assert _run(tmp_path / "parts", make()) == whole
  assert [r["kind"] for r in whole] == ["train", "train", "predict"]
  assert whole[-1]["transductive"] == transductive and whole[-1]["flops"] > 0
  assert whole[-1]["models"] and np.isfinite(whole[1]["loss"])


def _memory_by_hand(num_sets):
  """Across-task memory of MAML++ low-end and high-end on 64 x 64 x 3, type B: floats and a step."""
  outputs, images = 5 * num_sets, 5 * num_sets * 64 * 64 * 3
  low = 9 * 3 * 48 + 48 + 3 * (9 * 48 * 48 + 48) + (4 * 4 * 48 + 1) * outputs + 1
  gates, late_gates = 320 * 320 + 320, 48 * 48 + 48
  high = gates + 9 * 320 * 48 + 48 + late_gates + (48 + 1) * outputs + 1
  return low / images, high / images


@pytest.mark.parametrize("num_sets", [1, 40, 80])
def test_the_memory_of_low_end_crosses_that_of_high_end(num_sets):
  source = cfsl_data.episodes("blank", "test", task_type="B", num_support_sets=num_sets)
  inner = inner_loop.InnerLoop(num_support_sets=num_sets, transductive=True)
  settings = {"transform": image_ops.AsStored(64), "training": meta_schedules.MetaTraining()}
  context = types.SimpleNamespace(distribution=distribution.build(), seeds=seeds.Seeds(0))
  found = []
  for learner in (
      maml.Maml(functional_conv4.Conv4(), inner=inner, **settings),
      embedded_maml.EmbeddedMaml(embedding.Embedding(dense_attention.DenseAttention()),
                                 dense_attention.AttentionHead(), inner=inner, **settings)):
    learner.begin(tasks.Task("episode", tasks.SINGLE_LABEL, source.num_labels), context)
    graphs = episode_graphs.Graphs(learner, source.num_labels)
    found.append(graphs.across_task_memory(source))
  assert found == pytest.approx(_memory_by_hand(num_sets), rel=1e-12)
  assert (found[0] > found[1]) == (num_sets > 49)  # 63,697 + 3,845 n = 243,361 + 245 n.


def test_the_page_of_figure_3_shows_the_crossing():
  page = pathlib.Path(__file__).parents[2] / "docs" / "results" / "cfsl" / "figure3.md"
  lines = [[cell.strip() for cell in line.strip("|").split("|")]
           for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
  lengths = [int(length) for length in lines[0][2:]]
  shown = {line[0]: line[2:] for line in lines if line[1] == "atm"}
  for i, name in enumerate(("maml_low", "maml_high")):
    assert shown[name] == [f"{_memory_by_hand(n)[i]:.4f}" for n in lengths]
  assert shown["sca"] == shown["maml_high"] and min(lengths) < 49 < max(lengths)
