# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The notebook of docs/own runs as it stands, and its stored outputs are of its own cells."""

from __future__ import annotations

import importlib.util
import json
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "docs" / "own" / "notebook.ipynb"


@pytest.fixture(name="tool", scope="module")
def _tool():
  spec = importlib.util.spec_from_file_location("run_notebook", ROOT / "tools" / "run_notebook.py")
  module = importlib.util.module_from_spec(spec)
  spec.loader.exec_module(module)
  return module


def _cell(*lines):
  return {"cell_type": "code", "source": [f"{line}\n" for line in lines], "outputs": []}


def test_cells_share_names_and_show_their_last_value(tool):
  notebook = {"cells": [_cell("x = 2", "print(x)"), {"cell_type": "markdown"}, _cell("x + 1")]}
  assert tool.run(notebook) == ""
  first, _, last = notebook["cells"]
  assert first["outputs"] == [{"output_type": "stream", "name": "stdout", "text": ["2\n"]}]
  assert last["outputs"][0]["data"] == {"text/plain": ["3"]} and last["execution_count"] == 2


def test_the_cell_that_fails_is_named(tool):
  assert "Cell 2 failed:" in (text := tool.run({"cells": [_cell("x = 2"), _cell("x / 0")]}))
  assert "ZeroDivisionError" in text


def test_the_notebook_runs_all_four_protocols(tool, capsys):
  pytest.importorskip("pandas")
  assert tool.main([str(NOTEBOOK), "--check"]) == 0, capsys.readouterr().err
  table = "".join(json.loads(capsys.readouterr().out.splitlines()[-1])[0]["data"]["text/plain"])
  for protocol in ("nevis", "clear", "cfsl", "fluid"):
    assert protocol in table
  stored = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
  assert all(cell["outputs"] for cell in stored[-1:]) and stored[-1]["execution_count"]
