# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The list of the shipped runs, as it is filtered."""

from __future__ import annotations

import pytest

from suite import cli
from suite.configs import gin_files
from suite.configs import run_facts
from suite.configs import run_files


def _names(capsys, *flags):
  assert cli.main(["list", "--names", *flags]) == 0
  return capsys.readouterr().out.split()


def test_runs_are_grouped_and_filtered(capsys):
  assert set(_names(capsys)) == set(run_files.shipped())
  assert "quickstart" in _names(capsys, "--benchmark", "nevis", "--data", "digits")
  assert all(name.startswith("digits/") for name in _names(
      capsys, "--benchmark", "clear", "--data", "digits", "--hardware", "cpu"))
  assert cli.main(["list", "--long", "digits/cfsl_maml"]) == 0
  lines = capsys.readouterr().out.splitlines()
  assert lines[0] == "# cfsl" and lines[1].split() == [
      "run", "hardware", "data", "cost", "gave", "what"]
  assert "accuracy 0.74" in lines[2] and "--dry_run" in lines[-1]


def test_nothing_found_says_so(capsys):
  assert cli.main(["list", "no such thing"]) == 2
  assert "suite list without arguments shows all" in capsys.readouterr().err


def test_a_header_with_other_fields_is_refused(tmp_path):
  path = tmp_path / "x.gin"
  path.write_text("# What.\n# Cost: 1 s | Data: digits\n")
  with pytest.raises(gin_files.ConfigError, match="is not '# Cost: TEXT | Hardware: cpu or gpu"):
    run_facts.read_header("x", path)
