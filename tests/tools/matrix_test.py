# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
from __future__ import annotations

import importlib.util
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module", name="matrix")
def _matrix():
  spec = importlib.util.spec_from_file_location("matrix", ROOT / "tools" / "matrix.py")
  module = importlib.util.module_from_spec(spec)
  sys.modules["matrix"] = module
  spec.loader.exec_module(module)
  yield module
  del sys.modules["matrix"]


@pytest.mark.parametrize("text, newer", [("3.10", ""), ("3.10:2.15", ""), ("3.10:2.19", "newer")])
def test_a_newer_tensorflow_takes_the_newer_line(matrix, text, newer, monkeypatch, tmp_path):
  calls = []
  monkeypatch.setattr(matrix, "_run", lambda *call: calls.append(call))
  line = matrix._line(text)
  env = matrix._environment(line, tmp_path)
  env.mkdir()
  matrix._install(line, env)
  command, environment = calls[-1]
  named = [f"tensorflow=={line.tensorflow}.*"] if line.tensorflow else []
  assert list(command[command.index("-e"):]) == ["-e", f"{matrix.ROOT}[dev]", *named]
  assert environment.get("LIFELONG_TENSORFLOW", "") == newer


def test_a_row_takes_the_place_of_that_of_the_same_versions(matrix):
  rows = {v: f"| {v} | 2.15.1 | keras | x |\n" for v in ("3.9.1", "3.11.7")}
  page = "a\n" + matrix.START + matrix.HEAD + rows["3.11.7"] + matrix.END + "b\n"
  again = rows["3.11.7"].replace("x", "y")
  newer = rows["3.11.7"].replace("2.15.1", "2.20.0")
  assert matrix.updated(page, [rows["3.9.1"], newer, again]) == (
      "a\n" + matrix.START + matrix.HEAD + rows["3.9.1"] + again + newer + matrix.END + "b\n")


def test_the_page_has_the_table(matrix):
  page = matrix.PAGE.read_text(encoding="utf-8")
  assert matrix.updated(page, []) == page


@pytest.mark.parametrize("text", ["2.7", "3.12:19", "python3.12"])
def test_what_is_no_version_is_refused(matrix, text, capsys):
  with pytest.raises(SystemExit):
    matrix.main([text, "--folder", "x"])
  assert "expected for example 3.12 or 3.12:2.19" in capsys.readouterr().err
