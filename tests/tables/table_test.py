# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A table of small runs: what is planned, refused, run, gone on with and reported.

Cells are made by a stand-in for `suite run` that writes what a run leaves, in a blink; the last
test lets the real one run.
"""

from __future__ import annotations

import concurrent.futures
import json
from multiprocessing import spawn
import os
import pathlib
import signal
import subprocess
import sys
import time
import types

import pytest

import suite
from suite import cli
from suite.configs import gin_files
from suite.configs import run_files
from suite.configs import run_settings
from suite.contracts import refusals
from suite.reporting import table_dir
from suite.system import folders
from suite.system import host_memory
from suite.system import processes
from suite.tables import budgets
from suite.tables import table

ROOT = pathlib.Path(suite.__file__).parents[1]
COMMAND, CHECK_PARAMETERS = table.COMMAND, table.check_parameters

TOY = """# A run.
from __gin__ import dynamic_registration
from suite import experiment
import two_events
experiment.run.protocol = @two_events.run
experiment.run.learners = {'ada': @two_events.Learner}
two_events.run.scale = %SCALE
two_events.run.note = %NOTE
include 'library.gin'
SCALE = 2
NOTE = 1
"""
TABLE = """# A table.
from __gin__ import dynamic_registration
from suite.tables import table
table.run.runs = {'low': 'toy.gin', 'high': ('toy.gin', {'two_events.run.plus': 10})}
table.run.columns = {'A 1': {'SCALE': 1}, 'B/2': {'SCALE': 2}}
table.run.seeds = %SEEDS
table.Report.measures = {'total': 'total'}
SEEDS = (0, 1)
"""
MODULE = """
import tensorflow as tf


class Learner(tf.Module):
  pass


def run(learner, *, state, scale, plus=0, note=None):
  state.resume(learner)
  if not state.done:
    state.commit({"protocol": "two", "kind": "train", "task_key": "t", "score": scale + plus})
  return {"protocol": "two", "total": sum(r["score"] for r in state.records) / 100}
"""
# A run's total is SCALE + plus + seed percent; what is in "broken" fails, in "killed" dies,
# in "slow" waits.
STAND_IN = """
import json, os, pathlib, sys, time
args = sys.argv[1:]
work = pathlib.Path(args[args.index('--workdir') + 1])
name = '/'.join(work.parts[-3:])
params = dict(a.split('=') for f, a in zip(args, args[1:]) if f == '--gin_param')
with open('calls', 'a') as calls: calls.write(name + '\\n')
def listed(file):
  return pathlib.Path(file).exists() and name in pathlib.Path(file).read_text()
(work / 'ada').mkdir(parents=True, exist_ok=True)
(work / 'environment.json').write_text(json.dumps({'learners': ['ada'], 'device': 'none'}))
(work / 'args').write_text(json.dumps(args))
while listed('slow'): time.sleep(0.05)
if listed('killed'): os.kill(os.getpid(), 9)
if listed('broken'):
  print('suite: the data are missing', file=sys.stderr)
  sys.exit(1)
keys = ('SCALE', 'two_events.run.plus', 'experiment.run.seed')
total = sum(int(params.get(key, 0)) for key in keys)
(work / 'ada' / 'summary.json').write_text(json.dumps({'total': total / 100}))
(work / 'latest.json').write_text(json.dumps({'ada': 'ada'}))
"""


@pytest.fixture(name="folder", autouse=True)
def _folder(tmp_path, monkeypatch):
  """A folder with the table tab.gin, its run file and the stand-in."""
  for name, text in (("toy.gin", TOY), ("library.gin", "UNREAD = 0\n"), ("tab.gin", TABLE),
                     ("two_events.py", MODULE), ("stand_in.py", STAND_IN)):
    (tmp_path / name).write_text(text)
  monkeypatch.chdir(tmp_path)
  monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{ROOT}")
  monkeypatch.setattr(table, "COMMAND", (sys.executable, "stand_in.py"))
  monkeypatch.setattr(table, "check_parameters", lambda *_: None)
  return tmp_path


def _run(*flags):
  return cli.main(["run", "tab.gin", "--workdir", "w", *flags])


def _calls():
  path = pathlib.Path("calls")
  return path.read_text().split() if path.exists() else []


def test_the_table_is_run_seed_by_seed_and_reported_over_seeds(capsys):
  assert _run() == 0
  assert _calls() == ["low/A_1/0", "low/B_2/0", "high/A_1/0", "high/B_2/0",
                      "low/A_1/1", "low/B_2/1", "high/A_1/1", "high/B_2/1"]
  report = capsys.readouterr().out
  # 1 and 2 percent: mean 1.5, standard deviation with n - 1 the square root of 0.5.
  assert report.startswith("""\
