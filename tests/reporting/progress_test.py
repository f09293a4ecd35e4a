# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Progress in a log and on a terminal."""

from __future__ import annotations

import io
import sys

from absl import logging

from suite.reporting import progress

RECORD = {"event": 4, "kind": "train", "task_key": "digits", "accuracy": 0.5, "seconds_event": 90.0}


def test_a_log_says_where_the_run_is_and_the_time_left(monkeypatch):
  now, lines = [100.0], []
  monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
  monkeypatch.setattr(logging, "level_info", lambda: True)
  monkeypatch.setattr(logging, "info", lambda text, *values: lines.append(text % values))
  shown = progress.Progress("er", 2, 5)
  shown.begins(4, 12, "event", "train on bucket_05")  # Resumed after four events.
  now[0] += 3
  shown.point({"key": "", "step": 5, "steps": 10, "loss": 0.25})  # Too soon.
  now[0] += 27
  shown.point({"key": "trial0", "step": 1500, "steps": 2000, "loss": 1.0})
  shown.event(RECORD)
  shown.begins(5, 12, "event", "predict bucket_05")  # Too soon.
  now[0] += 10
  shown.begins(6, 12, "event", "train on bucket_06")
  assert lines == [
      "er (learner 2 of 5): event 5 of 12, train on bucket_05",
      "er (learner 2 of 5): event 5 of 12, train on bucket_05: trial0 step 1,500 of 2,000 loss 1",
      "er (learner 2 of 5): event 5 of 12, train on bucket_05: accuracy 0.5, "
      "1 min 30 s; about 3 min 30 s left",
      "er (learner 2 of 5): event 7 of 12, train on bucket_06; about 2 min 00 s left"]


def test_a_script_has_the_lines_on_stderr(monkeypatch, capsys):
  monkeypatch.setattr(logging, "level_info", lambda: False)
  shown = progress.Progress("er")
  shown.event(RECORD)  # A protocol that does not say where it is.
  shown.begins(5, 12, "event", "train on bucket_06")
  shown.event(RECORD)
  assert capsys.readouterr() == ("", (
      "er: event 5, train digits: accuracy 0.5, 1 min 30 s\n"
      "er: event 6 of 12, train on bucket_06\n"
      "er: event 6 of 12, train on bucket_06: accuracy 0.5, 1 min 30 s\n"))


def test_a_terminal_has_a_bar(monkeypatch, capsys):
  monkeypatch.setattr(logging, "level_info", lambda: False)
  stream = io.StringIO()
  bar = progress.Bar("er", 2, 5, stream=stream)
  bar.begins(4, 12, "event", "train on bucket_05")
  bar.point({"key": "trial0", "step": 5, "steps": 10, "loss": 0.25})
  bar.event(RECORD)
  bar.begins(5, 12, "event", "predict bucket_05")
  assert (bar._bar.n, bar._bar.initial, bar._bar.total) == (5, 4, 12)
  assert "er (learner 2 of 5): event 5 of 12, train on bucket_05: accuracy 0.5" in (
      capsys.readouterr().err)
  bar.close()
  text = stream.getvalue()
  assert "er (learner 2 of 5):  33%" in text and "4/12" in text and "predict bucket_05" in text


def test_a_pipe_has_lines_and_a_single_learner_no_number(monkeypatch):
  monkeypatch.setattr(sys, "stderr", io.StringIO())
  found = progress.of_process("er")
  assert type(found) is progress.Progress and found._name == "er"
