# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
from __future__ import annotations

import types

import numpy as np
import pytest

from suite.contracts import tasks
from suite.data.images import image_set
from suite.data.streams import buckets
from suite.learners import statistics_learner
from suite.training.statistics import class_means


@pytest.fixture(name="tool")
def _tool(load_tool):
  load_tool("made_page")
  return load_tool("proofs_page")


def _published(method, number, deviation="", remark=""):
  return {"benchmark": "b", "method": method, "title": method.upper(), "published": number,
          "deviation": deviation, "source": "", "remark": remark}


def test_a_difference_is_within_the_deviation_or_near_or_explained(tool):
  for row, ours, expected in (
      (_published("er", "70", "3"), 67.0, tool.WITHIN), (_published("er", "70"), 68.0, tool.NEAR),
      (_published("er", "70", "0.5"), 71.0, tool.NEAR), (_published("er", "70"), 67.9, tool.OPEN),
      (_published("er", "70", "0.5", "Why."), 60.0, tool.EXPLAINED)):
    assert tool.verdict(row, ours) == expected
  stored = [{"benchmark": "b", "method": "er", "seed": str(s), "accuracy": a}
            for s, a in enumerate(("70.0", "74.0"))]
  text = tool.page({"b": types.SimpleNamespace(title="B", about="About.")}, stored,
                   [_published("er", "70", "3", "Why."), _published("gem", "5")])
  assert "**1 numbers: 1 within the deviation, 0 within 2 points, 0 explained, 0 not" in text
  assert "| ER | 70 ± 3 | 72.00 ± 2.8 | 2 | +2.00 | within the deviation |" in text
  assert "* ER: Why." in text and "GEM" not in text


def test_every_result_has_a_published_number_and_none_is_unexplained(tool):
  rows = tool.read(tool.PUBLISHED)
  published = {(row["benchmark"], row["method"]): row for row in rows}
  assert len(published) == len(rows)
  unexplained = [name for name, ours in tool.results(tool.read(tool.STORED)).items()
                 if tool.verdict(published[name], sum(ours) / len(ours)) == tool.OPEN]
  assert not unexplained


def test_all_outputs_are_there_from_the_first_task_on(load_tool, monkeypatch):
  """Two tasks of gray images; one of four test images is nearer to a class of the other task."""
  proof, begun = load_tool("proof"), []
  begin = statistics_learner.StatisticsLearner.begin

  def seen(self, task, context):
    begun.append(task.num_classes)
    begin(self, task, context)

  def gray(name, levels, labels):
    images = np.repeat(np.uint8(levels), 28 * 28).reshape(-1, 28, 28, 1)
    return image_set.ImageSet.from_arrays(
        name, images, labels, kind=tasks.SINGLE_LABEL, num_classes=4)

  series = buckets.Buckets(tasks.Task("gray", tasks.SINGLE_LABEL, 4), (
      buckets.Bucket("a", gray("a", [0] * 9 + [60] * 9, [0] * 9 + [1] * 9), gray(
          "a test", [0, 95], [0, 1])),
      buckets.Bucket("b", gray("b", [120] * 9 + [200] * 9, [2] * 9 + [3] * 9), gray(
          "b test", [120, 200], [2, 3]))))
  monkeypatch.setattr(statistics_learner.StatisticsLearner, "begin", seen)
  for scenario, sizes in (("class", {2, 4}), (proof.ALL_OUTPUTS, {4})):
    begun.clear()
    benchmark = proof.Benchmark("", "", lambda *_: series, scenario, {
        "ncm": lambda: statistics_learner.StatisticsLearner(
            class_means.ClassMeans(), transform=proof.PLAIN)})
    assert proof.run(benchmark, "ncm", series, 0) == pytest.approx(100 * (1 / 2 + 1) / 2)
    assert set(begun) == sizes
