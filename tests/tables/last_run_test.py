# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Run files of columns and of single cells, refused cells, and the run that ends a table."""

from __future__ import annotations

import os
import pathlib
import sys

import pytest

import suite
from suite import cli
from suite.reporting import table_dir
from suite.tables import table

ROOT = pathlib.Path(suite.__file__).parents[1]
TOY = """# A run.
from __gin__ import dynamic_registration
from suite import experiment
import of_seed
experiment.run.protocol = @of_seed.run
experiment.run.learners = {'ada': @of_seed.Learner}
of_seed.run.value = %VALUE
VALUE = 1
"""
TABLE = """# A table.
from __gin__ import dynamic_registration
from suite.tables import table
table.run.runs = {'ncm': {}, 'er': {'of_seed.run.plus': 1}}
table.run.columns = {'N': 'toy.gin', 'C': ('toy.gin', {'VALUE': 2})}
table.run.exceptions = {'er/C': ('other.gin', {'of_seed.run.plus': 3})}
table.run.protocols = {'N': 'nevis', 'C': 'clear'}
table.Report.scores = {'N': 'total', 'C': 'total'}
table.run.seeds = %SEEDS
table.run.last = ('last.gin', {'of_seed.run.plus': 5, 'of_seed.run.note': '{workdir}/x'})
SEEDS = (0,)
"""
# Writes what a run leaves, and the command to "calls"; what "broken" names fails.
STAND_IN = """
import json, pathlib, sys
args = sys.argv[1:]
work = pathlib.Path(args[args.index('--workdir') + 1])
params = [a for f, a in zip(args, args[1:]) if f == '--gin_param']
with open('calls', 'a') as calls: calls.write(' '.join([args[0], str(work), *params]) + '\\n')
if pathlib.Path('broken').exists() and pathlib.Path('broken').read_text() == str(work): sys.exit(1)
(work / 'ada').mkdir(parents=True)
(work / 'environment.json').write_text(json.dumps({'learners': ['ada']}))
summary = {'protocol': 'toy', 'stream': work.parts[-2], 'total': 0.5, 'flops': 10}
(work / 'ada' / 'records.jsonl').write_text(json.dumps({'protocol': 'toy', 'flops': 10}) + '\\n')
(work / 'ada' / 'summary.json').write_text(json.dumps(summary))
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
  for name, text in (("toy.gin", TOY), ("other.gin", TOY), ("last.gin", TOY), ("tab.gin", TABLE),
                     ("stand_in.py", STAND_IN)):
    (tmp_path / name).write_text(text)
  monkeypatch.chdir(tmp_path)
  monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{ROOT}")
  monkeypatch.setattr(table, "COMMAND", (sys.executable, "stand_in.py"))
  monkeypatch.setattr(table, "check_parameters", lambda *unused: None)


def _run(*flags):
  return cli.main(["run", "tab.gin", "--workdir", "w", *flags])


def _calls():
  path = pathlib.Path("calls")
  return path.read_text().splitlines() if path.exists() else []


def test_cells_have_the_run_files_of_columns_or_their_own_and_refused_ones_are_left_out(capsys):
  assert _run() == 0
  # The table of methods refuses ER under NEVIS.
  assert _calls() == [
      "toy.gin w/ncm/N/0 experiment.run.seed=0",
      "toy.gin w/ncm/C/0 VALUE=2 experiment.run.seed=0",
      "other.gin w/er/C/0 of_seed.run.plus=1 VALUE=2 of_seed.run.plus=3 experiment.run.seed=0",
      "last.gin w/last/3_cells of_seed.run.plus=5 of_seed.run.note='w/x'"]
  said = capsys.readouterr().out
  assert "3 of 3 runs are finished." in said and "No cell: er/N: head PerTask" in said
  assert "separate classes" in table_dir.read("w").missing["er/N"]
  assert _run() == 0 and len(_calls()) == 4  # Nothing is left to do.


def test_the_last_run_waits_for_all_cells_and_is_made_again_for_more(capsys):
  pathlib.Path("broken").write_text("w/ncm/C/0")
  assert _run() == 1
  assert not any("last.gin" in call for call in _calls())
  assert "2 of 3 runs are finished: partial, not final." in capsys.readouterr().out
  pathlib.Path("broken").unlink()
  assert _run("--only", "ncm") == 0
  assert _calls()[3:] == ["toy.gin w/ncm/C/0 VALUE=2 experiment.run.seed=0",
                          "last.gin w/last/3_cells of_seed.run.plus=5 of_seed.run.note='w/x'"]
  assert _run("--gin_param", "SEEDS=(0, 1)") == 0
  assert _calls()[-1].startswith("last.gin w/last/6_cells ")


def test_a_cell_whose_exception_is_none_is_not_there(capsys):
  text = TABLE.replace("{'er/C': (", "{'er/N': None, 'er/C': (")
  pathlib.Path("tab.gin").write_text(text.replace("{'N': 'nevis', 'C': 'clear'}", "{}"))
  assert _run() == 0
  assert [call.split()[1] for call in _calls()] == [
      "w/ncm/N/0", "w/ncm/C/0", "w/er/C/0", "w/last/3_cells"]
  assert "3 of 3 runs are finished" in capsys.readouterr().out


def test_a_failed_last_run_fails_the_table_and_is_tried_again(capsys):
  pathlib.Path("broken").write_text("w/last/3_cells")
  assert _run() == 1
  assert "last: " in capsys.readouterr().err
  pathlib.Path("broken").unlink()
  assert _run() == 0 and len(_calls()) == 5


@pytest.mark.parametrize("old, new, message", [
    ("'N': 'toy.gin'", "'N': {}", "Row 'ncm' has the run file None and column 'N' the run file "
     "None. A cell has one"),
    ("'ncm': {}", "'ncm': 'toy.gin'", "Row 'ncm' has the run file toy.gin and column 'N' the run"),
    ("{'er/C'", "{'er/X'", "table.run.exceptions: unknown er/X. It takes ROW/COLUMN of the cells: "
     "ncm/N, ncm/C, er/C"),
    ("'N': 'nevis'", "'N': 'nevos'", "unknown protocol 'nevos'. It takes the table's columns"),
    ("{'ncm': {}", "{'ncn': {}", "unknown method 'ncn'"),
    ("{'ncm': {}", "{'ncn': {}", "docs/methods.md. Nearest: ncm"),
    ("scores = {'N'", "scores = {'M'", "table.Report.scores: unknown M. It takes the table's "
     "columns: N, C"),
    ("('last.gin', {", "({", "table.run.last has no run file. Give one, or (run file, bindings)"),
    ("'last.gin'", "'lost.gin'", "Unknown run 'lost.gin'"),
])
def test_mistakes_are_found_before_any_cell_starts(old, new, message, capsys):
  pathlib.Path("tab.gin").write_text(TABLE.replace(old, new).replace(
      "({'of_seed.run.plus': 5, 'of_seed.run.note': '{workdir}/x'})", "{'of_seed.run.plus': 5}"))
  assert _run() == 2
  assert message in capsys.readouterr().err
  assert not _calls() and not pathlib.Path("w").exists()
