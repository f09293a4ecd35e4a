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


def _published(method, number, deviation="", seeds="", remark="", not_run=""):
  return {"benchmark": "b", "method": method, "title": method.upper(), "published": number,
          "deviation": deviation, "seeds": seeds, "source": "", "remark": remark,
          "not_run": not_run}


def test_two_standard_errors_count_the_seeds_of_both_sides(tool):
  # 2 sqrt(3² / 9 + 4² / 2), where 70, 70 + 4 sqrt(2) have the deviation 4.
  found = tool.allowed(_published("er", "70", "3", "9"), [70.0, 70.0 + 4 * 2 ** 0.5])
  assert found == pytest.approx(2 * 9 ** 0.5)
  # One seed has no deviation, and gets the published one: 2 sqrt(3² / 9 + 3² / 1).
  assert tool.allowed(_published("er", "70", "3", "9"), [70.0]) == pytest.approx(2 * 10 ** 0.5)
  assert tool.allowed(_published("er", "70", "3"), [70.0, 72.0]) is None  # Of how many seeds?
  assert tool.allowed(_published("er", "70", "", "9"), [70.0, 72.0]) is None


@pytest.mark.parametrize("deviation, seeds, ours, expected", [
    ("3", "9", [63.7], "within 2 standard errors"),  # 6.3 of 6.32.
    ("3", "9", [63.6], "neither"),
    ("0.3", "9", [70.6], "within 2 standard errors"),  # 0.6 of 0.63.
    ("0.3", "9", [70.7], "within 2 points"),
    ("8", "", [72.0], "within 2 points"), ("8", "", [72.1], "neither"),
    ("3", "9", [64.0, 64.2], "neither"),  # 5.9 of 2 sqrt(1 + 0.01): the seeds agree.
    ("", "", [], "not run")])
def test_a_number_is_right_by_standard_errors_or_points(deviation, seeds, ours, expected, tool):
  assert tool.verdict(_published("er", "70", deviation, seeds), ours) == expected


def test_every_published_number_is_on_the_page(tool):
  stored = [{"benchmark": "b", "method": "er", "seed": str(s), "accuracy": a, "cpu_seconds": "9",
             "tasks": "", "of": ""} for s, a in enumerate(("70.0", "74.0"))]
  stored += [{**stored[0], "method": "gem", "accuracy": "", "cpu_seconds": "360", "tasks": "2",
              "of": "20"}]
  benchmarks = {"b": types.SimpleNamespace(title="B", about="About.")}
  rows = [_published("er", "70", "3", "9", remark="Why."),
          _published("gem", "5", not_run="an hour a task")]
  text = tool.page(benchmarks, stored, rows)
  assert ("**2 numbers: 1 within 2 standard errors, 0 within 2 points, 0 neither, 1 not run.**"
          in text)
  # 2 sqrt(9 / 9 + 8 / 2) = 4.47.
  assert "| ER | 70 ± 3 | 72.00 ± 2.8 | 2 | +2.00 | 4.47 | within 2 standard errors |" in text
  # 180 s a task, 20 tasks.
  assert ("| GEM | 5 | | | | | not run: one task takes 180 CPU s, the run 1.0 h; an hour a task |"
          in text and "* ER: Why." in text)
  for wrong, message in (
      (_published("gem", "5"), "b gem: not_run is ''. Give the reason"),
      (_published("er", "70", not_run="no"), "b er: not_run is 'no'. Give the reason"),
      ({**rows[1], "benchmark": "c"}, "published.csv has c gem; benchmarks are b")):
    with pytest.raises(ValueError, match=message):
      tool.page(benchmarks, stored, [wrong])


def test_every_result_has_a_published_number_and_every_difference_a_remark(tool):
  rows = tool.read(tool.PUBLISHED)
  published = {(row["benchmark"], row["method"]): row for row in rows}
  assert len(published) == len(rows)
  unexplained = [name for name, ours in tool.results(tool.read(tool.STORED)).items()
                 if tool.verdict(published[name], ours) == tool.NEITHER
                 and not published[name]["remark"]]
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
  for outputs, sizes in (("all_so_far", {2, 4}), ("all", {4})):
    begun.clear()
    benchmark = proof.Benchmark("", "", lambda *_: series, "class", {
        "ncm": lambda: statistics_learner.StatisticsLearner(
            class_means.ClassMeans(), transform=proof.PLAIN)}, outputs)
    assert proof.run(benchmark, "ncm", series, 0) == pytest.approx(100 * (1 / 2 + 1) / 2)
    assert set(begun) == sizes
