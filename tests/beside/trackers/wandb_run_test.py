# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Weights & Biases: what is sent, once; failures end it; the real one, if installed."""

from __future__ import annotations

import sys
import types

import pytest

from suite.beside.trackers import wandb_run
from suite.configs import gin_files

RECORDS = [{"event": 0, "kind": "train", "flops": 5, "is_new": True, "a": {"b": 0.5}},
           {"event": 1, "kind": "predict", "accuracy": 0.25}]
SUMMARY = {"protocol": "clear", "accuracy": 0.75, "matrix": [[1.0]], "run": "er"}


class _Run:
  """Stands for a run of wandb, and notes what it is sent."""

  def __init__(self, step):
    self.step, self.sent = step, []
    self.summary = types.SimpleNamespace(update=lambda values: self.sent.append(
        ("summary", dict(values))))

  def log(self, values, step):
    self.sent.append((step, dict(values)))

  def finish(self):
    self.sent.append("closed")


def view(monkeypatch, tmp_path, step=0):
  """A view, and the run of wandb behind it, which has `step` events."""
  run = _Run(step)
  monkeypatch.setitem(sys.modules, "wandb", types.SimpleNamespace(init=lambda **settings: run))
  return wandb_run.WandbRun(tmp_path, "er", {"config": "A = 1", "seed": 0}), run


def test_numbers_of_records_and_of_the_summary_are_sent(monkeypatch, tmp_path):
  shown, run = view(monkeypatch, tmp_path)
  for record in RECORDS:
    shown.write(record)
  shown.finish(SUMMARY)
  shown.close()
  assert run.sent == [(0, {"event": 0, "flops": 5, "a.b": 0.5}),
                      (1, {"event": 1, "accuracy": 0.25}), ("summary", {"accuracy": 0.75}),
                      "closed"]


def test_a_resumed_run_sends_what_is_missing(monkeypatch, tmp_path):
  shown, run = view(monkeypatch, tmp_path, step=1)
  shown.rebuild(RECORDS)
  assert [event for event, _ in run.sent] == [1]


def test_a_tracker_that_fails_is_given_up(monkeypatch, tmp_path, caplog):
  shown, run = view(monkeypatch, tmp_path)
  run.log = lambda values, step: 1 / 0
  shown.rebuild(RECORDS)
  shown.finish(SUMMARY)
  shown.close()
  assert not run.sent and "wandb: division by zero" in caplog.text


def test_a_missing_package_is_named(monkeypatch):
  monkeypatch.setitem(sys.modules, "wandb", None)
  with pytest.raises(gin_files.ConfigError, match="needs the package wandb.*pip install wandb"):
    wandb_run.WandbRun.check()


def test_wandb_writes_offline(monkeypatch, tmp_path):
  pytest.importorskip("wandb", reason="needs wandb")
  monkeypatch.setenv("WANDB_MODE", "offline")
  shown = wandb_run.WandbRun(tmp_path, "er", {"config": "A = 1", "seed": 0})
  shown.rebuild(RECORDS)
  shown.finish(SUMMARY)
  shown.close()
  assert list(tmp_path.glob("tracker/wandb/offline-run-*/*.wandb"))
