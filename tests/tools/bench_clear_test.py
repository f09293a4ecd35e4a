# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What the table of CLEAR's speeds is made of; the speeds themselves are nobody's to test."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture(name="tool", scope="module")
def _tool(load_tool):
  return load_tool("bench_clear")


def test_all_learn_a_bucket_before_the_next_and_first_buckets_do_not_count(tool):
  said, rates = [], {}

  def candidate(name):
    def learn(bucket):
      said.append((name, bucket))
      return 7
    return learn

  tool.taking_turns({"a": candidate("a"), "b": candidate("b")}, ["x", "y", "z"], 1, rates)
  assert list(rates) == ["a", "b"]
  assert said == [("a", "x"), ("b", "x"), ("b", "y"), ("a", "y"), ("a", "z"), ("b", "z")]
  assert [len(values) for values in rates.values()] == [2, 2]


def test_a_ratio_is_of_rates_side_by_side(tool):
  ours = [tool.Rate(wall, 100.0) for wall in (1000.0, 300.0, 90.0)]
  keras = [tool.Rate(wall, 50.0) for wall in (500.0, 100.0, 60.0)]  # Ratios 2, 3 and 1.5.
  assert tool._row("ER", ours, keras) == "| ER | 300 (90 to 1,000) | 100 | 2.00 |"
  assert tool._row("Keras fit", keras, keras) == "| Keras fit | 100 (60 to 500) | 50 | 1.00 |"


def test_both_sides_get_the_same_samples(tool, monkeypatch, tmp_path):
  for name, value in {"NUM": 40, "WIDTH": 6, "BUCKETS": 3}.items():
    monkeypatch.setattr(tool, name, value)
  bucket, *_ = data = tool.features()
  assert len(data) == 3 and tool.inputs(bucket).shape == (40, 6)
  candidates = tool.on_features(tmp_path, 2)
  assert list(candidates)[1:] == list(tool.METHODS)
  for name in ("Keras fit", "fine-tuning", "ER"):
    assert [candidates[name](bucket) for bucket in data] == [80] * 3
  assert [act() for act in tool.matrices(data).values()] == [360, 360]
  pictures = tool.images()[0]
  shown = tool.inputs(pictures)
  assert shown.shape == (tool.IMAGES, tool.IMAGE_SIZE, tool.IMAGE_SIZE, 3)
  assert shown.dtype == np.uint8
