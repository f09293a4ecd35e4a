# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The table of what dry runs take keeps the lines of runs that were not measured again."""

from __future__ import annotations

import pytest


@pytest.fixture(name="plans", scope="module")
def _plans(load_tool):
  return load_tool("plans")


def test_lines_are_replaced_by_name_and_sorted(plans):
  page = "\n".join(["# Costs", "", *plans.HEAD, "| `b` | 1 | 1 | 0.1 GB | 1 MFLOP |  |",
                    "| `c` | 2 | 2 | 0.2 GB | - |  |", "", "More."]) + "\n"
  found = {"c": plans.DryRun(61.4, 100.2, 2_440_000_000, "3.1 GFLOP", ""),
           "a": plans.DryRun(600.0, 0.0, 10**9, "", "stopped after 600 s")}
  text = plans.merged(page, found)
  assert text.splitlines()[4:] == [
      "| `a` | 600 | 0 | 1.0 GB |  | stopped after 600 s |",
      "| `b` | 1 | 1 | 0.1 GB | 1 MFLOP |  |",
      "| `c` | 61 | 100 | 2.4 GB | 3.1 GFLOP |  |", "", "More."]
  assert plans.merged(text, {}) == text


def test_the_page_has_the_table(plans):
  text = plans.PAGE.read_text(encoding="utf-8")
  assert plans.merged(text, {}) == text
