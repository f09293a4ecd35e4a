# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""How each learner goes on along the stream, event by event; runs still going on are marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from suite.contracts import descriptions
from suite.metrics import stream_groups
from suite.reporting import charts
from suite.reporting import panel as panel_lib
from suite.reporting import run_streams

_MOST_POINTS = 300


def build(stream: run_streams.Stream) -> list[panel_lib.Panel]:
  """Builds the panel; [] if no run has two points."""
  curve = stream.description.curve
  if curve is None:
    return []
  drawn = [line for learner in stream.learners for line in _lines(learner, curve)]
  if all(len(line.x) < 2 for line in drawn):
    return []
  rows = [[line.name, len(line.x), str(line.x[-1]), line.y[0], line.y[-1]] for line in drawn]
  name = curve.y_text.lower()
  columns = [panel_lib.Column("learner"), panel_lib.Column("points", panel_lib.COUNT),
             panel_lib.Column(f"last {curve.x_text.lower()}"),
             panel_lib.Column(f"first {name}", panel_lib.PERCENT),
             panel_lib.Column(f"last {name}", panel_lib.PERCENT)]
  shown = [_percent(line) for line in drawn]
  return [panel_lib.Panel(
      "curves", f"{stream.title}: {name} along the stream", columns, rows, stream.notes,
      chart=charts.Plot(curve.x_text, curve.y_text, shown, y_unit="%"))]


def _lines(learner: run_streams.LearnerRuns, curve: descriptions.RecordCurve
           ) -> list[charts.Series]:
  """The mean of seeds that were measured at the same places, else a line a seed."""
  points = [(run, curve.points(run.records)) for run in learner.runs]
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
