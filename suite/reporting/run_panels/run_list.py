# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Every run with its state, its machine and where its records are."""

from __future__ import annotations

from suite.reporting import panel as panel_lib
from suite.reporting import run_streams
from suite.reporting import runs as runs_lib


def build(stream: run_streams.Stream) -> list[panel_lib.Panel]:
  """Builds the panel, with a row for each run."""
  rows = []
  for learner in stream.learners:
    for run in learner.runs:
      about = run.environment
      rows.append([
          learner.label, _text(about.get("seed")), "finished" if run.is_finished else "partial",
          len(run.records), run.last("flops"), run.records[-1].get("seconds") if run.records
          else None, _text(about.get("device")), _text(about.get("git_revision")),
          _text(about.get("command")), str(run.folder / runs_lib.RECORDS)])
  return [panel_lib.Panel(
      "runs", f"{stream.title}: runs",
      [panel_lib.Column("learner"), panel_lib.Column("seed"), panel_lib.Column("state"),
       panel_lib.Column("events", panel_lib.COUNT), panel_lib.Column("FLOPs", panel_lib.FLOPS),
       panel_lib.Column("time", panel_lib.SECONDS), panel_lib.Column("device"),
       panel_lib.Column("revision"), panel_lib.Column("command"),
       panel_lib.Column("records", panel_lib.LINK)], rows)]


def _text(value: object) -> str:
  return "unknown" if value in (None, "") else str(value)
