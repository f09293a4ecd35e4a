# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A leaderboard of runs written by hand: ranks, partial and refused cells, budgets, estimates.

Its ranks and the best within a budget are worked by hand.
"""

from __future__ import annotations

import json

import pytest

from suite.reporting import leaderboard
from suite.reporting import run_dir
from suite.reporting import run_streams
from suite.reporting import table_dir
from suite.reporting import tables
from suite.reporting.run_panels import report_sections

SCORES = {"N": "mean_error_all", "C": "accuracy"}


def _run(table, row, column, seed, value, *, flops=100, stream="one", is_finished=True):
  folder = table.cell(row, column, seed) / row
  folder.mkdir(parents=True)
  (folder.parent / "environment.json").write_text(json.dumps({"learners": [row]}))
  protocol = {"N": "nevis", "C": "clear"}[column]
  record = {"event": 0, "protocol": protocol, "kind": "train", "flops": flops, "seconds": 1.0}
  (folder / "records.jsonl").write_text(json.dumps(record) + "\n")
  if is_finished:
    (folder / "summary.json").write_text(json.dumps({
        "protocol": protocol, "stream": stream, SCORES[column]: value, "flops": flops}))


def _lifelong(table, estimate):
  """One record of an estimate for each of two models."""
  folder = table.folder / table.last / estimate
  folder.mkdir(parents=True)
  records = [{"event": i, "protocol": "lifelong", "kind": "predict", "table": "t", "num_asked": 4,
              "model": f"board/{row}/C/0/{row}/0001", "num_samples": 10, "per_sample_error": error,
              "constant_error": 0.5, "accuracy_error": 0.25, "identical_models": i}
             for i, (row, error) in enumerate((("a", 0.1), ("b", 0.3)))]
  (folder / "records.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
  (folder / "summary.json").write_text(json.dumps({"protocol": "lifelong", "stream": "board"}))


@pytest.fixture(name="table")
def _table(tmp_path):
  """Three methods, two protocols, two seeds; c is refused under C, and b's seed 1 is missing."""
  made = table_dir.TableDir(
      tmp_path / "board", "board", "suite run board", ["a", "b", "c"], ["N", "C"], [0, 1], {},
      missing={"c/C": "no such delivery"}, scores=SCORES, last="last/5_cells")
  made.folder.mkdir()
  (made.folder / table_dir.FILE).write_text(made.text())
  for seed, error in enumerate((0.2, 0.4)):
    _run(made, "a", "N", seed, error, flops=200)
    _run(made, "c", "N", seed, 0.1, flops=5000)
    _run(made, "a", "C", seed, 0.5, flops=50)
  _run(made, "b", "N", 0, 0.3)
  _run(made, "b", "N", 1, None, is_finished=False)
  _run(made, "b", "C", 0, 0.75, flops=20)
  return made


def _panels(table):
  return {panel.name: panel for panel in leaderboard.build(table)}


def test_values_that_differ_from_a_methods_own_stand_beside_its_name(table):
  for column, said in (("N", "rate=2"), ("C", "rate=2")):
    (table.cell("a", column, 0) / "environment.json").write_text(
        json.dumps({"learners": ["a"], "changes": {"a": said}}))
  found = _panels(table)
  assert [[row[0] for row in found[name].rows] for name in ("ranks", "scores")] == [
      ["c", "b", "a (rate=2)"], ["a (rate=2)", "b", "c"]]
  (table.cell("a", "C", 0) / "environment.json").write_text('{"changes": ["none"]}')
  assert _panels(table)["scores"].rows[0][0] == "a (N: rate=2)"


def test_runs_that_do_not_fit_their_budget_are_an_outcome(table):
  cell = table.cell("b", "C", 1) / "b"
  cell.mkdir(parents=True)
  (cell / "refused.json").write_text(run_dir.sealed({"reason": "too large"}))
  notes = _panels(table)["scores"].notes
  assert "8 of 10 runs are finished, 1 do not fit the budget: partial, not final." in notes
  assert "Does not fit: b/C: too large" in notes
  (cell / "summary.json").write_text("{}")
  assert not table.refused()


