# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The tool that runs CLEAR-10's Table 1 on generated archives of the real layouts."""

from __future__ import annotations

import json

import cells_here

from suite import cli
from suite.reporting import tables
from suite.system import processes


def test_two_rows_of_table_1_from_archives_to_scores_beside_the_papers(
    tmp_path, load_tool, monkeypatch, capsys):
  tool = load_tool("clear_smoke")
  tool.build("clear10/moco_b0", tmp_path)
  records = sorted((tmp_path / "data" / "clear10").rglob("*.tfrecord*"))
  before = [path.stat().st_mtime_ns for path in records]
  tool.build("clear10/moco_b0", tmp_path)  # Kept.
  assert before and before == [path.stat().st_mtime_ns for path in records]

  monkeypatch.setattr(processes, "run_all", cells_here.run_all)
  # Of the last two buckets; tests/data/streams/clear_buckets_test.py reads others.
  command = tool.command("clear/table1", tmp_path, [
      "experiment.run.only=('finetune','biased_reservoir')", "clear_buckets.load.first=9"])
  assert command[1:4] == ["-m", "suite", "run"]
  assert cli.main([*command[3:], "--only", "linear/*"]) == 0
  cells = tmp_path / "run" / "linear"
  for column, rows in (("iid", range(2)), ("streaming", range(1))):
    for name in ("finetune", "biased_reservoir"):
      summary = json.loads((cells / column / "0" / name / "summary.json").read_text())
      assert summary["mode"] == column and len(summary["class_names"]) == 11
      # Streaming tests on later buckets only, so nothing is trained on the last one.
      tested = [{j for j, a in enumerate(line) if a is not None} for line in summary["matrix"]]
      assert tested == [set(range(2) if column == "iid" else range(i + 1, 2)) if i in rows
                        else set() for i in range(2)]
  report = tables.report([str(tmp_path / "run")])
  assert report in capsys.readouterr().out
  lines = [" ".join(line.split()) for line in report.splitlines()]
  assert "iid In iid Next iid Acc iid BwT iid FwT streaming Next streaming FwT" in lines
  (paper,) = (line for line in lines if line.startswith("linear biased_reservoir, paper"))
  assert paper.endswith(" 91.1 ±0.0 89.2 ±0.0")  # Of the streaming protocol.
  (ours,) = (line for line in lines if line.startswith("linear biased_reservoir 0.00"))
  assert len(ours.split()) == 2 + 7
