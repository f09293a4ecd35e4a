# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
from __future__ import annotations

import types

import pytest


@pytest.fixture(name="tool")
def _tool(load_tool):
  load_tool("made_page")
  return load_tool("proofs_page")


def _published(method, number, deviation="", remark=""):
  return {"benchmark": "b", "method": method, "title": method.upper(), "published": number,
          "deviation": deviation, "source": "", "remark": remark}


def test_a_difference_is_within_the_deviation_or_near_or_explained(tool):
  for row, ours, expected in (
      (_published("er", "70", "3"), 67.0, tool.WITHIN), (_published("er", "70"), 68.0, tool.NEAR),
      (_published("er", "70", "0.5"), 71.0, tool.NEAR), (_published("er", "70"), 67.9, tool.OPEN),
      (_published("er", "70", "0.5", "Why."), 60.0, tool.EXPLAINED)):
    assert tool.verdict(row, ours) == expected
  stored = [{"benchmark": "b", "method": "er", "seed": str(s), "accuracy": a}
            for s, a in enumerate(("70.0", "74.0"))]
  text = tool.page({"b": types.SimpleNamespace(title="B", about="About.")}, stored,
                   [_published("er", "70", "3", "Why."), _published("gem", "5")])
  assert "**1 numbers: 1 within the deviation, 0 within 2 points, 0 explained, 0 not" in text
  assert "| ER | 70 ± 3 | 72.00 ± 2.8 | 2 | +2.00 | within the deviation |" in text
  assert "* ER: Why." in text and "GEM" not in text


def test_every_result_has_a_published_number_and_what_is_unexplained_is_known(tool):
  rows = tool.read(tool.PUBLISHED)
  published = {(row["benchmark"], row["method"]): row for row in rows}
  assert len(published) == len(rows)
  unexplained = {name for name, ours in tool.results(tool.read(tool.STORED)).items()
                 if tool.verdict(published[name], sum(ours) / len(ours)) == tool.OPEN}
  # Two seeds each, which are near fine-tuning; where the difference comes from is to be found out.
  assert unexplained == {("split_mnist_class", method) for method in ("si", "lwf")}
