# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Layouts of both sides; the authors' code itself is not at hand in tests."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture(name="tool", scope="module")
def _tool(load_tool):
  return load_tool("public_cfsl_loss")


@pytest.mark.parametrize("name, shape, theirs", [
    ("block1/kernel", (3, 3, 2, 5), (5, 2, 3, 3)), ("block1/bias", (5,), (5,)),
    ("head/kernel", (5, 4), (4, 5)), ("head/bias", (4,), (4,))])
def test_weights_go_to_their_layout_and_back(tool, name, shape, theirs):
  value = np.random.default_rng(0).normal(size=shape)
  there = tool._theirs(name, value, theirs)
  assert there.shape == theirs
  np.testing.assert_array_equal(tool._ours(name, there, 5), value)


def test_a_kernel_keeps_its_place_and_channels(tool):
  value = np.zeros((3, 3, 2, 5))
  value[0, 2, 1, 4] = 1.0  # Row 0, column 2, from channel 1 to filter 4.
  assert tool._theirs("block1/kernel", value, (5, 2, 3, 3))[4, 1, 0, 2] == 1.0
