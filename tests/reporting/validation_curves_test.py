# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Curves of validation accuracy, from records written by hand."""

from __future__ import annotations

import json

import pytest

from suite.reporting import paper_table
from suite.reporting import records
from suite.reporting import table_dir


@pytest.fixture(name="table")
def _table(tmp_path):
  made = table_dir.TableDir(tmp_path, "t", "suite run t", ["low", "high", "none"], ["FSL", "A 3"],
                            [0, 1], {"accuracy": "accuracy"})
  (tmp_path / table_dir.FILE).write_text(made.text())
  return made


def _cell(table, row, column, seed, accuracies, *, finished=True):
  folder = table.cell(row, column, seed) / "x"
  folder.mkdir(parents=True)
  (folder.parent / "environment.json").write_text(json.dumps({"learners": ["x"]}))
  every = [{"kind": "train", "flops_meta_train": 100 * (i + 1), "flops": 1000 * (i + 1),
            "validation_accuracy": accuracy} for i, accuracy in enumerate(accuracies)]
  lines = [records.to_line(r) for r in [*every, {"kind": "predict", "accuracy": 0.5}]]
  (folder / "records.jsonl").write_text("".join(line.rstrip("\n") + "\n" for line in lines))
  if finished:
    (folder / "summary.json").write_text(json.dumps({"protocol": "cfsl"}))


def test_a_curve_is_the_mean_of_the_finished_seeds_against_meta_trainings_flops(table):
  _cell(table, "low", "FSL", 0, [0.5, 0.6, 0.7, 0.9])
  _cell(table, "low", "FSL", 1, [0.3, 0.4, 0.5, 0.5])
  _cell(table, "high", "FSL", 0, [0.5, 0.6, 0.6, 0.605])
  _cell(table, "high", "FSL", 1, [0.9] * 4, finished=False)
  low, high = paper_table.validation_curves(table)
  assert low.flops == [100, 200, 300, 400]
  assert low.accuracies == pytest.approx([40, 50, 60, 70])
  assert (low.seeds, high.seeds) == (2, 1)
  assert high.accuracies == pytest.approx([50, 60, 60, 60.5])
  # After the half, which is the second of four, low gained 20 points and high half a point.
  made, = paper_table.validation_gains(table)
  assert [made.header, *(list(map(str, row)) for row in made.rows)] == [
      ["", "FSL"], ["low", "+20.00"], ["high", "+0.50"]]
  assert made.best == {(0, 1)}
  assert made.rows == paper_table.build(table.folder)[-1].rows
  assert list(made.chart.choices) == ["FSL"]
  assert [line.name for line in made.chart.choices["FSL"].series] == ["low", "high"]
  assert made.chart.choices["FSL"].log_x


def test_a_table_without_curves_has_neither_a_table_nor_a_figure_of_them(table):
  _cell(table, "low", "FSL", 0, [0.5, 0.6, 0.7])
  assert paper_table.validation_curves(table) == []
  assert paper_table.validation_gains(table) == []
  assert [one.chart for one in paper_table.build(table.folder)] == [None]
