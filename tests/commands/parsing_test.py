# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Completions of bash and zsh, as argcomplete is asked for them."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys

import pytest

from suite import cli
from suite.beside.commands import curate_commands
from suite.beside.commands import timeline_commands
from suite.beside.curation import selection
from suite.beside.curation import time_buckets
from suite.beside.curation import votes
from suite.beside.curation.timelines import timeline_plan
from suite.commands import parsing
from suite.commands import show_commands
from suite.configs import run_files


def _completed(python, line, shell, path):
  # In a process of its own: argcomplete answers on a descriptor and leaves without a clean end.
  env = {**os.environ, "_ARGCOMPLETE": "1", "_ARGCOMPLETE_SHELL": shell, "COMP_LINE": line,
         "COMP_POINT": str(len(line)), "_ARGCOMPLETE_IFS": "\v", "COMP_TYPE": "9",
         "_ARGCOMPLETE_STDOUT_FILENAME": str(path)}
  done = python.run(["-m", "suite"], env=env)
  assert done.returncode == 0, done.stderr
  return [part.partition(":")[0].strip() for part in path.read_text().split("\v") if part]


@pytest.mark.skipif(importlib.util.find_spec("argcomplete") is None,
                    reason="the extra completion is not installed")
@pytest.mark.parametrize("shell, line, expected", [
    ("zsh", "suite run digits/cfsl_",
     ["digits/cfsl_episodes", "digits/cfsl_maml", "digits/cfsl_table"]),
    ("bash", "suite run digits/cfsl --dry", ["--dry_run"]),
    ("bash", "suite list --data slim", ["slimagenet64"]),
    ("bash", "suite data build slimagenet64/im", ["slimagenet64/images"]),
    ("bash", "suite run digits/cfsl --gin_param UPD", ["UPDATES="]),
])
def test_a_shell_completes(shell, line, expected, python, tmp_path):
  assert _completed(python, line, shell, tmp_path / "found") == expected


def test_names_come_from_the_files_without_argcomplete(monkeypatch):
  assert parsing.runs() == list(run_files.shipped())
  assert "digits" in show_commands.data_of_runs()
  given = argparse.Namespace(run="digits/cfsl")
  assert {"UPDATES=", "digits.episodes.way="} <= set(parsing.bindings(given))
  assert parsing.bindings(argparse.Namespace(run="no such run")) == []
  monkeypatch.setenv("_ARGCOMPLETE", "1")
  monkeypatch.setitem(sys.modules, "argcomplete", None)
  assert parsing.serve(cli.parser()) is None


def test_numbers_of_the_parsers_are_those_of_the_modules_that_they_do_not_import():
  rule = selection.SelectionRule()
  known = [time_buckets.NUM, votes.MIN_REVIEWERS, rule.share, rule.first]
  shown = [getattr(curate_commands, name) for name in ("_NUM", "_REVIEWERS", "_SHARE", "_FIRST")]
  assert shown == known
  assert timeline_plan.BY == timeline_commands._BY


def _parsers(parser):
  yield parser
  group = vars(parser).get("group")
  for one in dict.fromkeys(group.choices.values()) if group else ():
    yield from _parsers(one)


def test_no_command_takes_a_part_of_a_flag():
  assert not [one.prog for one in _parsers(cli.parser()) if one.allow_abbrev]


def test_a_file_of_one_format_is_named_so():
  assert parsing.file_named(".html", ".htm")("x.HTM").name == "x.HTM"
  with pytest.raises(argparse.ArgumentTypeError, match="is a .csv: name it a/x.csv"):
    parsing.file_named(".csv")("a/x.txt")
