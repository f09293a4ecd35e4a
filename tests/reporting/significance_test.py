# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Scores taken apart by test image, and what reports say of tested differences."""

from __future__ import annotations

import json

import numpy as np
import pytest

from suite.contracts import descriptions
from suite.reporting import leaderboard
from suite.reporting import run_dir
from suite.reporting import run_streams
from suite.reporting import significance
from suite.reporting import table_dir
from suite.reporting import tables
from suite.reporting.formats import renderers
from suite.reporting.run_panels import report_sections
from suite.state import predictions

ACCURACY = descriptions.Measure("accuracy", "accuracy")
# Written beside each run, as runs do: the protocols' modules need TensorFlow.
DESCRIPTIONS = {
    "clear": descriptions.ProtocolDescription(
        "clear", (ACCURACY,), panels=(descriptions.BUCKETS,), identity=()),
    "incremental": descriptions.ProtocolDescription(
        "incremental", panels=(descriptions.BUCKETS,), identity=()),
    "nevis": descriptions.ProtocolDescription("nevis", panels=(descriptions.TASKS,)),
    "fluid": descriptions.ProtocolDescription("fluid"),
    "cfsl": descriptions.ProtocolDescription("cfsl")}
METHODS = {"good": .9, "fair": .89, "poor": .5}


