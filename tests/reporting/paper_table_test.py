# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Reports of whole tables made of summaries written by hand."""

from __future__ import annotations

import json

import pytest

from suite.reporting import paper_table
from suite.reporting import table_dir
from suite.reporting import tables

SCORES = {"in_domain": "In", "next_domain": "Next"}


def _table(folder, **changes):
  values = {"title": "cfsl/table2", "command": "suite run cfsl/table2",
            "rows": ["omniglot_protonet", "mine"], "columns": ["FSL", "D 4"], "seeds": [0, 1, 2],
            "measures": {"accuracy": "accuracy"}, "costs": ["macs_per_task", "atm"],
            "paper": "cfsl_table2", **changes}
  made = table_dir.TableDir(folder, **values)
  (folder / table_dir.FILE).write_text(made.text())
  return made


def _cell(table, row, column, seed, *, learners=("x",), **summary):
  cell = table.cell(row, column, seed)
  for name in learners:
    (cell / name).mkdir(parents=True)
    (cell / name / "summary.json").write_text(json.dumps(summary))
  (cell / "environment.json").write_text(json.dumps({"learners": list(learners)}))


@pytest.fixture(name="cfsl")
def _cfsl(tmp_path):
  table = _table(tmp_path)
  for seed, accuracy in enumerate((0.96, 0.98, 0.97)):
    _cell(table, "omniglot_protonet", "FSL", seed, accuracy=accuracy, accuracy_interval_95=0.003,
          convention="spec", macs_per_task=3e8, atm=0.08, num_support_sets=1, task_type="FSL")
  for seed, accuracy in enumerate((0.5, 0.52)):
    _cell(table, "omniglot_protonet", "D 4", seed, accuracy=accuracy, convention="spec",
          macs_per_task=12e8, atm=0.08, num_support_sets=4, task_type="D")
  _cell(table, "mine", "FSL", 1, accuracy=0.5, accuracy_interval_95=0.004, convention="spec",
        macs_per_task=None, atm=1.5, num_support_sets=1, task_type="FSL", transductive=True)
  return tmp_path


def _texts(table):
  return [list(map(str, row)) for row in table.rows]


def test_ours_over_seeds_and_the_papers_below(cfsl):
  scores, costs = paper_table.build(cfsl)
  # Of 96, 98 and 97: mean 97, deviations -1, 1, 0, so std 1; of 50 and 52: the root of 2.
  assert [scores.header, *_texts(scores)] == [
      ["", "FSL", "D 4"],
      ["omniglot_protonet", "97.00 ±1.00", "51.00 ±1.41 (2/3)"],
      ["  paper", "98.52 ±0.04", "48.98 ±0.03"],
      ["mine", "50.00 [0.40] (1/3)", "-"]]
  assert scores.notes[0].startswith("6 of 12 runs are finished. In percent: mean ±standard")
  assert scores.notes[1:4] == [
      "Ours follow the convention spec.",
      "The paper's follow the conventions paper_feb (FSL), paper_apr (D 4).",
      "Transductive, an answer may depend on the other target images: mine."]
  assert "commit 39025a3" in " ".join(scores.notes[3:])
  assert [costs.header, *_texts(costs)] == [
      ["", "", "FSL", "D 4"],
      ["omniglot_protonet", "macs_per_task", "300 MMAC", "1.20 GMAC"],
      ["omniglot_protonet", "atm", "0.0800", "0.0800"],
      ["mine", "atm", "1.5000", "-"]]


def test_the_report_of_a_directory_is_that_of_its_table(cfsl):
  text = tables.report([cfsl])
  assert text.startswith("cfsl/table2\n") and "cfsl/table2: costs" in text
  scores = paper_table.build(cfsl)[0].markdown()
  assert "| omniglot_protonet | 97.00 ±1.00 | 51.00 ±1.41 (2/3) |" in scores


def test_a_table_that_nobody_has_begun_shows_its_form(tmp_path):
  _table(tmp_path)
  scores, = paper_table.build(tmp_path)
  assert _texts(scores) == [["omniglot_protonet", "-", "-"],
                            ["  paper", "98.52 ±0.04", "48.98 ±0.03"],
                            ["mine", "-", "-"]]
  assert not any("Ours follow" in note for note in scores.notes)


def test_mixed_conventions_are_told(tmp_path):
  table = _table(tmp_path, paper=None, costs=[])
  _cell(table, "mine", "FSL", 0, accuracy=0.5, convention="spec")
  _cell(table, "mine", "D 4", 0, accuracy=0.5, convention="paper_apr")
  scores, = paper_table.build(tmp_path)
  assert scores.notes[-1] == "Ours follow the conventions spec (FSL), paper_apr (D 4)."


