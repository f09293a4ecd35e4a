# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What `tools/bench turns` reads from a case's output, and its refusals."""

import argparse
import importlib
import pathlib

import pytest

import suite

_TOOLS = pathlib.Path(suite.__file__).parents[1] / "tools" / "bench"


@pytest.fixture(name="turns")
def _turns(monkeypatch):
  monkeypatch.syspath_prepend(str(_TOOLS))
  return importlib.import_module("bench_turns")


@pytest.mark.parametrize("printed, expected", [
    ("suite                        median     512.5 images/s   range 500.0..520.0   0.98 x bare",
     {"suite": 512.5}),
    ("| | samples/s (range) | samples per CPU second | ratio to Keras |\n| --- | ---: | ---: |\n"
     "| EWC | 1,250 (1,100 to 1,300) | 900 | 1.50 |", {"EWC": 1250}),
    ("| MAML++ low-end, training, 1 task an update | tasks/s | 4.25 [4 - 5] | - |  | 9.1 / - |",
     {"MAML++ low-end, training, 1 task an update": 4.25}),
    ("| ProtoNets, test | s for 600 tasks | 2.5 [2 - 3] | - |", {"ProtoNets, test": .4}),
    ("    100,000 suite             4.000         0.500           1.2",
     {"100,000 samples, column 1": .25, "100,000 samples, column 2": 2}),
    ("    100,000 numpy             4.000         0.500           1.2", {}),
])
def test_a_value_grows_with_speed(turns, printed, expected):
  assert turns.speeds(printed) == pytest.approx(expected)


@pytest.mark.parametrize("case, other", [("train", None), ("ops", "/tmp"), (None, "/tmp")])
def test_what_it_needs_is_said(turns, case, other):
  with pytest.raises(SystemExit, match="turns needs --case .*allowed: train, .*--other FOLDER"):
    turns.run(argparse.Namespace(case=case, other=other))
