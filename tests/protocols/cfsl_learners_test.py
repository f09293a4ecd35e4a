# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The across-task memory of MAML++ low-end and high-end, by hand and on the page of figure 3."""

from __future__ import annotations

import pathlib
import types

import pytest

from suite.compute import distribution
from suite.compute import seeds
from suite.contracts import tasks
from suite.data.episodes import cfsl_data
from suite.data.images import image_ops
from suite.learners import embedded_maml
from suite.learners import maml
from suite.models.episodic import dense_attention
from suite.models.episodic import embedding
from suite.models.episodic import functional_conv4
from suite.training.episodic import episode_graphs
from suite.training.episodic import inner_loop
from suite.training.episodic import meta_schedules


def _memory_by_hand(num_sets):
  """Across-task memory of MAML++ low-end and high-end on 64 x 64 x 3, type B: floats and a step."""
  outputs, images = 5 * num_sets, 5 * num_sets * 64 * 64 * 3
  low = 9 * 3 * 48 + 48 + 3 * (9 * 48 * 48 + 48) + (4 * 4 * 48 + 1) * outputs + 1
  gates, late_gates = 320 * 320 + 320, 48 * 48 + 48
  high = gates + 9 * 320 * 48 + 48 + late_gates + (48 + 1) * outputs + 1
  return low / images, high / images


def test_the_memory_of_low_end_crosses_that_of_high_end():
  for num_sets in (40, 80):
    low, high = _memory_by_hand(num_sets)
    assert (low > high) == (num_sets > 49)  # 63,697 + 3,845 n = 243,361 + 245 n.


def test_the_across_task_memory_is_that_by_hand(num_sets=3):
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


def test_the_page_of_figure_3_shows_the_crossing():
  page = pathlib.Path(__file__).parents[2] / "docs" / "results" / "cfsl" / "figure3.md"
  lines = [[cell.strip() for cell in line.strip("|").split("|")]
           for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
  lengths = [int(length) for length in lines[0][2:]]
  shown = {line[0]: line[2:] for line in lines if line[1] == "atm"}
  for i, name in enumerate(("maml_low", "maml_high")):
    assert shown[name] == [f"{_memory_by_hand(n)[i]:.4f}" for n in lengths]
  assert shown["sca"] == shown["maml_high"] and min(lengths) < 49 < max(lengths)
