# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Trackers: what they are sent, once; a failing one is given up. The real ones, where installed."""

from __future__ import annotations

import pytest

from suite.beside.trackers import trackers

RECORDS = [{"event": 0, "kind": "train", "flops": 5, "is_new": True, "a": {"b": 0.5}},
           {"event": 1, "kind": "predict", "accuracy": 0.25}]
SUMMARY = {"protocol": "clear", "accuracy": 0.75, "matrix": [[1.0]], "run": "er"}


class _Backend:
  """Notes what it is sent."""

  def __init__(self, last=-1):
    self.last, self.sent = last, []

  def log(self, values, event):
    self.sent.append((event, dict(values)))

  def finish(self, values):
    self.sent.append(("summary", dict(values)))

  def close(self):
    self.sent.append("closed")


def view(backend, monkeypatch, tmp_path):
  monkeypatch.setitem(trackers._BACKENDS, "wandb", lambda workdir, name, facts: backend)
  return trackers.TrackerView("wandb", tmp_path, "er", {"config": "A = 1", "seed": 0})


def test_numbers_of_records_and_of_the_summary_are_sent(monkeypatch, tmp_path):
  backend = _Backend()
  shown = view(backend, monkeypatch, tmp_path)
  for record in RECORDS:
    shown.write(record)
  shown.finish(SUMMARY)
  shown.close()
  assert backend.sent == [(0, {"event": 0, "flops": 5, "a.b": 0.5}),
                          (1, {"event": 1, "accuracy": 0.25}),
                          ("summary", {"accuracy": 0.75}), "closed"]


def test_a_resumed_run_sends_what_is_missing(monkeypatch, tmp_path):
  backend = _Backend(last=0)
  view(backend, monkeypatch, tmp_path).rebuild(RECORDS)
  assert [event for event, _ in backend.sent] == [1]


def test_a_tracker_that_fails_is_given_up(monkeypatch, tmp_path, caplog):
  backend = _Backend()
  backend.log = lambda values, event: 1 / 0
  shown = view(backend, monkeypatch, tmp_path)
  shown.rebuild(RECORDS)
  shown.finish(SUMMARY)
  shown.close()
  assert not backend.sent and "wandb: division by zero" in caplog.text


def test_a_missing_package_is_named(monkeypatch):
  monkeypatch.setattr(trackers.importlib.util, "find_spec", lambda name: None)
  assert trackers.missing("") == ""
  assert "needs the package mlflow, which is not installed: pip" in trackers.missing("mlflow")


def test_mlflow_keeps_a_run_in_the_work_directory_and_continues_it(monkeypatch, tmp_path):
  mlflow = pytest.importorskip("mlflow", reason="needs mlflow")
  monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
  for part in (RECORDS[:1], RECORDS):
    shown = trackers.TrackerView("mlflow", tmp_path, "er", {"config": "A = 1", "seed": 0})
    shown.rebuild(part)
  shown.finish(SUMMARY)
  client = mlflow.MlflowClient(tracking_uri=f"sqlite:///{tmp_path / 'tracker' / 'mlflow.db'}")
  run, = client.search_runs([client.get_experiment_by_name(trackers.PROJECT).experiment_id])
  assert run.data.metrics["summary/accuracy"] == 0.75 and run.data.params["seed"] == "0"
  assert len(client.get_metric_history(run.info.run_id, "flops")) == 1


def test_wandb_writes_offline(monkeypatch, tmp_path):
  pytest.importorskip("wandb", reason="needs wandb")
  monkeypatch.setenv("WANDB_MODE", "offline")
  shown = trackers.TrackerView("wandb", tmp_path, "er", {"config": "A = 1", "seed": 0})
  shown.rebuild(RECORDS)
  shown.finish(SUMMARY)
  shown.close()
  assert list(tmp_path.glob("tracker/wandb/offline-run-*/*.wandb"))
