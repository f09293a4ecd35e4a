# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The bench of the cache's commands runs all of them; its times are nobody's to test."""

from __future__ import annotations

import numpy as np

from suite import cli


def test_every_command_is_run_on_a_cache_that_grows(load_tool, tmp_path, monkeypatch):
  tool, ran = load_tool("bench_lifelong_commands"), []

  def run(command):  # In this process: a new one imports the suite for seconds.
    ran.append(command[0])
    assert cli.main(["lifelong", *command]) == 0
    return 0.5, 0.25, 10.0, 100.0

  monkeypatch.setattr(tool, "run", run)
  lines = list(tool.bench(tmp_path, 2000, 10, True))
  assert set(ran) == {"status", "rank", "add", "add-models", "add-samples", "estimate", "retire",
                      "verify"}
  assert "add one model | 0.50 | 0.25 | 10" in lines
  assert any(line.startswith("estimate from 1024 answers") for line in lines)
  said = tool.growth(tmp_path / "cache", 2)
  assert said.startswith("2 models added one by one to 2,002 samples") and "256 of 256" in said


def test_models_of_the_bench_differ_in_ability(load_tool):
  found = np.stack(list(load_tool("bench_lifelong_commands").rows(5000, 8)))
  assert found.shape == (8, 5000) and np.ptp(found.mean(axis=1)) > 0.05
  assert np.corrcoef(found[:4].sum(axis=0), found[4:].sum(axis=0))[0, 1] > 0.2
