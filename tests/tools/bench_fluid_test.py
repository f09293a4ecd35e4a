# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Both sides of FLUID's table answer alike; the speeds themselves are nobody's to test."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from suite.data.images import image_ops
from suite.models import conv4
from suite.training.gradient import frozen_backbone


@pytest.fixture(name="tool")
def _tool(load_tool, monkeypatch):
  module = load_tool("bench_fluid")
  for name, value in {"RECORD": 10, "HEAD_BLOCK": 8, "WARM_UP": 2, "AHEAD": 10}.items():
    monkeypatch.setattr(module, name, value)
  # As code of the suite's: AutoGraph would convert what holds another's, which takes seconds.
  monkeypatch.setattr(module.Cached, "__module__", "suite.bench")
  monkeypatch.setattr(module.Cached.features, "__module__", "suite.bench")
  return module


@pytest.mark.parametrize("name, interval", [("NCM", None), ("ET", 25)])
def test_the_protocol_answers_as_the_loop(tool, name, interval, tmp_path):
  sequence, transform = tool.pictures(60), image_ops.Plain(tool.SIZE)
  features = frozen_backbone.FrozenBackbone(
      functools.partial(conv4.conv4, filters=4, blocks=1), tool.SIZE, seed=1)
  rate, answers = tool.protocol(
      tool.learner_of(name, features, transform), sequence, interval, tmp_path / "a")
  _, logits = tool.Loop(name, features, transform, tmp_path / "b").run(sequence, 60, interval)
  assert tool.differing(answers, logits) <= 1 and len(set(answers)) > 10
  assert rate.wall > 0 and rate.cpu > 0


def test_heads_have_a_line_each(tool, monkeypatch, tmp_path):
  monkeypatch.setattr(tool, "LOOP", {"head": 20})
  rows: dict[str, Any] = {}
  tool.heads(rows, 48, tmp_path)
  assert list(rows) == ["head, linear (Keras)", "head, NCM", "head, NCM, whole protocol",
                        "head, ET", "head, ET, whole protocol"]
  assert all(tool.line(name, row).startswith(f"| {name} | ") for name, row in rows.items())


def test_a_rate_begins_after_the_records_that_trace(tool):
  marks = [tool.Mark(20, 9.0, 8.0), tool.Mark(60, 13.0, 9.0)]
  assert tool.between(*marks) == tool.Rate(10.0, 40.0)


def test_a_stream_counts_neither_its_first_records_nor_its_last_samples(tool):
  marks = [tool.Mark(10, 5.0, 5.0), tool.Mark(20, 9.0, 8.0), tool.Mark(20, 10.0, 8.5, False),
           tool.Mark(30, 12.0, 9.0), tool.Mark(40, 13.0, 10.0), tool.Mark(50, 13.1, 10.1)]
  assert tool.steady(marks, 50) == tool.Rate(5.0, 10.0)
  with pytest.raises(ValueError, match="A sequence of 35 samples has no record after the first 2"):
    tool.steady(marks, 35)


def test_a_tie_is_let_pass_and_anything_else_is_an_error(tool):
  nothing = np.full(3, -np.inf)
  rows = [nothing, np.array([1.0, 2.0, -np.inf]), np.array([5.0, 5.00001, 0.0])]
  assert tool.differing(np.array([-1, 1, 0]), rows) == 1
  with pytest.raises(AssertionError, match="Step 1: the protocol answers 0, the loop 1"):
    tool.differing(np.array([-1, 0, 0]), rows)


def test_a_line_has_medians_of_rounds_and_of_ratios(tool):
  suite = [tool.Rate(wall, 2000.0) for wall in (1000.0, 900.0, 1200.0)]
  loop = [tool.Rate(wall, 50.0) for wall in (100.0, 100.0, 400.0)]  # Ratios 10, 9 and 3.
  assert tool.line("NCM", tool.Row(suite, loop, [0, 2, 1])) == (
      "| NCM | 1,000 (900 to 1,200) | 2,000 | 100 | 50 | 9.0 | 2 |")
