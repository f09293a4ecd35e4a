# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The bench of the store does all of its operations; its times are nobody's to test."""

from __future__ import annotations

import argparse

import numpy as np
import pytest


@pytest.mark.parametrize("kind", ["sparse", "values"])
def test_every_operation_is_done(load_tool, tmp_path, monkeypatch, kind):
  tool = load_tool("bench_answers")
  monkeypatch.setattr(tool, "_MORE", 50)
  found = dict(tool.operations(argparse.Namespace(
      measure=kind, samples=300, models=6, folder=tmp_path)))
  assert {"made", "bytes", "rank", "add a model", "add 50 samples"} <= found.keys()
  assert ("fill 1% of a model" in found) == (kind != "values")
  assert not list(tmp_path.iterdir())


def test_all_forms_of_ids_find_the_same(load_tool, tmp_path):
  lines = list(load_tool("bench_answers").forms_of_ids(3000, tmp_path))
  assert [line.partition(" | ")[0] for line in lines[1:]] == [
      "index of hashes", "SQLite, unique text", "SQLite, indexed hash", "Arrow, memory-mapped"]


def test_half_of_the_answers_of_every_second_model_are_missing(load_tool):
  rows = np.stack(list(load_tool("bench_answers").rows(4000, 4, "sparse")))
  missing = (rows == -1).mean(axis=1)
  assert missing[[0, 2]].tolist() == [0, 0] and missing[[1, 3]].min() > 0.45
