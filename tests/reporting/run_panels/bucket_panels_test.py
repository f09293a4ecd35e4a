# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""CLEAR's views from records and saved predictions of two buckets and two classes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from suite import cli
from suite.reporting import paper_values
from suite.reporting import run_dir
from suite.reporting import run_dir as run_dir_lib
from suite.reporting import run_streams
from suite.reporting import tables
from suite.reporting.run_panels import bucket_panels
from suite.reporting.run_panels import report_sections
from suite.state import predictions

LABELS = np.array([0, 0, 1, 1])
# The answers for LABELS by (trained, tested) bucket: accuracies 1, 0.5, 0.75 and 0.75.
ANSWERS = {(0, 0): [0, 0, 1, 1], (0, 1): [1, 1, 1, 1], (1, 0): [0, 0, 0, 1], (1, 1): [0, 1, 1, 1]}


def clear_run(folder, seed=0, answers=None, task="toy", matrix=None, mode="iid", names=None):
  """Writes a finished run; without answers it has a matrix alone."""
  folder.mkdir(parents=True)
  (folder.parent / "config.gin").write_text(f"experiment.run.seed = {seed}\n")
  records = [{"event": 0, "protocol": "clear", "mode": "iid", "task": task, "kind": "train",
              "num_classes": 2, "trained_bucket": 0, "bucket": 0}]
  for i, ((trained, tested), top1) in enumerate((answers or {}).items(), 1):
    correct, name = np.array(top1) == LABELS, f"predictions/{i:04d}.parquet"
    predictions.save(folder / name, ids=[str(k) for k in range(4)], labels=LABELS,
                     top1=np.array(top1), true_class_probability=np.zeros(4), correct=correct)
    records.append({**records[0], "event": i, "kind": "predict", "trained_bucket": trained,
                    "bucket": tested, "accuracy": correct.mean(), "predictions": name})
  (folder / "records.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
  if matrix is None:
    matrix = [[r["accuracy"] for r in records[1:3]], [r["accuracy"] for r in records[3:]]]
  (folder / "summary.json").write_text(json.dumps({
      "protocol": "clear", "stream": f"{task}, {len(matrix)} buckets, {mode}", "matrix": matrix,
      **({"class_names": names} if names else {})}))


@pytest.fixture(name="run_dir", scope="module")
def run_dir_fixture(tmp_path_factory):
  folder = tmp_path_factory.mktemp("clear")
  clear_run(folder / "s0" / "er", 0, ANSWERS)
  # The second seed errs once more: class 1 on bucket 1 by the last model.
  clear_run(folder / "s1" / "er", 1, {**ANSWERS, (1, 1): [0, 1, 0, 1]})
  return folder


def panels(directory):
  return {panel.name: panel for stream in run_streams.build(run_dir.load([directory]))
          for panel in bucket_panels.build(stream)}


def test_matrices_become_curves_over_seeds(run_dir):
  found = panels(run_dir)
  assert list(found) == ["distance", "plasticity", "anytime", "classes", "confusion"]
  # Seeds: in-domain (1 + 0.75) / 2 and (1 + 0.5) / 2.
  assert found["distance"].rows == [["er", 0.75, 0.8125, 0.5]]
  assert [c.name for c in found["distance"].columns] == ["learner", "-1", "0", "+1"]
  line, = found["distance"].chart.series
  assert line.y == [75, 81.25, 50] and line.deviation[1] == pytest.approx(12.5 / 2**0.5)
  # 0.75 - 0.5 and 0.5 - 0.5 on the new bucket; 0.75 - 1 on the earlier one.
  assert found["plasticity"].rows == [["er", 2, 0.125, -0.25]]
  # After bucket 2: 0.75 and 0.625; the mean with 1 from before.
  assert found["anytime"].rows == [["er", 1.0, 0.6875, 0.84375]]


def test_classes_and_confusions_come_from_predictions(run_dir):
  found = panels(run_dir)
  # Class 0: 1 and 0.5 in-domain, 0 on the next bucket. Class 1: 1 and 1, or 1 and 0.5; then 1.
  assert found["classes"].rows == [["er", "0", 0.75, 0.0, -0.75], ["er", "1", 0.875, 1.0, 0.125]]
  # On bucket 2: one of two images of class 0 in each seed; one of four of class 1.
  assert found["confusion"].rows == [["er", "0", "1", 0.0, 0.5], ["er", "1", "0", 0.0, 0.25]]
  assert found["confusion"].chart.choices["er, bucket 2"] == [[50, 50], [25, 75]]


def test_they_are_printed_drawn_and_part_of_the_report(run_dir, tmp_path, capsys):
  assert cli.main(["report", str(run_dir), "--panel", "distance", "--panel", "classes",
                   "--figures", str(tmp_path)]) == 0
  assert "accuracy by distance in time" in capsys.readouterr().out
  assert {path.name for path in tmp_path.iterdir()} == {"distance.png", "classes.png"}
  section, = report_sections.load([run_dir])
  assert set(panels(run_dir)) <= {panel.name for panel in section.panels}
  assert cli.main(["report", str(run_dir), "--panel", "paper_matrix", "--figures", "x"]) == 2
  assert "has what paper_matrix shows. Leave --panel out" in capsys.readouterr().err
  assert cli.main(["report", str(run_dir), "--panel", "anytime"]) == 0
  assert "average anytime" in capsys.readouterr().out


def test_without_predictions_there_is_the_matrix_alone(tmp_path):
  clear_run(tmp_path / "er", matrix=[[None, 0.5], [None, None]])
  found = panels(tmp_path)
  assert list(found) == ["distance"]  # The streaming protocol has no more.
  assert found["distance"].rows == [["er", 0.5]]


def test_reports_of_tasks_say_task(tmp_path):
  folder = tmp_path / "er"
  folder.mkdir()
  record = {"protocol": "incremental", "kind": "predict", "task_key": "toy", "num_classes": 4}
  (folder / "records.jsonl").write_text(json.dumps({"event": 0, **record}) + "\n")
  (folder / "summary.json").write_text(json.dumps({
      "protocol": "incremental", "stream": "toy", "final_average_accuracy": 0.5,
      "matrix": [[0.5, 0.25], [0.25, 0.75]]}))
  [stream] = run_streams.build(run_dir_lib.load([tmp_path]))
  made = [*tables.brief(stream), *bucket_panels.accuracy_matrices(stream),
          *bucket_panels.build(stream)]
  told = repr([(one.title, one.columns, one.notes, one.chart) for one in made])
  assert "by the task trained up to" in told and "earlier tasks" in told
  assert "bucket" not in told.lower()


def test_the_biased_reservoir_is_beside_figure_6(tmp_path):
  paper = np.array(paper_values.matrix("clear_figure6")[1], float) / 100
  clear_run(tmp_path / "biased_reservoir", task="clear10/moco_b0", matrix=(paper + 0.01).tolist())
  figure6 = panels(tmp_path)["paper_matrix"]
  assert figure6.rows[-10][:3] == ["paper, figure 6", 1, pytest.approx(0.9045)]
  by_name = {row[0]: row for row in figure6.rows}
  np.testing.assert_allclose(by_name["biased_reservoir, minus the paper"][2:], 0.01)


def test_a_run_of_the_challenge_is_beside_the_published_matrix(tmp_path):
  published = np.array(paper_values.matrix("clear_challenge_clear100")[1], float) / 100
  clear_run(tmp_path / "er", task="clear100/images", mode="challenge",
            matrix=(published - 0.02).tolist())
  rows = {row[0]: row for row in panels(tmp_path)["paper_matrix"].rows}
  np.testing.assert_allclose(rows["er, minus the published"][2:], -0.02)
  assert rows["challenge, AIPrime"][-1] == pytest.approx(published[-1, -1])


def test_classes_have_their_names_where_all_seeds_agree(tmp_path):
  for folder, second in (("alike", "tram"), ("apart", "train")):
    clear_run(tmp_path / folder / "s0" / "er", 0, ANSWERS, names=["bus", "tram"])
    clear_run(tmp_path / folder / "s1" / "er", 1, ANSWERS, names=["bus", second])
  found = panels(tmp_path / "alike")
  assert [row[1] for row in found["classes"].rows] == ["bus", "tram"]
  assert found["confusion"].rows[0][1:3] == ["bus", "tram"]
  assert found["classes"].chart.rows["er"] == ["bus", "tram"]
  assert [row[1] for row in panels(tmp_path / "apart")["classes"].rows] == ["0", "1"]
