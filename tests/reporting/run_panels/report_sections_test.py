# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Sections of a report: streams apart, seeds together, partial runs never final."""

from __future__ import annotations

import html
import json
import os

import nevis_runs
import pytest

import suite
from suite import cli
from suite.reporting import figures
from suite.reporting import quantities
from suite.reporting import tables
from suite.reporting.nevis_panels import stream_results
from suite.reporting.run_panels import report_sections


def clear_run(folder, accuracy, *, seed=0, mode="iid", buckets=2, is_finished=True, flops=100):
  """Writes a run of CLEAR with a matrix of one accuracy."""
  folder.mkdir(parents=True)
  (folder.parent / "config.gin").write_text(
      f"RATE = 0.1\nclear.run.mode = '{mode}'\nexperiment.run.seed = {seed}\n")
  records = [{"event": b, "protocol": "clear", "mode": mode, "task": "toy", "kind": "predict",
              "num_classes": 3, "trained_bucket": b, "bucket": b, "accuracy": accuracy,
              "flops": flops, "flops_train": flops, "seconds": 2.0, "seconds_train": 2.0}
             for b in range(buckets)]
  (folder / "records.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
  if is_finished:
    (folder / "summary.json").write_text(json.dumps({
        "protocol": "clear", "stream": f"toy, {buckets} buckets, {mode}", "accuracy": accuracy,
        "matrix": [[accuracy] * buckets] * buckets, "flops": flops, "flops_train": flops}))
  return folder


def _panel(section, name):
  return next(panel for panel in section.panels if panel.name == name)


def _row(panel, label):
  return dict(zip([c.name for c in panel.columns], next(r for r in panel.rows if r[0] == label)))


def test_seeds_are_averaged_and_streams_are_not(tmp_path):
  clear_run(tmp_path / "x" / "deep" / "s0" / "er", 0.5, seed=0)
  clear_run(tmp_path / "x" / "deep" / "s1" / "er", 0.7, seed=1)
  clear_run(tmp_path / "y" / "stream" / "er", 0.9, mode="streaming")
  clear_run(tmp_path / "z" / "longer" / "er", 0.1, buckets=3)
  sections = report_sections.load([tmp_path / "x", tmp_path])
  assert [s.title for s in sections] == [
      "clear (toy, 2 buckets, iid)", "clear (toy, 2 buckets, streaming)",
      "clear (toy, 3 buckets, iid)"]
  row = _row(_panel(sections[0], "scores"), "er")
  assert (row["seeds"], row["state"], row["FLOPs without answers"]) == (2, "finished", 100)
  assert row["accuracy"] == pytest.approx(0.6)
  assert row["± accuracy"] == pytest.approx(0.02 ** 0.5)  # of 0.5 and 0.7, by n - 1
  assert len(_panel(sections[0], "runs").rows) == 2 and len(_panel(sections[2], "runs").rows) == 1
  matrices = _panel(sections[0], "matrix").chart
  assert matrices.choices["er"] == [[pytest.approx(60)] * 2] * 2


def test_scores_are_drawn_against_both_ledgers_of_a_budget(tmp_path):
  folder = clear_run(tmp_path / "x" / "er", 0.5)
  assert not {"spent", "held"} & {p.name for p in report_sections.load([tmp_path])[0].panels}
  records = [{**json.loads(line), "budget_flops": 300, "budget_flops_left": 250 - 50 * i,
              "budget_cut": i == 1, "state_bytes": 7, "memory_bytes": i, "stored_bytes": 0,
              "flops": 150 + 50 * i, "flops_train": 50 + 50 * i, "flops_predict": 100}
             for i, line in enumerate((folder / "records.jsonl").read_text().splitlines())]
  (folder / "records.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
  section = report_sections.load([tmp_path])[0]
  assert _panel(section, "spent").rows == [["er", 2, 100, 0.5, "yes"]]
  assert _panel(section, "spent").chart.series[0].x == [50, 100]
  assert _panel(section, "held").chart.series[0].x == [7, 8]
  assert not any("budget" in c.name for c in _panel(section, "compute").columns)


def test_what_a_learner_records_makes_no_other_stream(tmp_path):
  clear_run(tmp_path / "er", 0.5)
  records = clear_run(tmp_path / "protonet", 0.7) / "records.jsonl"
  first, *others = records.read_text().splitlines()
  meta_trained = {**json.loads(first), "way": 3, "shot": 5}
  records.write_text("\n".join([json.dumps(meta_trained), *others, ""]))
  assert [s.title for s in report_sections.load([tmp_path])] == ["clear (toy, 2 buckets, iid)"]


def test_a_run_that_goes_on_is_partial_and_has_no_score(tmp_path):
  clear_run(tmp_path / "w" / "er", 0.5)
  clear_run(tmp_path / "w" / "lwf", 0.6, is_finished=False)
  clear_run(tmp_path / "w" / "si", 0.6, is_finished=False)
  (tmp_path / "w" / "si" / "records.jsonl").write_text("")
  section, = report_sections.load([tmp_path])
  scores = _panel(section, "scores")
  assert _row(scores, "lwf")["state"] == "partial, 2 events so far"
  assert _row(scores, "lwf")["accuracy"] is None
  assert str(_row(scores, "lwf")["FLOPs without answers"]) == "unknown"  # Not "not counted".
  assert _row(scores, "si")["state"] == "partial, 0 events so far"
  assert "lwf: partial, 2 events so far; its values are not final." in scores.notes
  assert [s.name for s in _panel(section, "pareto").chart.series] == ["Pareto front", "er"]
  assert [s.name for s in _panel(section, "curves").chart.series] == ["er", "lwf (partial)"]
  assert list(_panel(section, "matrix").chart.choices) == ["er"]


def test_a_mean_over_seeds_of_which_one_goes_on_says_so(tmp_path):
  clear_run(tmp_path / "s0" / "er", 0.5, seed=0)
  clear_run(tmp_path / "s1" / "er", 0.9, seed=1, is_finished=False)
  section, = report_sections.load([tmp_path])
  row = _row(_panel(section, "scores"), "er")
  assert (row["state"], row["seeds"], row["accuracy"]) == ("partial, 1 of 2 seeds", 1, 0.5)


def test_nevis_has_its_analyses_in_the_report(tmp_path):
  nevis_runs.write(tmp_path / "w" / "indep", (0.4, 0.5, 0.4, 0.6))
  nevis_runs.write(tmp_path / "w" / "ft_d", (0.4, 0.5, 0.3, 0.4), starts=("random", "a", "a", "b"))
  nevis_runs.write(tmp_path / "v" / "ft_s", (0.4, 0.5), is_finished=False)
  nevis_runs.write(tmp_path / "u" / "other", (0.4, 0.5), tasks=nevis_runs.TASKS[:2])
  sections = report_sections.load([tmp_path])
  # An unfinished run joins the only stream that begins as it did; here two do, so it stays apart.
  assert [s.title for s in sections] == [
      "nevis (toy)", "nevis (not finished)", "nevis (toy), stream 2"]
  names = [panel.name for panel in sections[2].panels]
  assert {"scores", "tasks", "pareto", "regret", "compute", "runs"} <= set(names)
  regret = _panel(sections[2], "regret").chart.choices["All tasks"]
  assert [s.name for s in regret.series] == ["ft_d", "indep", "none"]
  assert regret.series[0].y == pytest.approx([0, 0, -10, -30])  # percent, cumulative


def test_a_paper_s_line_names_its_learner():
  panel = tables.as_panel("t", quantities.TextTable(
      "title", ["", "FSL"], [["maml", "86.12 ±0.31"], ["  paper", "85.00"], ["sca", "-"]]))
  assert [row[0] for row in panel.rows] == ["maml", "maml, paper", "sca"]


def test_configurations_differ_in_what_is_listed(tmp_path):
  for name, rate in (("a", 0.1), ("b", 0.2)):
    clear_run(tmp_path / name / "er", 0.5)
    (tmp_path / name / "operative_config.gin").write_text(
        f"# Parameters for x:\n# ====\nRATE = {rate}\nSTREAM = \\\n    ['a',\n     'b']\n")
  section, = report_sections.load([tmp_path])
  panel = _panel(section, "configuration")
  assert [c.name for c in panel.columns] == ["binding", "a", "b"]
  assert panel.rows == [["RATE", "0.1", "0.2"]]
  assert report_sections.bindings("A = \\\n    ['a',\n     'b']\nB = 2\n") == {
      "A": "['a', 'b']", "B": "2"}


def test_records_of_another_program_are_refused(tmp_path):
  (tmp_path / "w").mkdir()
  (tmp_path / "w" / "records.jsonl").write_text('{"step": 1}\n')
  with pytest.raises(ValueError, match="names no protocol: another version or another program"):
    report_sections.load([tmp_path])
  with pytest.raises(FileNotFoundError, match="There is no run in"):
    report_sections.load([tmp_path / "w", tmp_path.parent / "no"])


def test_a_run_before_its_first_event_says_its_protocol(tmp_path):
  folder = tmp_path / "w" / "er"
  folder.mkdir(parents=True)
  (folder / "records.jsonl").write_text("")
  (tmp_path / "w" / "config.gin").write_text("X = 1\nexperiment.run.protocol = @clear.run\n")
  section, = report_sections.load([tmp_path])
  assert section.title == "clear (not finished)"
  assert _row(_panel(section, "scores"), "er")["state"] == "partial, 0 events so far"
  summary = _panel(section, "summary")
  assert summary.title == "clear (not finished)" and "0 events so far" in summary.notes[0]


def test_lifelong_estimates_have_scores_and_curves(tmp_path):
  for name, errors in (("orders", (0.1, 0.3)), ("random_mean", (0.2, 0.4))):
    folder = tmp_path / "w" / name
    folder.mkdir(parents=True)
    records = [{"event": i, "protocol": "lifelong", "kind": "predict", "model": f"run/m/{i}",
                "per_sample_error": error, "accuracy_error": error / 10, "num_asked": 8,
                "flops": 0, "flops_predict": 0, "seconds": 1.0, "seconds_predict": 1.0}
               for i, error in enumerate(errors)]
    (folder / "records.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    (folder / "summary.json").write_text(json.dumps({
        "protocol": "lifelong", "stream": "run", "num_models": 2, "num_asked": 16,
        "mean_per_sample_error": sum(errors) / 2, "mean_accuracy_error": sum(errors) / 20,
        "mean_constant_error": 0.4, "flops": 0, "flops_predict": 0}))
  section, = report_sections.load([tmp_path])
  assert section.title == "lifelong (run)"
  row = _row(_panel(section, "scores"), "random_mean")
  assert row["per-sample error"] == pytest.approx(0.3)
  assert (row["error of the accuracy"], row["constant answer"]) == (pytest.approx(0.03), 0.4)
  curves = _panel(section, "curves")
  assert curves.chart.x_label == "Held-out model" and curves.chart.y_label == "Per-sample error"
  drawn = {series.name: series.y for series in curves.chart.series}
  assert drawn["orders"] == [pytest.approx(10), pytest.approx(30)]  # Percent.
  assert "pareto" not in [panel.name for panel in section.panels]  # No net runs: FLOPs are 0.
  chosen = report_sections.chosen([section], ["curves", "summary"])
  assert [panel.name for panel in chosen[0].panels] == ["curves", "summary"]


