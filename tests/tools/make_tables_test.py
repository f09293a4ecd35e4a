# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The page of results made from run directories."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import nevis_runs
import pytest

from suite.metrics import sequence_log

TOOL = pathlib.Path(__file__).parents[2] / "tools" / "make_tables.py"

ENVIRONMENT = {
    "command": "suite run nevis/tiny", "device": "1 CPU", "seed": 3, "platform": "Linux",
    "git_revision": None, "packages": {"tensorflow": "2.15.1", "keras-cv": None}}
RECORD = '{"event": 0, "protocol": "cfsl", "kind": "predict", "task": "t", "num_classes": 2}\n'


@pytest.fixture(name="tool", scope="module")
def _tool(load_tool):
  return load_tool("make_tables")


def _make(folder, summary, environment=None):
  folder.mkdir(parents=True)
  (folder / "records.jsonl").write_text(
      '{"event": 0, "kind": "predict", "task": "digits", "task_key": "digits", "error": 0.25, '
      '"flops": 1234567}\n')
  (folder / "summary.json").write_text(json.dumps(summary))
  if environment is not None:
    (folder.parent / "environment.json").write_text(json.dumps(environment))


@pytest.fixture(name="workdir")
def _workdir(tmp_path):
  for name, error in (("indep", 0.5), ("ft", 0.25)):
    _make(tmp_path / "w" / name, {"protocol": "nevis", "stream": "tiny", "mean_error": error,
                                  "headline": "ok", "flops": 2e9}, ENVIRONMENT)
  return tmp_path / "w"


def test_a_page_has_table_figure_and_provenance(tool, workdir, tmp_path):
  page = tmp_path / "docs" / "results" / "tiny.md"
  assert tool.main([str(workdir), "--output", str(page), "--title", "Tiny"]) == 0
  text = page.read_text()
  assert text.startswith("# Tiny\n")
  assert "| mean error, meta-test tasks, % |  |  |  |  | **25.00** | 50.00 |" in text
  assert "![tiny_pareto](tiny_pareto.svg)" in text and (page.parent / "tiny_pareto.svg").exists()
  assert text.endswith("""\
## How the runs were made

**ft, indep**

- command: `suite run nevis/tiny`
- device: `1 CPU`
- seed: `3`
- platform: `Linux`
- git revision: `unknown`
- versions: tensorflow 2.15.1, keras-cv absent
- FLOPs of the first event: ft 1,234,567, indep 1,234,567
""")


def test_the_same_runs_make_the_same_page(tool, workdir, tmp_path):
  for name in ("a", "b"):
    tool.main([str(workdir), "--output", str(tmp_path / name / "tiny.md")])
  for name in ("tiny.md", "tiny_pareto.svg"):
    assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_runs_of_different_environments_are_told_apart(tool, workdir, tmp_path, capsys):
  _make(tmp_path / "v" / "ft", {"protocol": "nevis", "stream": "tiny", "mean_error": 0.125},
        {**ENVIRONMENT, "seed": 4})
  assert tool.main([str(workdir), str(tmp_path / "v")]) == 0
  text = capsys.readouterr().out
  assert "**w/ft, indep**" in text and "**v/ft**" in text
  assert "- seed: `3`" in text and "- seed: `4`" in text


def test_a_run_without_headline_score_is_not_drawn(tool, tmp_path):
  _make(tmp_path / "w" / "ft", {"protocol": "nevis", "mean_error": None, "headline": "no score"})
  page = tmp_path / "page.md"
  assert tool.main([str(tmp_path / "w"), "--output", str(page)]) == 0
  assert "ft: no score." in page.read_text() and "not stored" in page.read_text()
  assert not list(tmp_path.glob("*.svg"))


def test_an_accuracy_matrix_is_drawn(tool, tmp_path):
  _make(tmp_path / "w" / "er", {"protocol": "clear", "matrix": [[0.5, None], [0.25, 1.0]]})
  assert tool.main([str(tmp_path / "w"), "--output", str(tmp_path / "clear.md")]) == 0
  assert "![clear_matrix](clear_matrix.svg)" in (tmp_path / "clear.md").read_text()
  assert (tmp_path / "clear_matrix.svg").exists()


def test_a_page_of_panels_has_their_figures_and_the_runs(tool, tmp_path, capsys):
  for name, error in (("indep", 0.5), ("ft_d", 0.25)):
    nevis_runs.write(tmp_path / "w" / "seed0" / name, (error,) * 4)
  page = tmp_path / "page.md"
  arguments = [str(tmp_path / "w"), "--panel", "regret", "--output", str(page)]
  assert tool.main(arguments) == 0
  text = page.read_text()
  assert "regret against Independent, negative is better**" in text
  assert "![page_regret](page_regret.svg)" in text and (tmp_path / "page_regret.svg").exists()
  assert "**ft_d, indep**" in text
  assert tool.main([str(tmp_path / "w"), "--panel", "paper"]) == 1
  assert ("No run has what --panel paper shows"
          in capsys.readouterr().err)


