# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What each phase of a learner cost: FLOPs and wall-clock time, as means over seeds."""

from __future__ import annotations

from suite.reporting import charts
from suite.reporting import panel as panel_lib
from suite.reporting import run_streams


def build(stream: run_streams.Stream) -> list[panel_lib.Panel]:
  """Builds the panel; [] if no run has charged anything."""
  flops, seconds = (_phases(stream, cost) for cost in ("flops", "seconds"))
  if not flops and not seconds:
    return []
  columns = [panel_lib.Column("learner"), panel_lib.Column("state"),
             panel_lib.Column("FLOPs", panel_lib.FLOPS),
             *(panel_lib.Column(f"FLOPs, {phase}", panel_lib.FLOPS) for phase in flops),
             *(panel_lib.Column(f"time, {phase}", panel_lib.SECONDS) for phase in seconds)]
  rows = [[learner.label, learner.state, learner.total("flops"),
           *(_total(learner, "flops", phase) for phase in flops),
           *(_total(learner, "seconds", phase) for phase in seconds)]
          for learner in stream.learners]
  chart = charts.Bars(
      [learner.shown_label for learner in stream.learners],
      {phase: [_total(learner, "flops", phase) for learner in stream.learners]
       for phase in flops}, "FLOPs by phase", "FLOP")
  return [panel_lib.Panel(
      "compute", f"{stream.title}: compute by phase", columns, rows,
      ["Of partial runs: what was spent so far.", *stream.notes] if stream.notes else [],
      chart=chart if flops else None)]


def _phases(stream: run_streams.Stream, cost: str) -> list[str]:
  prefix = f"{cost}_"
  names = dict.fromkeys(
      name for run in stream.runs for name in (run.records[-1] if run.records else run.summary)
      if name.startswith(prefix) and name != "seconds_event")
  return [name[len(prefix):] for name in names]


def _total(learner: run_streams.LearnerRuns, cost: str, phase: str) -> float | None:
  """The mean of one phase; 0 for a phase that a learner does not have."""
  runs = learner.finished or learner.runs
  name = f"{cost}_{phase}"
  values = [(run.records[-1] if run.records else run.totals).get(name, 0) for run in runs]
  return None if None in values else sum(values) / len(values)
