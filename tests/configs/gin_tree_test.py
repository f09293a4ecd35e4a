# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Rules for the shipped gin files, each of which names all offenders."""

from __future__ import annotations

import shlex

import pytest

from suite import cli
from suite.configs import gin_files
from suite.configs import run_files

ROOT = gin_files.root() / "gin"
FILES = sorted(ROOT.rglob("*.gin"))


def test_no_line_has_more_than_120_characters():
  long = [f"{path.relative_to(ROOT)}, line {number}: {len(line)}" for path in FILES
          for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
          if len(line) > 120]
  assert not long, "\n".join(["break these lines; a header's comment goes on in the next:", *long])


def test_the_tree_can_be_read():
  assert len(FILES) <= 200, f"{len(FILES)} gin files: a variant of a run is bindings, or a column"
  for table, run, most in (("clear/table1", "clear/table1_linear", 6),
                           ("fluid/paper_table", "fluid/published", 10)):
    files = {file for name in (table, run)
             for file in gin_files.scan([run_files.shipped()[name]]).files}
    assert len(files) <= most, f"{table} is {len(files)} files: {sorted(files)}"


def test_every_old_name_is_a_run_of_today(capsys):
  runs = run_files.shipped()
  wrong = [name for name in run_files.old_runs() if name in runs]
  for name, now in run_files.old_runs().items():
    run, *flags = shlex.split(now)
    values = list(zip(flags[::2], flags[1::2]))
    try:
      assert {flag for flag, _ in values} <= {"--gin_file", "--gin_param", "--workdir"}
      files = [gin_files.find_file(value, "--gin_file") for flag, value in values
               if flag == "--gin_file"]
      gin_files.scan([runs[run], *files], [v for flag, v in values if flag == "--gin_param"])
    except (AssertionError, KeyError, gin_files.ConfigError) as error:
      wrong.append(f"{name} -> {now}: {error}")
  assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("ending", ["", ".gin"])
def test_an_old_name_says_the_command_of_today(monkeypatch, capsys, ending):
  command = "digits/clear --gin_param STEPS=3"
  monkeypatch.setattr(run_files, "old_runs", lambda: {"digits/clear_short": command})
  assert cli.main(["run", f"digits/clear_short{ending}"]) == 2
  assert (f"The run digits/clear_short is now digits/clear: suite run {command}"
          in capsys.readouterr().err)
