# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A protocol that a user wrote, the one of docs/own/protocol.md, in reports and leaderboards."""

from __future__ import annotations

import json
import pathlib
import re
import shutil

import pytest
import tensorflow as tf

from suite.reporting import leaderboard
from suite.reporting import run_dir
from suite.reporting import table_dir
from suite.reporting.board import tensorboard
from suite.reporting.run_panels import report_sections

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "own" / "protocol.md"


@pytest.fixture(name="run", scope="module")
def _run(tmp_path_factory):
  """The run of the page's program."""
  home = tmp_path_factory.mktemp("own")
  with pytest.MonkeyPatch.context() as patch:
    patch.chdir(home)
    patch.setattr(tf.config.experimental, "enable_op_determinism", lambda: None)
    code = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1]
    exec(compile(code, str(PAGE), "exec"), {"__name__": "backwards"})  # pylint: disable=exec-used
  found, = run_dir.load([home / "runs"])
  return found


def test_its_headline_curve_and_front_are_in_the_report(run):
  section, = report_sections.load([run.folder])
  panels = {panel.name: panel for panel in section.panels}
  assert panels["scores"].text_table().header[3:5] == [
      "error at the end, %", "error at the start, %"]
  assert panels["scores"].rows[0][3] == run.summary["last_error"]
  assert panels["pareto"].title == "backwards: error at the end against cumulative FLOPs"
  curve, = panels["curves"].chart.series
  assert panels["curves"].chart.y_label == "Error on the first bucket"
  assert list(curve.x) == [1, 3, 5]
  assert curve.y[-1] == pytest.approx(100 * run.summary["last_error"])


def test_its_headline_is_in_tensorboard(run):
  scores = tensorboard.RunningScores(description=run.description)
  assert scores.final(run.summary)["headline/last_error"] == run.summary["last_error"]


def test_it_is_a_column_of_a_leaderboard(run, tmp_path):
  table = table_dir.TableDir(tmp_path, "board", "", ["good", "bad"], ["BACKWARDS"], [0], {},
                             scores={"BACKWARDS": ""})
  for row, error in (("good", 0.25), ("bad", 0.5)):
    folder = table.cell(row, "BACKWARDS", 0) / "nearest_mean"
    shutil.copytree(run.folder, folder)
    (folder / "summary.json").write_text(json.dumps({**run.summary, "last_error": error}))
  column, = leaderboard.load(table)
  assert column.heading == "BACKWARDS last error" and column.lower_is_better
  assert column.ranks(table.rows) == {"good": 1, "bad": 2}


def test_a_damaged_description_is_refused(run, tmp_path):
  folder = tmp_path / "nearest_mean"
  shutil.copytree(run.folder, folder)
  text = (folder / "protocol.json").read_text(encoding="utf-8")
  (folder / "protocol.json").write_text(text.replace("lower", "higher", 1), encoding="utf-8")
  with pytest.raises(ValueError, match="protocol.json is not JSON as it was written .*digest"):
    run_dir.description(folder)
