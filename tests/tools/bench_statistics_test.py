# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The bench of closed forms measures what it counts."""

from __future__ import annotations

import pytest

from suite.training.statistics import class_means
from suite.training.statistics import truncated_factors


@pytest.fixture(name="tool", scope="module")
def _tool(load_tool):
  return load_tool("bench_statistics")


def test_a_block_is_answered_and_a_set_has_the_products_of_its_graphs(tool, monkeypatch):
  monkeypatch.setattr(tool, "BLOCK", 8)
  assert tool.in_blocks(class_means.ClassMeans(), 4)().shape == (8, tool.CLASSES)
  work, each = tool.in_sets(truncated_factors.TruncatedFactors(4), 4)
  work()
  assert 9 * 8 ** 3 / 2 < each * 8 < 9 * 8 ** 3 + 100 * tool.CLASSES
  rate = tool.measured(work, each, 0.0)
  assert rate.samples > 0 and rate.products == each


def test_a_line_has_the_median_of_the_ratios(tool):
  rates = [tool.Rate(num, 2e6) for num in (1e3, 2e3, 4e3)]
  other = [tool.Rate(num, 1e6) for num in (1e3, 1e3, 1e3)]
  assert tool.line("x", rates, other) == "| x | 2,000 | 2.00 | 4.0 | 4.00 (2.00 to 8.00) |"
