# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The tool that runs CLEAR-10's Table 1 on generated archives of the real layouts."""

from __future__ import annotations

import json

from suite import cli


def test_two_rows_of_table_1_from_archives_to_scores(tmp_path, load_tool):
  tool = load_tool("clear_smoke")
  tool.build("clear10/moco_b0", tmp_path)
  records = sorted((tmp_path / "data" / "clear10").rglob("*.tfrecord*"))
  before = [path.stat().st_mtime_ns for path in records]
  tool.build("clear10/moco_b0", tmp_path)  # Kept.
  assert before and before == [path.stat().st_mtime_ns for path in records]
  # A cell of the table, in this process.
  command = tool.command("clear/table1_linear", tmp_path, [
      "experiment.run.only=('finetune','ft_biased')", "MEMORY=8"])
  assert command[1:4] == ["-m", "suite", "run"]
  assert cli.main(command[3:]) == 0
  for row in ("finetune", "ft_biased"):
    summary = json.loads((tmp_path / "run" / row / "summary.json").read_text())
    assert summary["mode"] == "iid" and len(summary["class_names"]) == 11
    assert [len(line) for line in summary["matrix"]] == [10] * 10
  table = tool.command("clear/table1", tmp_path, [])
  assert any(param.startswith("table.run.seeds") for param in table)
