# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The command: exit codes, messages, what reaches `experiment.run`, and that mistakes are quick."""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import os
import pathlib
import subprocess
import sys
import types

import numpy as np
import pytest

import suite
from suite import cli
from suite.configs import gin_files
from suite.configs import run_files
from suite.configs import run_settings
from suite.reporting import tables
from suite.running import this_process

RUN_FILE = """# Runs a toy.
from __gin__ import dynamic_registration
from suite import experiment
experiment.run.protocol = 'toy'
experiment.run.seed = %SEED
SEED = 3
"""


@pytest.fixture
def runs(tmp_path, monkeypatch):
  """A root with one run file, and an `experiment.run` that notes what it is given; the notes."""
  (tmp_path / "gin" / "runs").mkdir(parents=True)
  (tmp_path / "gin" / "runs" / "toy.gin").write_text(RUN_FILE)
  monkeypatch.setattr(gin_files, "root", lambda: tmp_path)
  monkeypatch.chdir(tmp_path)
  notes = types.SimpleNamespace(calls=[], raises=None)

  def run(*, protocol, seed=0, settings: run_settings.RunSettings,
          origin: run_settings.RunOrigin):
    assert origin.find_unused("", ()) is not None
    assert settings.data_dir == os.environ.get("TFDS_DATA_DIR")
    assert settings.mirror == os.environ.get("LIFELONG_MIRROR")
    notes.calls.append({**dataclasses.asdict(settings), "config_text": origin.config_text,
                        "protocol": protocol, "seed": seed})
    if notes.raises:
      raise notes.raises
    return "the report"

  run.__module__ = "suite.experiment"
  fake = types.ModuleType("suite.experiment")
  fake.run = run
  monkeypatch.setitem(sys.modules, "suite.experiment", fake)
  monkeypatch.setattr(suite, "experiment", fake, raising=False)
  return notes


def test_run_passes_flags_and_gin_says_the_rest(runs, tmp_path, capsys):
  (tmp_path / "m").mkdir()
  code = cli.main(["run", "toy", "--gin_param", "SEED=5", "--data_dir", "d", "--mirror", "m",
                   "--strategy", "mirrored", "--devices", "2", "--profile"])
  assert code == 0
  call, = runs.calls
  assert capsys.readouterr().out == "the report\n"
  assert (call["protocol"], call["seed"]) == ("toy", 5)
  assert call["workdir"] == os.path.join("runs", "toy")
  assert (call["data_dir"], call["mirror"], call["strategy"]) == ("d", "m", "mirrored")
  assert (call["devices"], call["profile"]) == (2, True)
  assert (call["precision"], call["xla"], call["deterministic"]) == ("float32", False, None)
  assert "SEED = 5" in call["config_text"]
  assert call["command"] == ("suite run toy --gin_param SEED=5 --data_dir d --mirror m "
                             "--strategy mirrored --devices 2 --profile")
  assert cli.main(["run", "toy", "--precision", "bfloat16", "--xla", "--no-deterministic"]) == 0
  call = runs.calls[-1]
  assert (call["precision"], call["xla"], call["deterministic"]) == ("bfloat16", True, False)


def test_run_takes_places_from_the_environment(runs, monkeypatch, tmp_path):
  monkeypatch.setenv("LIFELONG_DATA_DIR", "/data")
  monkeypatch.setenv("LIFELONG_MIRROR", str(tmp_path))
  assert cli.main(["run", "toy", "--workdir", "w"]) == 0
  call, = runs.calls
  assert (call["workdir"], call["data_dir"], call["mirror"]) == ("w", "/data", str(tmp_path))
  assert (call["strategy"], call["devices"], call["profile"]) == ("one_device", None, False)


def test_run_reads_a_file_of_the_user_and_an_extra_one(runs, tmp_path):
  own = tmp_path / "mine.gin"
  own.write_text(RUN_FILE)
  (tmp_path / "gin" / "debug.gin").write_text("SEED = 9\n")
  assert cli.main(["run", str(own), "--gin_file", "gin/debug.gin"]) == 0
  assert (runs.calls[0]["seed"], runs.calls[0]["workdir"]) == (9, os.path.join("runs", "mine"))


@pytest.mark.parametrize("argv, message", [
    (["run", "toi"], "Unknown run 'toi'"),
    (["run", "toy", "--gin_param", "SEEED=5"], "macro 'SEEED', which no file of this run declares"),
    (["run", "toy", "--gin_param", "experiment.run.sed=5"], "run has no parameter 'sed'"),
    (["run", "toy", "--gin_param", "experiment.run.workdir='x'"], "sets workdir of suite.exp"),
    (["run", "toy", "--gin_param", "SEED=%gin.REQUIRED"], "Required and not set:\n  SEED"),
    (["run", "toy", "--strategy", "mirored"], "invalid choice: 'mirored' (choose from"),
    (["run", "toy", "--devices", "none"], "got 'none', allowed is a whole number from 1"),
    (["run", "toy", "--mirror", "nowhere"], "The mirror 'nowhere' is no folder"),
    (["report", "nowhere"], "No such directory: nowhere"),
    (["rum"], "invalid choice: 'rum'"),
    ([], "usage: suite"),
    (["data"], "usage: suite data"),
])
def test_bad_usage_and_bad_config_exit_with_2_and_say_why(runs, capsys, argv, message):
  assert cli.main(argv) == 2
  assert message in capsys.readouterr().err
  assert not runs.calls