def test_a_page_of_detection_has_the_curves_of_fluids_figures(tool, tmp_path):
  log = sequence_log.Novelty("max_logit", None).log(
      labels=[0, 1, 2, 0], unknown=[False, True, True, False], closed_answers=[0, 0, 0, 0],
      max_logits=[-1.0, -4.0, -2.0, -3.0], energies=[-1.0, -4.0, -2.0, -3.0], num_classes=3)
  folder = tmp_path / "w" / "ncm"
  folder.mkdir(parents=True)
  (folder / "records.jsonl").write_text(json.dumps({
      "event": 0, "protocol": "fluid", "kind": "predict", "task": "t", "num_classes": 3,
      "first_step": 0, "seconds": 1.0, **log.columns()}) + "\n")
  (folder / "summary.json").write_text(json.dumps(
      {"protocol": "fluid", "stream": "4 samples", "overall": 0.5, "matched_window": 2}))
  page = tmp_path / "page.md"
  assert tool.main([str(tmp_path / "w"), "--panel", "detection", "--panel", "thresholds",
                    "--output", str(page)]) == 0
  text = page.read_text()
  # The new have 4 and 2, the known 1 and 3: three of four pairs are in order; the clock's are two.
  assert "| ncm | max logit (distance, MDT) | 1 | 75.00 | 50.00 |" in text
  for name in ("detection", "thresholds"):
    assert f"![page_{name}](page_{name}.svg)" in text
    assert (tmp_path / f"page_{name}.svg").stat().st_size > 5000


def test_a_page_of_curves_has_the_accuracy_along_the_sequence(tool, tmp_path):
  folder = tmp_path / "w" / "ncm"
  folder.mkdir(parents=True)
  (folder / "records.jsonl").write_text("".join(json.dumps({
      "event": event, "protocol": "fluid", "kind": "predict", "task": "t", "num_classes": 3,
      "seen_so_far": seen, "correct_so_far": correct}) + "\n"
                                                for event, (seen, correct) in enumerate(
                                                    [(4, 1), (8, 5)])))
  (folder / "summary.json").write_text(json.dumps({"protocol": "fluid", "overall": 0.625}))
  page = tmp_path / "page.md"
  assert tool.main([str(tmp_path / "w"), "--panel", "curves", "--panel", "scores",
                    "--output", str(page)]) == 0
  assert "| ncm | 2 | 8 | 25.00 | 62.50 |" in page.read_text()  # 1 / 4 and 5 / 8.
  assert "| ncm | finished | 1 | 62.50 |" in page.read_text()
  assert (tmp_path / "page_curves.svg").stat().st_size > 5000


def test_nothing_to_show_is_an_error_that_says_the_next_step(tool, tmp_path, capsys):
  assert tool.main([str(tmp_path)]) == 1
  assert "There is no run in" in capsys.readouterr().err


def test_it_runs_as_a_script_from_anywhere(tmp_path):
  done = subprocess.run([sys.executable, str(TOOL), "--help"], cwd=tmp_path, check=True,
                        capture_output=True, text=True)
  assert "--output FILE.md" in done.stdout


def test_without_a_file_the_page_is_printed(tool, workdir, capsys):
  assert tool.main([str(workdir)]) == 0
  assert capsys.readouterr().out.startswith("# Results\n")


def test_a_whole_table_has_its_figure_and_one_provenance(tool, tmp_path):
  folder = tmp_path / "w"
  for seed in (0, 1):
    for sets in (1, 3):
      cell = folder / "proto" / f"B_{sets}" / str(seed)
      (cell / "x").mkdir(parents=True)
      (cell / "x" / "records.jsonl").write_text(RECORD)
      (cell / "x" / "summary.json").write_text(json.dumps({
          "accuracy": 0.5, "num_support_sets": sets, "task_type": "B" if sets > 1 else "FSL",
          "macs_per_task": 1e6 * sets, "atm": 0.08}))
      (cell / "environment.json").write_text(json.dumps(
          {**ENVIRONMENT, "command": f"cell {seed}", "seed": seed, "learners": ["x"]}))
  (folder / "table.json").write_text(json.dumps({
      "title": "cfsl/mine", "command": "suite run cfsl/mine", "rows": ["proto"],
      "columns": ["B 1", "B 3"], "seeds": [0, 1], "measures": {"accuracy": "accuracy"}}))
  page = tmp_path / "mine.md"
  assert tool.main([str(folder), "--output", str(page)]) == 0
  text = page.read_text()
  assert "| proto | 50.00 ±0.00 | 50.00 ±0.00 |" in text
  assert "![mine_table_1](mine_table_1.svg)" in text and (tmp_path / "mine_table_1.svg").exists()
  assert text.endswith("""\
**cfsl/mine**

- command: `suite run cfsl/mine`
- seeds: `0, 1`
- device: `1 CPU`
- python: `unknown`
- platform: `Linux`
- git revision: `unknown`
- versions: tensorflow 2.15.1, keras-cv absent
""")


def test_rows_of_several_revisions_are_named(tool, tmp_path, capsys):
  folder = tmp_path / "w"
  for row, seed, revision in (("a", 0, "1f"), ("a", 1, "2f"), ("b", 0, "2f"), ("c", 0, "2f")):
    cell = folder / row / "test" / str(seed)
    (cell / "x").mkdir(parents=True)
    (cell / "x" / "records.jsonl").write_text(RECORD)
    (cell / "x" / "summary.json").write_text('{"accuracy": 0.5}')
    (cell / "environment.json").write_text(json.dumps(
        {**ENVIRONMENT, "git_revision": revision, "learners": ["x"]}))
  (folder / "table.json").write_text(json.dumps({
      "title": "mine", "command": "suite run mine", "rows": ["a", "b", "c", "d"],
      "columns": ["test"], "seeds": [0, 1], "measures": {"accuracy": "accuracy"}}))
  assert tool.main([str(folder)]) == 0
  text = capsys.readouterr().out
  assert "- git revision of a: `1f`, `2f`\n- git revision of b, c: `2f`\n" in text