def test_printed_multiply_adds_stand_below_ours(tmp_path):
  table = _table(tmp_path, title="fluid/paper_table", rows=["ncm", "lwf"], seeds=[5],
                 columns=["resnet18 supervised", "resnet50 supervised"],
                 measures={"overall": "overall"}, costs=["macs"], paper="fluid_table3_7")
  for column in ("resnet18 supervised", "resnet50 supervised"):
    for row in ("ncm", "lwf"):
      _cell(table, row, column, 5, overall=0.5, macs=2e14)
  _, costs = paper_table.build(tmp_path)
  assert _texts(costs) == [
      ["ncm", "macs", "200 TMAC", "200 TMAC"],
      ["  paper", "10^6 GMACs, cached / uncached", "0.15", "0.35"],
      ["lwf", "macs", "200 TMAC", "200 TMAC"],
      ["  paper", "10^6 GMACs, cached / uncached", "22.58/45.16", "38.36/76.72"]]


def test_costs_are_gathered_by_learner_and_task_type(cfsl):
  # A task of one set belongs to every type.
  macs, memory = paper_table.cost_plots(table_dir.read(cfsl)).values()
  assert {one.name: (list(one.x), list(one.y)) for one in macs.series} == {
      "omniglot_protonet, D": ([1, 4], [3e8, 12e8]), "mine, FSL": ([1], [None])}
  assert [list(one.y) for one in memory.series] == [[0.08, 0.08], [1.5]]
  assert macs.ticks == {1: "1", 4: "4"}


def test_accuracy_by_the_length_of_a_task_stands_beside_the_papers(cfsl):
  plots = paper_table.length_plots(table_dir.read(cfsl))
  assert list(plots) == ["D"]  # One set is a task of every type.
  lines = {line.name: (line.x, line.y) for line in plots["D"].series}
  assert lines == {
      "omniglot_protonet": ([1, 4], pytest.approx([97.0, 51.0])),
      "omniglot_protonet (paper)": ([1, 4], [98.52, 48.98]),
      "mine": ([1], pytest.approx([50.0]))}


def test_a_table_without_measures_shows_costs_alone(tmp_path):
  table = _table(tmp_path, paper=None, measures={}, rows=["mine"])
  empty, = paper_table.build(tmp_path)
  assert empty.rows == [] and empty.notes == ["0 of 6 runs are finished."]
  _cell(table, "mine", "FSL", 0, accuracy=None, convention="spec", atm=0.5, num_support_sets=1,
        task_type="FSL", transductive=True)
  costs, = paper_table.build(tmp_path)
  assert _texts(costs) == [["mine", "atm", "0.5000", "-"]]
  assert costs.notes == [
      "1 of 6 runs are finished.", "Ours follow the convention spec.",
      "Transductive, an answer may depend on the other target images: mine."]


def test_runs_of_several_learners_make_a_line_each(tmp_path):
  table = _table(tmp_path, title="clear/table1", rows=["linear"], columns=["iid", "streaming"],
                 seeds=[0, 1], measures=SCORES, costs=[], paper="clear_table1")
  for seed in (0, 1):
    _cell(table, "linear", "iid", seed, learners=("er", "joint"), in_domain=0.9 + seed / 100,
          next_domain=0.8)
    _cell(table, "linear", "streaming", seed, learners=("er", "joint"), in_domain=None,
          next_domain=0.7)
  scores, = paper_table.build(tmp_path)
  assert [scores.header, *_texts(scores)] == [
      ["", "iid In", "iid Next", "streaming Next"],  # The protocol has no in-domain score there.
      ["linear er", "90.50 ±0.71", "80.00 ±0.00", "70.00 ±0.00"],
      ["  paper", "91.7 ±0.0", "90.9 ±0.0", "91.4 ±0.1"],
      ["linear joint", "90.50 ±0.71", "80.00 ±0.00", "70.00 ±0.00"]]


def test_values_that_a_row_changes_of_a_method_stand_beside_it(tmp_path):
  table = _table(tmp_path, rows=["a", "b"], seeds=[0], paper=None)
  for row, column, said in (("a", "FSL", "k=2"), ("a", "D 4", "k=2"), ("b", "FSL", "k=2"),
                            ("b", "D 4", "k=3")):
    _cell(table, row, column, 0, accuracy=0.5, macs_per_task=1)
    (table.cell(row, column, 0) / "environment.json").write_text(
        json.dumps({"learners": ["x"], "changes": {"x": said}}))
  scores, costs = paper_table.build(tmp_path)  # That b's columns differ is said by their names.
  assert [row[0] for row in _texts(scores)] == [row[0] for row in _texts(costs)] == ["a (k=2)", "b"]


