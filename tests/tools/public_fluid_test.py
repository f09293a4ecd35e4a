# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The clock beside the authors' code; that code itself is not at hand in tests."""

from __future__ import annotations

import importlib.util
import pathlib

import pytest

TOOL = pathlib.Path(__file__).parents[2] / "tools" / "public_fluid.py"


@pytest.fixture(name="tool", scope="module")
def _tool():
  spec = importlib.util.spec_from_file_location("public_fluid", TOOL)
  module = importlib.util.module_from_spec(spec)
  spec.loader.exec_module(module)
  return module


def test_stretches_of_two_seconds_after_the_first(tool):
  warm_up, then = [0.0, 1.5, 2.5], [3.0, 3.5, 4.0, 5.0, 5.5, 6.0, 7.0]
  # 2.5 to 5.0 has four samples, 5.0 to 7.0 three.
  assert tool.pieces(warm_up + then) == [4 / 2.5, 3 / 2.0]


def test_too_short_a_run_says_so(tool):
  with pytest.raises(SystemExit, match="--seconds"):
    tool.pieces([0.0, 1.0, 2.5, 3.0])