tab

              A 1          B/2
----  -----------  -----------
low    1.50 ±0.71   2.50 ±0.71
high  11.50 ±0.71  12.50 ±0.71

8 of 8 runs are finished.""")
  assert pathlib.Path("w/report.txt").read_text() == report[:-1]


def test_a_finished_table_starts_nothing_and_says_the_same(capsys):
  _run()
  first, calls = capsys.readouterr().out, _calls()
  assert _run("--jobs", "4") == 0
  assert (capsys.readouterr().out, _calls()) == (first, calls)
  assert cli.main(["report", "w"]) == 0
  assert capsys.readouterr().out == first


def test_flags_and_bindings_reach_every_cell_the_users_last(folder):
  (folder / "more.gin").write_text("")
  assert _run("--gin_param", "NOTE=5", "--gin_file", "more.gin", "--data_dir", "d", "--devices",
              "2", "--strategy", "mirrored", "--profile", "--precision", "bfloat16", "--xla",
              "--no-deterministic", "--only", "high/A*/1") == 0
  assert json.loads((folder / "w/high/A_1/1/args").read_text()) == [
      "toy.gin", "--workdir", "w/high/A_1/1", "--strategy", "mirrored", "--data_dir", "d",
      "--devices", "2", "--no-deterministic", "--precision", "bfloat16", "--xla", "--profile",
      "--codes", "w/codes",
      "--gin_file", "more.gin",
      "--gin_param", "two_events.run.plus=10", "--gin_param", "SCALE=1",
      "--gin_param", "experiment.run.seed=1", "--gin_param", "NOTE=5"]


def test_bindings_of_the_table_stay_with_it():
  assert _run("--gin_param", "SEEDS=(7,)", "--gin_param", "table.run.columns={'C': {'SCALE': 4}}",
              "--gin_param", "NOTE=5") == 0
  assert _calls() == ["low/C/7", "high/C/7"]


@pytest.mark.parametrize("only, calls", [
    (["low"], ["low/A_1/0", "low/B_2/0", "low/A_1/1", "low/B_2/1"]),
    (["*/A 1/0", "high/B?2/1"], ["low/A_1/0", "high/A_1/0", "high/B_2/1"]),
])
def test_a_part_is_run_and_what_is_open_shown(only, calls, capsys):
  assert _run(*(flag for pattern in only for flag in ("--only", pattern))) == 0
  assert _calls() == calls
  report = capsys.readouterr().out
  assert f"{len(calls)} of 8 runs are finished" in report
  assert ("1.50 ±0.71" if only == ["low"] else "1.00 (1/2)") in report
  assert " -\n" in report


def test_the_command_that_is_kept_makes_the_whole_table(folder):
  assert _run("--only", "low", "--gin_param", "NOTE='a b'", "--only=high/A_1/0") == 0
  whole = """suite run tab.gin --workdir w --gin_param 'NOTE='"'"'a b'"'"''"""
  assert table_dir.read(folder / "w").command == whole
  assert _run("--gin_param", "NOTE='a b'") == 0
  assert table_dir.read(folder / "w").command == whole


def test_a_failing_cell_leaves_the_others_alone_and_is_gone_on_with(folder, capsys):
  (folder / "broken").write_text("low/B_2/0")
  assert _run("--jobs", "3") == 1
  assert len(_calls()) == 8
  said = capsys.readouterr()
  assert "7 of 8 runs are finished" in said.out
  assert "failed: low/B_2/0: the data are missing (w/low/B_2/0.log)" in said.err
  assert "suite: the data are missing" in (folder / "w/low/B_2/0.log").read_text()
  (folder / "broken").unlink()
  assert _run() == 0
  assert _calls()[8:] == ["low/B_2/0"]


def test_a_killed_cell_is_gone_on_with(folder, capsys):
  (folder / "killed").write_text("high/A_1/1")
  assert _run() == 1
  assert "failed: high/A_1/1: ended by signal 9 (w/high/A_1/1.log)" in capsys.readouterr().err
  (folder / "killed").unlink()
  assert _run() == 0
  assert _calls()[8:] == ["high/A_1/1"]


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 130)])
def test_interrupted_it_ends_its_cells_and_goes_on_where_it_was(folder, number, code):
  (folder / "slow").write_text("low/B_2/0 high/A_1/0")
  # A shell that starts this test in the background has its children ignore SIGINT.
  program = ("import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
             "from suite import cli; from suite.tables import table; "
             "table.COMMAND = (sys.executable"
             ", 'stand_in.py'); table.check_parameters = print; "
             "sys.exit(cli.main(sys.argv[1:]))")
  process = subprocess.Popen([sys.executable, "-c", program, "run", "tab.gin", "--workdir", "w",
                              "--jobs", "2"], stderr=subprocess.PIPE, text=True)
  deadline = time.monotonic() + 30
  while len(_calls()) < 3 and time.monotonic() < deadline:
    time.sleep(0.05)
  process.send_signal(number)
  _, said = process.communicate(timeout=30)
  assert process.returncode == code, said
  assert "run the same command again to resume" in said
  (folder / "slow").unlink()
  time.sleep(0.3)  # A cell that had been left running would finish now.
  assert not table_dir.is_finished(folder / "w/low/B_2/0")
  assert _run() == 0
  assert sorted(_calls()).count("low/A_1/0") == 1 and sorted(_calls()).count("low/B_2/0") == 2


@pytest.mark.parametrize("other_ends", ["finished", "killed"])
def test_two_processes_share_a_table(folder, capsys, other_ends):
  (folder / "slow").write_text("low/A_1/0")
  other = subprocess.Popen([sys.executable, "-c", (
      "import sys; from suite import cli; from suite.tables import table; "
      "table.COMMAND = (sys.executable, "
      "'stand_in.py'); table.check_parameters = print; sys.exit(cli.main(sys.argv[1:]))"),
      "run", "tab.gin", "--workdir", "w"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
      start_new_session=True)
  deadline = time.monotonic() + 30
  while not _calls() and time.monotonic() < deadline:
    time.sleep(0.05)
  assert _run() == 1  # All but the one that runs there.
  assert _calls().count("low/A_1/0") == 1 and len(_calls()) == 8
  said = capsys.readouterr()
  assert "7 of 8 runs are finished" in said.out
  assert "suite: runs elsewhere: low/A_1/0 (w/low/A_1/0.log)\nsuite: The report is" in said.err
  if other_ends == "killed":  # With its cell, as a cluster ends a job: the cell's lock is free.
    os.killpg(other.pid, signal.SIGKILL)
    other.wait(timeout=30)
  (folder / "slow").unlink()
  if other_ends == "killed":
    assert _run() == 0
    assert "8 of 8 runs are finished" in capsys.readouterr().out
    assert _calls()[8:] == ["low/A_1/0"]
  else:
    assert other.wait(timeout=30) == 0
    assert len(_calls()) == 8


def test_cells_of_other_settings_are_computed_beside_and_cells_may_be_added(folder):
  assert _run("--only", "low/A 1") == 0
  assert _run("--only", "low/A 1", "--gin_param", "NOTE=5") == 0
  assert _calls() == ["low/A_1/0", "low/A_1/1"] * 2
  (folder / "toy.gin").write_text(TOY.replace("NOTE = 1", "NOTE = 5"))
  assert _run("--only", "low/A 1") == 0  # The same settings in another place.
  assert len(_calls()) == 4
  (folder / "toy.gin").write_text(TOY)
  assert _run("--only", "low/A 1") == 0  # Those of the first command: the processes find its runs.
  assert len(_calls()) == 6
  assert _run("--gin_param", "SEEDS=(0, 1, 2)", "--only", "low/A 1") == 0
  assert _calls()[6:] == ["low/A_1/2"]


def test_a_cell_that_was_killed_amid_other_settings_is_not_finished(folder):
  assert _run("--only", "low/A 1") == 0
  (folder / "killed").write_text("low/A_1/0")
  assert _run("--only", "low/A 1", "--gin_param", "NOTE=5") == 1
  (folder / "killed").unlink()
  assert _run("--only", "low/A 1", "--gin_param", "NOTE=5") == 0
  assert _calls()[2:] == ["low/A_1/0", "low/A_1/1", "low/A_1/0"]


def test_a_folder_of_something_else_is_refused(folder, capsys):
  (folder / "w").mkdir()
  (folder / "w" / "mine.txt").write_text("")
  assert _run() == 2
  assert "w is not empty and holds no table" in capsys.readouterr().err


@pytest.mark.parametrize("flags, message", [
    (["--only", "lo"], "--only 'lo' fits no cell. It takes ROW, ROW/COLUMN or ROW/COLUMN/SEED"),
    (["--only", "low/A_1/0/x"], "rows: low, high; columns: A 1, B/2; seeds: 0, 1"),
    (["--gin_param", "SCALE=3"], "--gin_param sets SCALE, which the table sets for its cells"),
    (["--gin_param", "SCALEE=3"], "Row 'low', column 'A 1', run file toy.gin: --gin_param sets the "
     "macro 'SCALEE', which no file of this run declares"),
    (["--gin_param", "table.run.runs={'low': 'toi.gin'}"], "Unknown run 'toi.gin'"),
    (["--gin_param", "table.run.columns={'X': {'SCAL': 1}}"], "column 'X', run file toy.gin: "),
    (["--gin_param", "table.run.columns={'X': {'UNREAD': 1}}"], "Row 'low', column 'X', run "
     "file toy.gin: Nothing in this run reads\n  UNREAD  (set by the command line)."),
    (["--gin_param", "table.run.columns={'A 1': {}, 'A_1': {}}"], "each with a different folder"),
    (["--gin_param", "table.run.columns={}"], "There must be at least one"),
    (["--gin_param", "table.Report.paper='cfsl_table'"], "Unknown paper values 'cfsl_table'. "
     "Nearest: cfsl_table2"),
    (["--gin_param", "table.run.paper='cfsl_table2'"], "run takes 'paper' as a part of 'report': "
     "bind table.Report.paper instead."),
    (["--gin_param", "table.run.seed=(1,)"], "table.run has no parameter 'seed'"),
    (["--gin_file", "nowhere.gin"], "there is no file 'nowhere.gin'"),
    (["--strategy", "multi_worker"], "the same command on every machine shares the table"),
    (["--jobs", "0"], "allowed is a whole number from 1"),
])
def test_mistakes_are_found_before_any_cell_starts(flags, message, capsys):
  assert _run(*flags) == 2
  assert message in capsys.readouterr().err
  assert not _calls() and not pathlib.Path("w").exists()


def test_more_jobs_than_the_memory_holds_are_refused(monkeypatch, capsys):
  monkeypatch.setattr(host_memory, "available_bytes", lambda: 2_100_000_000)
  assert _run("--jobs", "60") == 2
  assert ("--jobs 60 runs 8 cells at the same time, each in a process of 400 MB or more, and "
          "2.10 GB are free: give at most 5.") in capsys.readouterr().err
  assert not _calls() and not pathlib.Path("w").exists()


def test_a_single_run_has_no_jobs(capsys):
  assert cli.main(["run", "toy.gin", "--jobs", "2"]) == 2
  assert "--jobs and --only are flags of tables, and toy is one run" in capsys.readouterr().err


def test_a_table_is_told_from_a_run_before_gin_reads_it(folder):
  (folder / "broken.gin").write_text("table.run.runs = {")
  names = {name: table.is_table(folder / name) for name in ("tab.gin", "toy.gin", "broken.gin")}
  assert names == {"tab.gin": True, "toy.gin": False, "broken.gin": False}


def test_importing_and_reporting_leave_tensorflow_alone(folder):
  _run()
  program = ("import sys; from suite import cli\n"
             "for argv in (['run', 'tab.gin', '--workdir', 'w'], ['report', 'w']):\n"
             "  code = cli.main(argv)\n"
             "  heavy = {'tensorflow', 'matplotlib'} & set(sys.modules)\n"
             "  if heavy or code: sys.exit(f'{argv}: {code}, imported {heavy}')\n")
  done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                        check=False)
  assert done.returncode == 0, done.stderr


def test_gin_finds_a_misspelled_parameter_and_says_whose(folder, monkeypatch):
  monkeypatch.syspath_prepend(str(folder))
  monkeypatch.delitem(sys.modules, "two_events", raising=False)  # Another test's.
  cells = [table.TableCell("low", "A", 0, "toy.gin", params, 0, (), (), folder / "w")
           for params in (("SCALE=1",), ("two_events.run.scal=1",))]
  assert not table._first_problem(cells[:1])
  problem = table._first_problem(cells)
  assert problem.startswith("Row 'low', column 'A', run file toy.gin: In --gin_param")
  assert "no parameter 'scal'" in problem and "Nearest: scale" in problem


def test_the_process_that_checks_cells_does_not_run_the_users_script(monkeypatch):
  script = types.ModuleType("__main__")
  vars(script).update(__file__="script.py", __spec__=None)
  monkeypatch.setitem(sys.modules, "__main__", script)
  assert "init_main_from_path" in spawn.get_preparation_data("check")
  with table._without_script():
    assert "init_main_from_path" not in spawn.get_preparation_data("check")
  assert vars(script)["__file__"] == "script.py"


def test_a_setting_that_a_learner_of_any_cell_refuses_is_found_first():
  cells = [table.TableCell(row, "A", 0, "digits/clear", params, 0, (), (), ROOT / "w", methods)
           for row, params, methods in (
               ("right", (), ("er", "ncm")), ("wrong", ("train_on='all_of_it'",), ("er",)))]
  assert not table._first_problem(cells[:1])
  problem = table._first_problem(cells)
  assert problem.startswith("Row 'wrong', column 'A', run file digits/clear: GradientLearner.")
  assert "train_on is 'all_of_it'; allowed are" in problem
  chosen = cells[1]._replace(own=("experiment.run.only='ncm'", "train_on='all_of_it'"),
                             methods=("er", "ncm"))
  assert not table._first_problem([chosen])  # It is not run.


def test_a_file_that_a_learner_does_not_find_is_a_failure_of_its_cell(tmp_path, monkeypatch):
  def make(*unused):
    try:
      (tmp_path / "encoder.npz").read_bytes()
    except OSError as error:
      raise ValueError("The encoder cannot be read.") from error

  monkeypatch.setattr(refusals, "make_each", make)
  assert not table._first_problem(
      [table.TableCell("row", "A", 0, "digits/clear", (), 0, (), (), tmp_path)])


@pytest.mark.parametrize("name", ["cfsl/table2", "cfsl/table2_published"])
@pytest.mark.parametrize("budget, updates, num_seeds", [("smoke", 4, 1), ("paper", 125000, 3)])
def test_one_word_sets_the_budget_of_a_whole_table_of_cfsl(name, budget, updates, num_seeds):
  from suite.configs import gin_parse
  gin_parse.parse([run_files.shipped()[name]],
                  ["META_DECAY=%TEXT_DECAY", f"BUDGET={budget!r}"])
  found = gin_parse.gin.get_bindings(table.run)
  assert len(found["seeds"]) == num_seeds and len(found["columns"]) == 12
  rows = {row: table.divided(part)[2] for row, part in found["runs"].items()}
  assert {row.split("_", 1)[0] for row in rows} == {"omniglot", "slimagenet"}
  for row, bindings in rows.items():
    assert bindings.get("UPDATES", updates) == updates
    assert ("UPDATES" in bindings) == ("init_tune" not in row)
    assert bindings.get("META_DECAY", 1e-5) == 1e-5
    assert (bindings.get("IMAGE_SIZE") == 64) == row.startswith("slimagenet")
  epochs = rows["omniglot_sca"].get("self_critique.SelfCritique.epochs", 250)
  assert epochs == max(1, updates // 500)


def test_an_unknown_budget_is_refused():
  with pytest.raises(gin_files.ConfigError, match="no budget 'tiny'; allowed are 'smoke', 'paper'"):
    budgets.choose(budget="tiny", by_budget={"smoke": 1, "paper": 2})


def test_the_cells_are_runs_whose_parameters_gin_has_parsed(folder, python, monkeypatch, capsys):
  # In a thread in place of a process, which would import TensorFlow.
  monkeypatch.setattr(concurrent.futures, "ProcessPoolExecutor",
                      lambda num, mp_context: concurrent.futures.ThreadPoolExecutor(num))
  monkeypatch.setattr(table, "check_parameters", CHECK_PARAMETERS)
  monkeypatch.setattr(table, "COMMAND", COMMAND)
  # The process of a cell is a fork that has TensorFlow imported; what it prints is not kept.
  monkeypatch.setattr(processes, "subprocess", types.SimpleNamespace(
      DEVNULL=None, Popen=lambda command, *, env, **_: python.start(
          command[1:], cwd=folder, env=env)))
  monkeypatch.syspath_prepend(str(folder))
  monkeypatch.delitem(sys.modules, "two_events", raising=False)  # Another test's.
  command = ["run", "tab.gin", "--workdir", "v", "--only", "high/A*/0"]
  assert cli.main([*command, "--gin_param", "two_events.run.scal=1"]) == 2
  assert "two_events.run has no parameter 'scal'" in capsys.readouterr().err
  assert not (folder / "v").exists()
  assert cli.main(command) == 0
  assert "11.00 (1/2)" in capsys.readouterr().out
  assert table_dir.is_finished(folder / "v" / "high" / "A_1" / "0")
  assert (folder / "v" / "high" / "A_1" / "0" / "config.gin").exists()


@pytest.mark.parametrize("rows, columns, seeds, message", [
    (["r"], ["c"], [0, "0"], r"seeds are \[0, '0'\], which make the folders \['0', '0'\]"),
    (["r"], ["c"], ["../escape"], "The seed '../escape' holds '/'"),
    (["r"], ["c"], ["a", "A"], "The seed 'A' is the folder of 'a'"),
    (["r"], ["c"], ["0", "0.log"], "The seed '0.log' is the name of a file"),
    (["r"], ["c"], ["settings.txt"], "is the name of a file"),
    ([".."], ["c"], [0], "rows '..' begins or ends with a dot"),
    (["r"], ["NUL"], [0], "columns 'NUL' is the name of a file of the suite, or of a device"),
    (["table.json"], ["c"], [0], "rows 'table.json' is the name of a file"),
    (["ER 1", "er_1"], ["c"], [0], "rows 'er_1' is the folder of 'ER_1'"),
    (["a b", "a_b"], ["c"], [0], "which make the folders"),
    (["x" * 121], ["c"], [0], "has 121 bytes"),
    (["a\x1b[2J"], ["c"], [0], "which cannot be printed"),
])
def test_cells_have_folders_inside_of_the_table(rows, columns, seeds, message):
  made = table_dir.TableDir(pathlib.Path("w"), "t", "", rows, columns, seeds, {}, [], None, [], [])
  file = run_settings.RunFile("t", pathlib.Path("t.gin"))
  with pytest.raises((gin_files.ConfigError, folders.FolderError), match=message):
    table.plan(made, dict.fromkeys(rows, "a.gin"), dict.fromkeys(columns, {}), {}, [], file)


@pytest.mark.parametrize("changed", [
    {"rows": [".."]}, {"columns": ["."]}, {"seeds": ["../../x"]}, {"seeds": [".."]},
    {"last": "/tmp/x"}, {"last": "../x"}])
def test_a_description_names_no_folder_outside_of_the_table(tmp_path, changed):
  values = {"rows": ["r"], "columns": ["c"], "seeds": [0], "measures": {}, **changed}
  made = table_dir.TableDir(tmp_path, "t", "", **values)
  (tmp_path / table_dir.FILE).write_text(made.text())
  with pytest.raises(ValueError, match="is no description of a table"):
    table_dir.read(tmp_path)


def test_a_part_may_have_gin_files_and_texts_that_are_references():
  base = ("run", "a.gin", {"N": 1})
  assert table.divided((base, {"N": 2}, "b.gin")) == ("run", ["a.gin", "b.gin"], {"N": 2})
  assert table.divided({"N": 2}) == (None, [], {"N": 2})
  made = table_dir.TableDir(pathlib.Path("w"), "t", "", ["r"], ["c"], [0], {}, [], None, [], [])
  file = run_settings.RunFile("t", pathlib.Path("t.gin"), ["mine.gin"])
  cell, = table.plan(
      made, {"r": base}, {"c": {"M": "%N", "F": "@toy.run", "T": "a"}}, {}, [], file)
  assert cell.extra_files == ("a.gin", "mine.gin")
  assert cell.own == ("N=1", "M=%N", "F=@toy.run", "T='a'")


def test_the_settings_of_a_cell_are_those_that_it_reads(tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)
  pathlib.Path("run.gin").write_text(
      "from __gin__ import dynamic_registration\nfrom suite import experiment\nimport toy\n"
      "include 'shelf.gin'\nexperiment.run.protocol = @toy.run\ntoy.run.n = %N\nN = 1\nSEED = 0\n"
      "toy.run.seed = %SEED\n")
  pathlib.Path("shelf.gin").write_text("OF_OTHERS = 1\nN = 2\n")
  made = table_dir.TableDir(pathlib.Path("w"), "t", "", ["r"], ["c"], [0], {}, [], None, [], [])
  cells = table.plan(made, {"r": "run.gin"}, {"c": {"N": 3}}, {}, ["SEED"],
                     run_settings.RunFile("t", pathlib.Path("run.gin")))
  assert list(table.settings_texts(cells[:1]).values()) == [
      "# run.gin\nN = 3\nexperiment.run.protocol = '@toy.run'\ntoy.run.n = '%N'\n"
      "toy.run.seed = '%SEED'\n"]