def test_ranks_are_within_the_scored_and_means_say_over_how_many(table):
  panel = _panels(table)["ranks"]
  # N: c 10%, then a and b with 30% share 2.5. C: b 75%, a 50%. Of a and b alone under N: 1.5 each.
  assert [list(row) for row in panel.rows] == [
      ["c", 1, 1, None, 1, None], ["b", 1.75, 2, 1.25, 2.5, 1], ["a", 2.25, 2, 1.75, 2.5, 2]]
  assert panel.columns[3].name == "among 2 everywhere"
  assert panel.best == {(0, 1), (1, 3), (0, 4), (1, 5)}
  assert panel.notes[0] == "8 of 10 runs are finished: partial, not final."


def test_scores_show_deviations_partial_cells_and_refusals(table):
  panel = _panels(table)["scores"]
  assert [list(map(str, row)) for row in panel.rows] == [
      ["a", "30.00 ±14.14", "50.00 ±0.00"], ["b", "30.00 (1/2)", "75.00 (1/2)"],
      ["c", "10.00 ±0.00", "-"]]
  assert panel.best == {(2, 1), (1, 2)}
  assert [row[0::2] for row in _panels(table)["protocols"].rows] == [
      ["N", "one", "lower"], ["C", "one", "higher"]]
  assert "No cell: c/C: no such delivery." in panel.notes
  assert any("Lower is better: N." in note for note in panel.notes)


def test_fronts_and_budgets_are_of_each_protocol_alone(table):
  panels = _panels(table)
  assert [row[-1] for row in panels["front_n"].rows] == ["", "yes", "yes"]
  # b has one color in all panels, with or without the others.
  assert [s.place for s in panels["front_n"].chart.series] == [None, 0, 1, 2]
  assert [s.place for s in panels["front_c"].chart.series] == [None, 0, 1]
  assert panels["front_n"].chart.y_unit == "%" and "C" not in panels["front_n"].title.split()
  best = {row[0]: list(row[1:]) for row in panels["budgets"].rows}
  assert list(best) == pytest.approx([10, 30, 100, 300, 1000, 3000, 10_000])
  assert best[10.0] == ["-", "-"] and best[30.0] == ["-", "b 75.00"]
  assert best[300.0] == ["a, b 30.00", "b 75.00"]  # Equal scores are both best.
  assert best[10_000.0] == ["c 10.00", "b 75.00"]


def test_pretraining_is_shown_with_without_and_by_task(table):
  assert "costs" not in _panels(table)  # Nothing is pretrained, and nothing has a budget.
  folder = table.cell("b", "C", 1) / "b"
  folder.mkdir(parents=True)
  (folder.parent / "environment.json").write_text(json.dumps({"learners": ["b"]}))
  totals = {"flops": 100, "flops_pretrain": 60, "flops_train": 30, "flops_predict": 10,
            "budget_flops": 200, "budget_flops_left": 110, "budget_cut": False,
            "state_bytes": 8, "memory_bytes": 0, "stored_bytes": 4}
  (folder / "records.jsonl").write_text("".join(json.dumps({
      "event": i, "protocol": "clear", "kind": kind, "seconds": 1.0, **totals}) + "\n"
      for i, kind in enumerate(("train", "predict", "train", "predict"))))
  (folder / "summary.json").write_text(json.dumps({
      "protocol": "clear", "stream": "one", "accuracy": 0.8, **totals}))
  alone = run_streams.LearnerRuns("b", run_dir.load([folder]))
  # 60 of 90 FLOPs of learning, which serve two buckets.
  assert alone.cost_cells() == [90, 30, 60, 30, 200, 110, 8, 0, 4]
  (costs,) = [panel for panel in leaderboard.build(table) if panel.name == "costs"]
  # Seeds that serve different numbers of buckets have no common share.
  assert [column.name for column in costs.columns][:5] == [
      "method", "protocol", "FLOPs without answers", "without pretraining", "pretraining"]
  assert costs.rows[-1][0] == "c" and costs.rows[2][:2] == ["b", "N"] and len(costs.rows) == 5


def test_runs_of_different_streams_are_not_averaged(table):
  _run(table, "b", "C", 1, 0.85, stream="two")
  panels = _panels(table)
  assert all(row[-1] is None for row in panels["ranks"].rows)
  assert [str(row[2]) for row in panels["scores"].rows] == ["- (2/2)", "- (2/2)", "-"]
  assert ("C: not ranked, its runs are of different streams: clear (one); clear (two)."
          in panels["scores"].notes)
  assert "front_c" not in panels


