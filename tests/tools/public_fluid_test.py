# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The clock beside the authors' code; that code itself is not at hand in tests."""

from __future__ import annotations

import pytest


@pytest.fixture(name="tool", scope="module")
def _tool(load_tool):
  return load_tool("public_fluid")


def test_stretches_of_two_seconds_after_the_first(tool):
  warm_up, then = [0.0, 1.5, 2.5], [3.0, 3.5, 4.0, 5.0, 5.5, 6.0, 7.0]
  # 2.5 to 5.0 has four samples, 5.0 to 7.0 three.
  assert tool.pieces(warm_up + then) == [4 / 2.5, 3 / 2.0]


def test_too_short_a_run_says_so(tool):
  with pytest.raises(SystemExit, match="--seconds"):
    tool.pieces([0.0, 1.0, 2.5, 3.0])
