# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Gin files of somebody else import and call what is trusted, and nothing else."""

from __future__ import annotations

import sys

import pytest

from suite import cli
from suite.configs import gin_files
from suite.configs import gin_parse

TRUSTED = ("suite", "tensorflow")
HEAD = "from __gin__ import dynamic_registration\nfrom suite import experiment\n"
CALL = "experiment.run.protocol = @{}\n"


def _parse(tmp_path, text, trusted=TRUSTED):
  path = tmp_path / "run.gin"
  path.write_text(HEAD + text)
  return gin_parse.parse([path], trusted=trusted)


@pytest.mark.parametrize("text, message", [
    ("import os\n" + CALL.format("os.getcwd"), r"run.gin imports 'os'; trusted are suite, tensor"),
    ("import evil\n" + CALL.format("evil.run"), "imports 'evil'"),
    ("from os import path as experiment\n" + CALL.format("experiment.join"), "imports 'os.path'"),
    ("from suite.system import processes\n" + CALL.format("processes.run"),
     "imports 'suite.system.processes'"),
    ("from suite.state import weight_store\n" + CALL.format("weight_store.shutil.rmtree"),
     "names suite.state.weight_store.shutil.rmtree, which is defined in 'shutil'"),
    ("import tensorflow as tf\n" + CALL.format("tf.io.gfile.rmtree"),
     "names tensorflow.io.gfile.rmtree, which is defined in 'tensorflow.python.lib.io.*'"),
    ("import tensorflow as tf\n" + CALL.format("tf.keras.models.load_model"), "load_model, which"),
    ("import tensorflow as tf\n" + CALL.format("tf.py_function"), "py_function, which is"),
])
def test_what_is_not_trusted_is_refused_by_name(tmp_path, text, message, monkeypatch):
  (tmp_path / "evil.py").write_text("raise SystemExit('imported')")
  monkeypatch.syspath_prepend(str(tmp_path))
  with pytest.raises(gin_files.ConfigError, match=message):
    _parse(tmp_path, text)
  assert "evil" not in sys.modules


def test_an_included_file_and_a_binding_are_read_too(tmp_path):
  (tmp_path / "inside.gin").write_text("import os\n")
  with pytest.raises(gin_files.ConfigError, match="inside.gin imports 'os'"):
    _parse(tmp_path, f"include '{tmp_path / 'inside.gin'}'\n")
  (tmp_path / "run.gin").write_text(HEAD + "from suite.state import weight_store\n")
  with pytest.raises(gin_files.ConfigError, match="--gin_param .* names .*shutil.rmtree"):
    gin_parse.parse([tmp_path / "run.gin"],
                    ["experiment.run.protocol=@weight_store.shutil.rmtree()"], trusted=TRUSTED)


def test_own_modules_are_trusted_by_name_and_all_are_without_the_flag(tmp_path, monkeypatch):
  (tmp_path / "mine.py").write_text("def run():\n  pass\n")
  monkeypatch.syspath_prepend(str(tmp_path))
  text = "import mine\n" + CALL.format("mine.run")
  with pytest.raises(gin_files.ConfigError, match="add the module to --trusted_modules"):
    _parse(tmp_path, text)
  _parse(tmp_path, text, trusted=("suite", "mine"))
  _parse(tmp_path, text, trusted=())


def test_shipped_runs_are_parsed_and_import_and_name_nothing_else():
  refused = {}
  for name, path in gin_files.run_files().items():
    try:
      gin_parse.parse([path], trusted=TRUSTED)
    except gin_files.ConfigError as error:
      refused[name] = str(error)
  assert not refused


def test_the_command_line_takes_names_of_modules(capsys):
  assert cli.main(["run", "quickstart", "--trusted_modules", "suite tensorflow"]) == 2
  assert "allowed are modules such as suite,tensorflow" in capsys.readouterr().err
  assert cli.main(["run", "quickstart", "--trusted_modules", "tensorflow"]) == 2
  assert "imports 'suite'" in capsys.readouterr().err.replace("suite.experiment", "suite")