def test_estimates_are_by_protocol_once_they_have_begun(table):
  assert "lifelong" not in _panels(table)
  _lifelong(table, "factors")
  panel = _panels(table)["lifelong"]
  assert [list(row) for row in panel.rows] == [
      ["C", "factors", 1, 2, 8, 20, pytest.approx(0.2), 0.5, 0.25, 1]]


def test_all_reports_begin_with_it_and_the_figure_has_an_axis_for_each(table):
  assert tables.report([table.folder]).startswith("board: ranks\n")
  sections = report_sections.load([table.folder])
  assert sections[0].title == "board" and sections[0].panels[0].name == "ranks"
  assert [s.title for s in sections[1:]] == ["clear (one)", "nevis (one)"]
  fronts = {panel.name: [series.name for series in panel.chart.series]
            for panel in sections[0].panels if panel.name.startswith("front_")}
  assert fronts == {"front_n": ["Pareto front", "a", "b (partial)", "c"],
                    "front_c": ["Pareto front", "a", "b"]}


def test_a_cell_of_several_learners_is_refused(table):
  _run(table, "b", "C", 1, 0.75)
  folder = table.cell("b", "C", 1)
  (folder / "b").rename(folder / "other")
  with pytest.raises(ValueError, match="has the learners b, other; a leaderboard has one a cell"):
    leaderboard.build(table)


def test_a_leaderboard_of_which_nothing_has_begun(tmp_path):
  made = table_dir.TableDir(tmp_path, "none", "", ["a"], ["N"], [0], {}, scores={"N": "error"})
  assert [panel.name for panel in leaderboard.build(made)] == ["ranks", "scores"]


def test_ranks_are_of_those_that_have_a_score_and_ties_share_them():
  found = leaderboard.ranks_of(
      {"a": 0.5, "b": 0.9, "c": None, "d": 0.5, "e": float("nan"), "f": 0.1})
  # b is first; a and d share the second and third place; c and e have none and take none.
  assert found == {"a": 2.5, "b": 1.0, "c": None, "d": 2.5, "e": None, "f": 4.0}


def test_the_lowest_error_is_first():
  assert leaderboard.ranks_of({"a": 0.5, "b": 0.1}, lower_is_better=True) == {"a": 2.0, "b": 1.0}
  assert leaderboard.ranks_of({"a": None}) == {"a": None}


def test_a_mean_rank_is_over_the_protocols_with_a_rank():
  found = leaderboard.mean_ranks(
      [{"a": 1.0, "b": 2.5, "c": None}, {"a": 3.0, "b": None, "c": None}])
  assert found == {"a": (2.0, 2), "b": (2.5, 1), "c": (None, 0)}


def test_only_methods_with_a_score_everywhere_are_in_common():
  assert leaderboard.common(
      [{"a": 1.0, "b": 0.0, "c": 1.0}, {"a": 0.0, "b": None, "c": float("nan")}]) == ["a"]
  assert leaderboard.common([]) == []


@pytest.mark.parametrize("budget, best", [
    (0.0, ["free"]), (9.9, ["free"]), (10.0, ["cheap", "twin"]), (1e9, ["large"])])
def test_the_best_within_a_budget(budget, best):
  points = [leaderboard.Point("free", 0.2, 0.0), leaderboard.Point("cheap", 0.5, 10.0),
            leaderboard.Point("large", 0.7, 99.0), leaderboard.Point("unknown", 0.9, None),
            leaderboard.Point("twin", 0.5, 3.0 + 7.0)]
  assert [p.name for p in leaderboard.best_within(points, budget)] == best


def test_nothing_is_within_a_budget_below_all_costs_and_errors_are_to_be_low():
  points = [leaderboard.Point("a", 0.5, 10.0), leaderboard.Point("b", 0.4, 10.0)]
  assert leaderboard.best_within(points, 9.0) == []
  assert [p.name for p in leaderboard.best_within(points, 10.0, lower_is_better=True)] == ["b"]


@pytest.mark.parametrize("costs, expected", [
    ([20.0, None, 0.0, 400.0], [10.0, 30.0, 100.0, 300.0, 1000.0]),
    ([3.0], [3.0]), ([9.0, 12.0], [3.0, 10.0, 30.0]), ([0.0, None], [])])
def test_budgets_enclose_the_costs(costs, expected):
  assert leaderboard.budgets(costs) == pytest.approx(expected)
