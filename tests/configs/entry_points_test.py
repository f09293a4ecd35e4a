# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Entry points: of this checkout, of a package that adds a command, and of one that cannot load."""

from __future__ import annotations

import configparser
import pathlib
import re
import resource
import subprocess
import sys

import pytest

from suite import cli
from suite.configs import entry_points
from suite.configs import gin_files

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULE = """
from suite.configs import entry_points


def _add(parser):
  parser.add_argument("--times", type=int, default=1)
  parser.set_defaults(do=lambda args: print("hello " * args.times) or 0, debug=False)


HELLO = entry_points.Command("say hello to 100%", _add)
"""


@pytest.fixture(name="installed")
def _installed(tmp_path, monkeypatch):
  """installed(text): a package whose metadata has these entry points."""
  def install(text):
    (tmp_path / "greetings.py").write_text(MODULE)
    (tmp_path / "needs_absent.py").write_text("import absent_package.inner\n")
    folder = tmp_path / "greetings-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: greetings\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path

  yield install
  for name in ("greetings", "needs_absent"):
    sys.modules.pop(name, None)


def test_the_installation_registers_what_setup_cfg_says():
  config = configparser.ConfigParser()
  config.read(ROOT / "setup.cfg")
  for group in (entry_points.COMMANDS, entry_points.ENGINES, entry_points.TRACKERS):
    said = dict(re.split(r"\s*=\s*", line) for line in filter(None, config[
        "options.entry_points"][group].split("\n")))
    known = {name: one.value for name, one in entry_points.found(group).items()}
    assert said.items() <= known.items(), (
        "setup.cfg was changed since the checkout was installed: pip install --no-deps -e .")
    for name in said:
      entry_points.load(group, name)


def test_a_package_adds_a_command_and_an_action(installed, capsys):
  installed("[lifelong_suite.commands]\nhello = greetings:HELLO\ndata.hello = greetings:HELLO\n")
  assert cli.main(["hello", "--times", "2"]) == 0
  assert cli.main(["data", "hello"]) == 0
  assert cli.main(["--help"]) == 0
  out = capsys.readouterr().out
  assert out.startswith("hello hello \nhello \n") and "say hello to 100%" in out


@pytest.mark.parametrize("value, message", [
    ("needs_absent:A", "'hello' of commands cannot be imported (No module named 'absent_package')"
     ": pip install absent_package."),
    ("greetings:NONE", "has no attribute 'NONE'): install the package again that has it."),
    ("suite.beside.none:A", "(No module named 'suite.beside.none'): install the package again")])
def test_what_cannot_be_imported_is_one_line(installed, capsys, value, message):
  installed(f"[lifelong_suite.commands]\nhello = {value}\n")
  assert cli.main(["hello"]) == 2
  error = capsys.readouterr().err
  assert message in error and error.count("\n") == 1
  assert cli.main(["--help"]) == 0
  assert "hello" in capsys.readouterr().out


def test_unknown_names_list_the_known_ones(capsys, tmp_path):
  for flag in ("--engine", "--tracker"):
    assert cli.main(["run", "quickstart", "--workdir", str(tmp_path / "w"), flag, "none"]) == 2
    assert re.search(f"No installed package has 'none' among its {flag[2:]}s; known are .*"
                     r"(ray|wandb)", capsys.readouterr().err)
  with pytest.raises(gin_files.ConfigError, match="'none' among its commands; known are curate"):
    entry_points.load(entry_points.COMMANDS, "none")


def test_help_takes_at_most_half_a_second_of_cpu():
  before = resource.getrusage(resource.RUSAGE_CHILDREN)
  subprocess.run([sys.executable, "-m", "suite", "--help"], cwd=ROOT, check=True,
                 capture_output=True)
  after = resource.getrusage(resource.RUSAGE_CHILDREN)
  assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.5