def test_a_page_shows_methods_first_and_says_what_was_run(tmp_path):
  for name, accuracy in (("er", 0.5), ("lwf", 0.75)):
    folder = clear_run(tmp_path / "w" / name, accuracy)
  (tmp_path / "w" / "environment.json").write_text(json.dumps({
      "command": "suite run x", "seed": 3, "suite": suite.__version__, "python": "3.11",
      "packages": {"tensorflow": "2.15"}}))
  os.utime(folder / "records.jsonl", (4e9, 4e9))  # The year 2096.
  section, = report_sections.load([tmp_path])
  assert [panel.name for panel in section.panels[:section.num_main]] == [
      "headline", "matrix", "curves", "pareto"]
  about = dict(section.about)
  assert about["date"] == "2096-10-02 07:06 UTC"
  assert {"run": "w", "command": "suite run x", "seeds": "3"}.items() <= about.items()
  assert about["versions"] == f"suite {suite.__version__}, Python 3.11, TensorFlow 2.15"
  assert section.panels[0].best == {(0, 2)}  # The accuracy of lwf.


def _every_panel_run(folder):
  """A stream of NEVIS'22 with all of its panels, by records."""
  for name, errors in (("indep", (0.4, 0.5, 0.4, 0.6)), ("ft_d", (0.4, 0.5, 0.3, 0.4))):
    starts = ("random", "a", "a", "b") if name == "ft_d" else ("random",) * 4
    candidates = {"b": {"a": 0.3}, "a@2": {"a": 0.2, "b": 0.4}, "c": {"a": 0.5, "b": 0.1}}
    nevis_runs.write(folder / "w" / name, errors, starts=starts,
                     candidates=candidates if name == "ft_d" else None)
  (folder / "facts.csv").write_text(
      "task,domain,size,height,width\na,faces,10,8,8\nb,OCR,2000,64,64\nc,faces,9,128,128\n")
  return stream_results.read_facts(folder / "facts.csv")