def test_a_matrix_stands_beside_the_papers(tmp_path):
  table = _table(tmp_path, rows=["linear"], columns=["iid"], seeds=[0, 1], paper=None, costs=[],
                 matrices=[["iid", "linear biased_reservoir", "clear_figure6"]])
  whole = [[0.5 + i / 100 + j / 1000 for j in range(10)] for i in range(10)]
  for seed in (0, 1):
    _cell(table, "linear", "iid", seed, learners=("er", "biased_reservoir"), accuracy=0.5,
          matrix=[[a + seed / 10 for a in row] for row in whole])
  _, figure6 = paper_table.build(tmp_path)
  assert figure6.header == ["", *map(str, range(1, 11))]
  assert _texts(figure6)[2][:3] == ["trained up to 2", "56.00", "56.10"]  # (51 + 61) / 2
  assert _texts(figure6)[3][:3] == ["  paper", "91.42", "90.63"]
  assert figure6.notes[0] == "Ours: mean over seeds, 2 of them."


def test_a_matrix_of_another_size_cannot_stand_there(tmp_path):
  table = _table(tmp_path, rows=["linear"], columns=["iid"], seeds=[0], paper=None, costs=[],
                 matrices=[["iid", "linear", "clear_figure6"]])
  _cell(table, "linear", "iid", 0, matrix=[[0.5, None], [0.5, 0.5]])
  _, figure6 = paper_table.build(tmp_path)
  assert _texts(figure6)[0][1:] == ["-"] * 10


def test_a_damaged_summary_is_named(cfsl):
  (cfsl / "mine" / "FSL" / "1" / "x" / "summary.json").write_text("{")
  with pytest.raises(ValueError, match=r"summary\.json is not JSON"):
    paper_table.build(cfsl)


def test_names_as_seeds_values_within_values_and_seconds(tmp_path):
  table = _table(
      tmp_path, rows=["frozen"], columns=["test"], seeds=["test_0", "test_1"], paper=None,
      measures={"overall": "open", "closed.overall": "closed"},
      costs=["macs", "updates", "seconds"])
  for number, seed in enumerate(table.seeds):
    _cell(table, "frozen", "test", seed, learners=("ncm", "et"), protocol="fluid",
          overall=0.25 + 0.25 * number, closed={"overall": 0.5}, macs=2e9, updates=18)
    for name in ("ncm", "et"):
      (table.cell("frozen", "test", seed) / name / "records.jsonl").write_text(
          f'{{"seconds": 1}}\n{{"seconds": {10 + 20 * number}, "seconds_train": 1}}\n')
  scores, costs = paper_table.build(tmp_path)
  assert [scores.header, *_texts(scores)] == [
      ["", "test open", "test closed"],
      ["frozen ncm", "37.50 ±17.68", "50.00 ±0.00"], ["frozen et", "37.50 ±17.68", "50.00 ±0.00"]]
  assert [costs.header, *_texts(costs)] == [
      ["", "macs", "updates", "seconds"],  # One column: costs are columns themselves.
      ["frozen ncm", "2.00 GMAC", "18", "20 s"], ["frozen et", "2.00 GMAC", "18", "20 s"]]
  assert paper_table.update_plots(table) == {}  # Each learner has one row.


def test_a_cost_that_some_learners_have_and_notes_of_the_table(tmp_path):
  table = _table(
      tmp_path, rows=["ncm", "maml"], columns=["test"], seeds=["test_0"], paper=None,
      measures={"overall": "open"}, costs=["passes", "meta_loss", "unheard_of"],
      notes=["maml is under-trained."])
  _cell(table, "ncm", "test", "test_0", overall=0.5, passes=0)
  _cell(table, "maml", "test", "test_0", overall=0.5, passes=1200, meta_loss=3.25)
  scores, costs = paper_table.build(tmp_path)
  assert scores.notes[-1] == "maml is under-trained."
  assert [costs.header, *_texts(costs)] == [
      ["", "passes", "meta_loss"], ["ncm", "0", "-"], ["maml", "1,200", "3.2500"]]


def test_update_strategies_are_points_of_a_figure(tmp_path):
  table = _table(tmp_path, rows=["never", "every 9"], columns=["test"], seeds=["a", "b"],
                 paper=None, measures={"overall": "open"}, costs=[])
  for row, macs, overall in (("never", 0, 0.25), ("every 9", 4e9, 0.5)):
    for seed in table.seeds:
      spent = {"macs_train": macs} if macs else {}  # Nothing was charged.
      _cell(table, row, "test", seed, learners=("ft",), protocol="fluid", overall=overall, **spent)
  plot, = paper_table.update_plots(table).values()
  points, never = plot.series  # What costs nothing is a line.
  assert (points.name, points.x, points.y, points.labels) == ("ft", [4e9], [50], ["every 9"])
  assert (never.name, never.y) == ("ft, never", [25, 25])