def test_an_error_of_ours_is_a_message_and_1(runs, capsys):
  class MissingDataError(Exception):
    __module__ = "suite.data.streams.streams"

  runs.raises = MissingDataError("Not prepared: mnist. Next step: suite data build mnist")
  assert cli.main(["run", "toy"]) == 1
  error = capsys.readouterr().err
  assert error == "suite: Not prepared: mnist. Next step: suite data build mnist\n"


def test_a_config_that_the_experiment_refuses_is_2(runs, capsys):
  runs.raises = gin_files.ConfigError("runs/toy holds another run.")
  assert cli.main(["run", "toy"]) == 2
  assert capsys.readouterr().err == "suite: runs/toy holds another run.\n"


def test_debug_shows_the_traceback(runs, capsys):
  class OwnError(Exception):
    __module__ = "suite.data.streams.streams"

  runs.raises = OwnError("it is so")
  assert cli.main(["run", "toy", "--debug"]) == 1
  assert "Traceback" in capsys.readouterr().err


def test_an_unexpected_error_keeps_its_traceback(runs, capsys):
  runs.raises = ZeroDivisionError("integer division")
  assert cli.main(["run", "toy"]) == 1
  error = capsys.readouterr().err
  assert "Traceback" in error and "integer division" in error
  assert error.endswith("suite: unexpected ZeroDivisionError, see above\n")


def test_an_interruption_says_how_to_go_on(runs, capsys):
  runs.raises = KeyboardInterrupt()
  assert cli.main(["run", "toy"]) == 130
  assert "run the same command again to resume" in capsys.readouterr().err


def test_a_value_error_is_ours_only_if_our_line_raises_it():
  def caught(call):
    try:
      call()
    except ValueError as error:
      return error

  assert this_process.is_our_message(caught(lambda: run_files.find("no such run")))
  assert not this_process.is_our_message(caught(lambda: np.zeros(3).reshape(2)))
  assert not this_process.is_our_message(ValueError("never raised"))


def test_list_shows_names_and_descriptions(runs, capsys):
  assert cli.main(["list"]) == 0
  lines = capsys.readouterr().out.splitlines()
  assert lines[:3] == ["# others", "run  hardware  data  cost  what",
                       "toy                        Runs a toy."]


def test_report_prints_the_tables(monkeypatch, capsys, tmp_path):
  monkeypatch.setattr(tables, "report", lambda dirs, **how: f"tables of {len(dirs)}")
  assert cli.main(["report", str(tmp_path), str(tmp_path)]) == 0
  assert capsys.readouterr().out == "tables of 2\n"


def test_the_strategies_are_those_of_distribution():
  from suite.compute import distribution
  assert run_settings.STRATEGIES == distribution.NAMES


def test_main_is_a_list():
  assert len(inspect.getsource(cli.main).splitlines()) <= 40


def test_quick_commands_leave_tensorflow_alone(tmp_path):
  """One after the other in one process; the help imports no arrays either."""
  program = """
import sys
from suite import cli
for argv, wanted in ((["--help"], 0), (["--version"], 0), (["verify", "--help"], 0), (["list"], 0),
                     (["run", "no/such/run"], 2), ([], 2), (["curate", "status", "."], 0)):
  try:
    code = cli.main(argv)
  except SystemExit as end:
    code = end.code or 0
  heavy = {"tensorflow", "tensorflow_datasets", "matplotlib"} & set(sys.modules)
  if argv == ["--help"]:
    heavy |= {"numpy", "scipy"} & set(sys.modules)
  if heavy or code != wanted:
    sys.exit(f"{argv} gives {code}, imports {heavy}")
"""
  path = str(pathlib.Path(suite.__file__).parents[1])
  done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True,
                        text=True, env={**os.environ, "PYTHONPATH": path})
  assert done.returncode == 0, done.stderr


def test_the_log_shows_only_relevant_lines(tmp_path):
  program = """

from suite.configs import gin_files
from suite.running import this_process
from absl import logging
this_process.configure_command_logging()
logging.info("of another package")
logging.warning("everybody may warn")
# A line of ours, as if it stood in the package.
exec(compile("logging.info('Event %d', 3)", gin_files.__file__, "exec"))
"""
  path = str(pathlib.Path(suite.__file__).parents[1])
  done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True,
                        text=True, env={**os.environ, "PYTHONPATH": path}, check=True)
  assert [line.split(" ", 1)[1] for line in done.stderr.splitlines()] == [
      "everybody may warn", "Event 3"]
  assert not done.stdout


def test_python_m_suite_is_the_command(tmp_path):
  path = str(pathlib.Path(suite.__file__).parents[1])
  done = subprocess.run([sys.executable, "-m", "suite", "--version"], cwd=tmp_path,
                        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
  assert (done.returncode, done.stdout) == (0, f"suite {suite.__version__}\n")


def test_the_flags_of_settings_make_the_same_settings():
  settings = run_settings.RunSettings(
      workdir="w", strategy="mirrored", data_dir="d", devices=2, gin_names=("shipped", "a.b"),
      deterministic=False, precision="bfloat16", xla=True, codes="c", codes_gb=0.5)
  parser = argparse.ArgumentParser()
  run_settings.add_flags(parser, *(n for n in run_settings.names()
                                   if n not in ("seed", "op_threads", "command")))
  assert run_settings.from_flags(parser.parse_args(settings.flags())) == settings
  assert run_settings.from_flags(parser.parse_args([])) == run_settings.RunSettings()
  assert run_settings.RunSettings().flags() == []
  assert settings.flags("data_dir", "mirror") == ["--data_dir", "d"]


def test_a_setting_that_does_not_exist_is_named_with_the_nearest():
  with pytest.raises(gin_files.ConfigError, match="no setting 'precison'.*Nearest: precision"):
    run_settings.from_python({"precison": "float32"})
