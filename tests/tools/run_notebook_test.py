# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs the notebook of docs/own, and checks that its stored outputs belong to its cells.

The runs have fewer updates, inner steps and tasks than those of the notebook; of several learners
all are made, and the last is trained.
"""

from __future__ import annotations

import importlib.util
import json
import pathlib
import types

import pytest

import suite
from suite import experiment
from suite.running import object_run
from suite.training.episodic import inner_loop

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


@pytest.fixture(name="short")
def _short(monkeypatch):
  run, make, of = suite.run, suite.learner, suite.streams.of

  def short(**named):
    return run(**{**named, **{key: 2 for key in ("updates", "updates_per_event", "test_episodes")
                              if key in named}})

  def learner(*arguments, **settings):
    if "inner" in settings:
      settings["inner"] = inner_loop.InnerLoop(steps=1, rate=0.1)
    return make(*arguments, **settings)

  monkeypatch.setattr(suite, "run", short)
  monkeypatch.setattr(suite, "learner", learner)
  def first_task(parts, names):
    return of(parts[:1], names=names[:1]) if of(parts, names=names) else None

  def last_learner(*, learners, **settings):
    *others, last = learners
    for name in others:
      learners[name]()
    experiment.run(learners=learners, only=last, **settings)

  monkeypatch.setattr(suite.streams, "of", first_task)
  monkeypatch.setattr(object_run, "experiment", types.SimpleNamespace(run=last_learner))
  monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda *_, **named: None)


@pytest.mark.usefixtures("short")
def test_the_notebook_runs_all_four_protocols(tool, capsys):
  pytest.importorskip("pandas")
  assert tool.main([str(NOTEBOOK), "--check"]) == 0, capsys.readouterr().err
  table = "".join(json.loads(capsys.readouterr().out.splitlines()[-1])[0]["data"]["text/plain"])
  for protocol in ("nevis", "clear", "cfsl", "fluid"):
    assert protocol in table
  stored = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
  assert all(cell["outputs"] for cell in stored[-1:]) and stored[-1]["execution_count"]