def _write(folder, events, summary):
  """A finished run: (values of the record, ids, correct) of each event."""
  records = []
  for i, (values, ids, correct) in enumerate(events):
    name = f"predictions/{i:04d}.parquet"
    blank = np.zeros(len(ids), int)
    predictions.save(folder / name, ids=ids, labels=blank, top1=blank, correct=correct, sync=False,
                     true_class_probability=blank)
    records.append({"event": i, "kind": "predict", "seen": len(ids), "correct": int(sum(correct)),
                    "predictions": name, "protocol": summary["protocol"], "flops": 10, **values})
  (folder / "records.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
  (folder / "summary.json").write_text(json.dumps({"stream": "one", "flops": 10, **summary}))
  (folder / descriptions.FILE).write_text(
      json.dumps(DESCRIPTIONS[summary["protocol"]].values()))
  (folder.parent / "environment.json").write_text(json.dumps({"learners": [folder.name]}))
  return run_dir.load([folder])[0]


def _clear(folder, right, *, seed=0, first_id=0):
  """Two buckets of 80 and 40 images; the accuracy is (R00 + R10 + R11) / 3."""
  rng = np.random.default_rng(seed)
  events, acc = [], {}
  for trained in range(2):
    for bucket, size in enumerate((80, 40)):
      correct = rng.random(size) < right
      acc[trained, bucket] = correct.mean()
      events.append(({"trained_bucket": trained, "bucket": bucket, "num_classes": 1},
                     [f"{first_id + j}" for j in range(size)], correct))
  mean = (acc[0, 0] + acc[1, 0] + acc[1, 1]) / 3
  summary = {"protocol": "clear", "accuracy": mean, "next_domain": acc[0, 1]}
  return _write(folder, events, summary), events


def test_answers_of_a_matrix_add_up_by_image(tmp_path):
  run, events = _clear(tmp_path / "run" / "a", .7)
  found = significance.units_of(run, "accuracy")
  expected = (events[0][2].astype(float) + events[2][2]) / 80 / 3
  assert list(found) == ["0", "1"]
  np.testing.assert_allclose(found["0"].adds, expected)
  np.testing.assert_allclose(found["1"].adds, events[3][2] / 40 / 3)
  assert list(significance.units_of(run, "next_domain")) == ["1"]


def test_tasks_episodes_and_sequences_add_up(tmp_path):
  ids, correct = ["a", "b", "c", "d"], np.array([1, 1, 0, 1], bool)
  about = {"split": "test", "task_kind": "single_label", "metric": "error"}
  nevis = _write(tmp_path / "n" / "a", [
      ({**about, "task_key": "x", "role": "meta_train", "metric": "1 - mAP"}, ids, correct),
      ({**about, "task_key": "y", "role": "meta_test"}, ids, correct),
      ({**about, "task_key": "z", "role": "meta_test"}, ids[:2], ~correct[:2])],
                 {"protocol": "nevis", "mean_error": (1 / 4 + 1) / 2, "mean_error_all": 0.5})
  found = significance.units_of(nevis, "mean_error")
  assert {name: units.adds.tolist() for name, units in found.items()} == {
      "y": [0, 0, .125, 0], "z": [.25, .25]}
  with pytest.raises(ValueError, match="its mean error all is no mean of saved answers"):
    significance.units_of(nevis, "mean_error_all")
  cfsl = _write(tmp_path / "c" / "a", [({"num_tasks": 2}, ids, correct)],
                {"protocol": "cfsl", "accuracy": .75})
  units, = significance.units_of(cfsl, "accuracy").values()
  assert units.adds.tolist() == [.5, .25]
  fluid = _write(tmp_path / "f" / "a", [({}, ids, correct), ({}, ["e", "a"], correct[:2])],
                 {"protocol": "fluid", "overall": 5 / 6})
  units, = significance.units_of(fluid, "overall").values()
  assert units.ids.to_pylist() == ["a", "b", "c", "d", "e"]  # Two answers to "a" are one unit.
  np.testing.assert_allclose(units.adds, np.array([2, 1, 0, 1, 1]) / 6)


def _learners(tmp_path, **others):
  return {name: run_streams.LearnerRuns(name, [_clear(tmp_path / name / "x", right)[0]])
          for name, right in {**METHODS, **others}.items()}


def test_what_cannot_be_compared_is_left_out_with_the_reason(tmp_path):
  learners = _learners(tmp_path, cut=.5)
  (tmp_path / "cut" / "x" / "predictions" / "0002.parquet").write_bytes(b"PAR1")
  learners["other"] = run_streams.LearnerRuns(
      "other", [_clear(tmp_path / "other" / "x", .7, first_id=7)[0]])
  found = significance.test(learners, ACCURACY)
  assert found.names == list(METHODS) and found.num_units == 120
  assert found.left_out == {
      "cut": "0002.parquet of its saved predictions cannot be read (suite verify says more)",
      "other": "its test images are not those of the other methods"}
  assert set(found.best) == {"good", "fair"} and found.is_worse("poor", "good")
  assert not found.is_worse("fair", "good") and not found.is_worse("other", "good")
  assert significance.test({"good": learners["good"]}, ACCURACY) is None


def test_images_in_another_order_are_the_same_images(tmp_path):
  run, events = _clear(tmp_path / "a" / "x", .7)
  summary = {key: run.summary[key] for key in ("protocol", "accuracy")}
  turned = _write(tmp_path / "b" / "x", [
      (values, ids[::-1], correct[::-1]) for values, ids, correct in events], summary)
  found = significance.test({"a": run_streams.LearnerRuns("a", [run]),
                             "b": run_streams.LearnerRuns("b", [turned])}, ACCURACY)
  assert found.comparison.margin[0, 1] == 0 and found.comparison.p_value[0, 1] == 1


def _incremental(folder, orders, right):
  """A seed of class-incremental learning: tasks of classes, whose images "c0", "c1", ... are right
  after the last task where `right` has them.
  """
  events, rows = [], np.full([len(orders)] * 2, np.nan)
  for trained in range(len(orders)):
    for bucket in range(trained + 1):
      ids = [f"{c}{i}" for c in orders[bucket] for i in range(4)]
      correct = np.array([trained < len(orders) - 1 or name in right for name in ids])
      rows[trained, bucket] = correct.mean()
      events.append(({"trained_bucket": trained, "bucket": bucket, "num_classes": 4,
                      "num_tasks": 2}, ids, correct))
  return _write(folder, events, {
      "protocol": "incremental", "final_average_accuracy": rows[-1].mean(),
      "backward_transfer": rows[1, 0] - rows[0, 0]})


def test_seeds_with_other_orders_of_classes_share_the_images(tmp_path):
  # Seed 0 has the tasks abc, d and seed 1 the tasks ab, cd: the sets of both are ab, c and d.
  orders = (("abc", "d"), ("ab", "cd"))
  right = {"one": {"a0", "b0", "c0", "c1", "d0"}, "two": {"a1", "c0", "c1", "d0", "d1", "d2"}}
  learners = {name: run_streams.LearnerRuns(name, [
      _incremental(tmp_path / name / str(seed) / "x", order, images)
      for seed, order in enumerate(orders)]) for name, images in right.items()}
  for learner in learners.values():
    for seed, run in enumerate(learner.runs):
      (run.folder.parent / "config.gin").write_text(f"experiment.run.seed = {seed}\n")
  run = learners["one"].runs[0]
  # Seven of 12 become wrong at the end.
  back = significance.units_of(run, "backward_transfer")["0"]
  assert sum(back.adds) == pytest.approx(4 / 12 - 1)
  measure = descriptions.Measure("final_average_accuracy", "final average accuracy")
  found = significance.test(learners, measure)
  assert found.num_units == 16 and found.names == ["one", "two"]
  # Means of the tasks: (4 / 12 + 1 / 4) / 2 and (2 / 8 + 3 / 8) / 2 of one.
  assert found.comparison.parts[0].mean == pytest.approx((7 / 24 + 5 / 16) / 2)
  # An image adds 1 / 24 or 1 / 8 with seed 0, 1 / 16 with seed 1. What the mean over both seeds
  # varies by: in ab one of 2 right images of 8, in c 2 of 4, in d 1 of 4.
  of_seeds = np.array([[1 / 24, 1 / 16]] * 3 + [[1 / 8, 1 / 16]]).mean(axis=1)
  shares = [(8, 2 / 8, of_seeds[0]), (4, 2 / 4, of_seeds[2]), (4, 1 / 4, of_seeds[3])]
  assert found.comparison.parts[0].units == pytest.approx(sum(
      n * n / (n - 1) * share * (1 - share) * add ** 2 for n, share, add in shares))
  assert found.comparison.parts[0].seeds == pytest.approx(max(0, np.var(
      [7 / 24, 5 / 16], ddof=1) / 2 - found.comparison.parts[0].both))


def test_leaderboards_and_pages_mark_a_group(tmp_path):
  table = table_dir.TableDir(
      tmp_path / "board", "board", "suite run board", list(METHODS), ["C"], [0, 1, 2], {},
      scores={"C": "accuracy"})
  for name, right in METHODS.items():
    for seed in table.seeds:
      _clear(table.cell(name, "C", seed) / name, right, seed=[seed, int(100 * right)])
  (table.folder / table_dir.FILE).write_text(table.text())
  panels = {panel.name: panel for panel in leaderboard.build(table)}
  cells = {row[0]: str(row[1]) for row in panels["scores"].rows}
  assert [name for name, text in cells.items() if text.endswith(" *")] == ["good", "fair"]
  ranks = {row[0]: str(row[-1]) for row in panels["ranks"].rows}
  assert ranks["poor"] == "3 [3-3]" and {ranks["good"][1:], ranks["fair"][1:]} == {" [1-2]"}
  rows = {row[0]: row for row in panels["significance_c"].rows}
  assert [rows[name][8] for name in METHODS] == ["a", "a", "b"]
  assert str(rows["poor"][-1]) == "3/3" and panels["significance_c"].notes[2].startswith("3 seeds")
  assert "(fair)" in panels["budgets"].rows[0][1] or "(good)" in panels["budgets"].rows[0][1]
  sections = report_sections.load([table.folder])
  assert {"significance", "pairs"} <= {panel.name for panel in sections[1].panels}
  assert "possible, 95%" in renderers.render(sections, "markdown")
  assert "board,significance_c,2,poor,rank from,3,3\n" in renderers.render(sections, "csv")
  assert " * " in tables.report([table.cell("good", "C", 0), table.cell("poor", "C", 0)])


def test_a_table_as_in_a_paper_has_them_by_column_and_measure(tmp_path):
  table = table_dir.TableDir(tmp_path / "t", "t", "suite run t", ["good", "poor"], ["A 1"], [0, 1],
                             {"accuracy": "acc"})
  for name in table.rows:
    for seed in table.seeds:
      _clear(table.cell(name, "A 1", seed) / "ncm", METHODS[name], seed=seed)
  (table.folder / table_dir.FILE).write_text(table.text())
  section = report_sections.load([table.folder])[0]
  assert [panel.name for panel in section.panels] == [
      "table_1", "significance_a_1_accuracy", "pairs_a_1_accuracy"]