def test_every_panel_has_one_name_for_text_figure_page_and_request(tmp_path, capsys):
  facts = _every_panel_run(tmp_path)
  sections = report_sections.load([tmp_path / "w"], facts)
  names = list(report_sections.named(sections))
  assert {"domain", "size", "resolution", "starts_ft_d", "transfer_knn_ft_d"} <= set(names)
  groups = {panel.group for section in sections for panel in section.panels if panel.group}
  assert {"groups", "starts", "transfer", "regret", "pareto", "tasks"} <= groups
  assert cli.main(["report", str(tmp_path / "w"), "--panel", "all", "--task_facts",
                   str(tmp_path / "facts.csv"), "--out", str(tmp_path / "page.html")]) == 0
  page = html.unescape((tmp_path / "page.html").read_text()).lower()
  for name in [*names, *groups]:
    found = report_sections.named(report_sections.chosen(sections, [name]))
    assert (list(found) == [name]) if name in names and name not in groups else found, name
    arguments = ["report", str(tmp_path / "w"), "--panel", name, "--task_facts",
                 str(tmp_path / "facts.csv")]
    assert cli.main(arguments) == 0
    text = capsys.readouterr().out
    assert cli.main([*arguments, "--figures", str(tmp_path / name)]) == 0
    shown = capsys.readouterr().out
    for own, panel in found.items():
      assert panel.title in text and panel.title in shown, own
      # The section has the stream's name.
      assert panel.title.split(": ", 1)[-1].lower() in page, own
      if panel.chart and figures.can_draw(panel.chart):
        assert (tmp_path / name / f"{own}.png").is_file()
