# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""How each learner goes on along the stream, event by event; runs still going on are marked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from suite.metrics import stream_groups
from suite.reporting import charts
from suite.reporting import panel as panel_lib
from suite.reporting import run_streams
from suite.reporting import runs as runs_lib

_MOST_POINTS = 300


class Curve(NamedTuple):
  """What is drawn of a protocol: labels, and the points (x, share) of one run."""

  x_label: str
  y_label: str
  points: Callable[[runs_lib.Run], list[tuple[Any, float]]]


def _clear(run: runs_lib.Run) -> list[tuple[Any, float]]:
  return [(r["bucket"] + 1, r["accuracy"]) for r in run.records
          if r.get("kind") == "predict" and r.get("bucket") == r.get("trained_bucket")
          and r.get("accuracy") is not None]


def _fluid(run: runs_lib.Run) -> list[tuple[Any, float]]:
  return [(r["seen_so_far"], r["correct_so_far"] / r["seen_so_far"]) for r in run.records
          if r.get("seen_so_far")]


def _cfsl(run: runs_lib.Run) -> list[tuple[Any, float]]:
  return [(r["updates"], r["validation_accuracy"]) for r in run.records
          if r.get("validation_accuracy") is not None and "updates" in r]


def _lifelong(run: runs_lib.Run) -> list[tuple[Any, float]]:
  return [(r["event"] + 1, r["per_sample_error"]) for r in run.records
          if r.get("per_sample_error") is not None]


def _nevis(run: runs_lib.Run) -> list[tuple[Any, float]]:
  return [(r["task_key"], r["error"]) for r in run.records
          if r.get("kind") == "predict" and r.get("error") is not None]


CURVES = {
    "nevis": Curve("Task", "Error", _nevis),
    "clear": Curve("Bucket", "Accuracy on the bucket just trained on", _clear),
    "fluid": Curve("Samples", "Accuracy so far", _fluid),
    "cfsl": Curve("Updates", "Validation accuracy", _cfsl),
    "lifelong": Curve("Held-out model", "Per-sample error", _lifelong),
}


def build(stream: run_streams.Stream) -> list[panel_lib.Panel]:
  """Builds the panel; [] if no run has two points."""
  curve = CURVES.get(stream.protocol)
  if curve is None:
    return []
  drawn = [line for learner in stream.learners for line in _lines(learner, curve)]
  if all(len(line.x) < 2 for line in drawn):
    return []
  rows = [[line.name, len(line.x), str(line.x[-1]), line.y[0], line.y[-1]] for line in drawn]
  name = curve.y_label.lower()
  columns = [panel_lib.Column("learner"), panel_lib.Column("points", panel_lib.COUNT),
             panel_lib.Column(f"last {curve.x_label.lower()}"),
             panel_lib.Column(f"first {name}", panel_lib.PERCENT),
             panel_lib.Column(f"last {name}", panel_lib.PERCENT)]
  shown = [_percent(line) for line in drawn]
  return [panel_lib.Panel(
      "curves", f"{stream.title}: {name} along the stream", columns, rows, stream.notes,
      chart=charts.Plot(curve.x_label, curve.y_label, shown, y_unit="%"))]


def _lines(learner: run_streams.LearnerRuns, curve: Curve) -> list[charts.Series]:
  """The mean of seeds that were measured at the same places, else a line a seed."""
  points = [(run, curve.points(run)) for run in learner.runs]
  points = [(run, found) for run, found in points if found]
  places = {tuple(x for x, _ in found) for _, found in points}
  if len(places) == 1 and len(points) > 1:
    spreads = [stream_groups.spread([found[i][1] for _, found in points])
               for i in range(len(points[0][1]))]
    return [charts.Series(learner.shown_label, list(next(iter(places))), [s.mean for s in spreads],
                          [f"{s.num} seeds" for s in spreads], [s.deviation for s in spreads])]
  lines = []
  for i, (run, found) in enumerate(points):
    thin = _thin(found)
    name = learner.label if len(points) == 1 else f"{learner.label}, seed {i + 1}"
    lines.append(charts.Series(name if run.is_finished else f"{name} (partial)",
                               [x for x, _ in thin], [y for _, y in thin]))
  return lines


def _thin(found: Sequence[tuple[Any, float]]) -> list[tuple[Any, float]]:
  """At most about 300 of the points, with the last."""
  step = max(1, len(found) // _MOST_POINTS)
  return [point for i, point in enumerate(found) if i % step == 0 or i == len(found) - 1]


def _percent(line: charts.Series) -> charts.Series:
  return line._replace(y=[None if y is None else 100 * y for y in line.y],
                       deviation=[None if d is None or d != d else 100 * d
                                  for d in line.deviation])
