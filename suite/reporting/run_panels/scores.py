# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Headline scores of each learner: mean and deviation over seeds, beside what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from suite.contracts import descriptions
from suite.metrics import task_stream
from suite.reporting import charts
from suite.reporting import panel as panel_lib
from suite.reporting import run_streams
from suite.reporting import runs as runs_lib
from suite.reporting import tables

_COSTS = ("flops", "macs", "examples", "steps", "seconds", "peak")


def measures(stream: run_streams.Stream) -> list[descriptions.Measure]:
  """The measures that the stream's summaries have a value of; a user's metrics come last."""
  summaries = [run.summary for run in stream.runs]
  known = list(stream.description.measures)
  if not known:
    names = dict.fromkeys(
        name for summary in summaries for name, value in tables.flatten(summary).items()
        if isinstance(value, float) and name.split("_")[0] not in _COSTS)
    known = [descriptions.Measure(name, name, unit=descriptions.NUMBER) for name in names]
  own = {f"{runs_lib.OWN_METRICS}.{name}": name for summary in summaries
         for name in summary.get(runs_lib.OWN_METRICS) or {}}
  known = [measure for measure in known if measure.key not in own]
  known += [descriptions.Measure(key, name, unit=descriptions.NUMBER) for key, name in own.items()]
  return [measure for measure in known
          if any(learner.score(measure.key).num for learner in stream.learners)]


def build(stream: run_streams.Stream) -> list[panel_lib.Panel]:
  """Builds the table of all learners, and the Pareto front where FLOPs are known."""
  shown = measures(stream)
  several = any(len(learner.runs) > 1 for learner in stream.learners)
  columns = [panel_lib.Column("learner"), panel_lib.Column("state"),
             panel_lib.Column("seeds", panel_lib.COUNT)]
  for measure in shown:
    kind = panel_lib.PERCENT if measure.unit == descriptions.SHARE else panel_lib.NUMBER
    columns += [panel_lib.Column(measure.text, kind)] + (
        [panel_lib.Column(f"± {measure.text}", kind)] if several else [])
  columns += [panel_lib.Column("FLOPs without answers", panel_lib.FLOPS),
              panel_lib.Column("time", panel_lib.SECONDS)]
  rows = [[learner.label, learner.state, len(learner.finished),
           *(cell for measure in shown for cell in _cells(learner, measure.key, several)),
           learner.learning_flops(), _seconds(learner)] for learner in stream.learners]
  notes = ["Mean over finished seeds; ± is the standard deviation (n - 1)."] if several else []
  return [panel_lib.Panel("scores", f"{stream.title}: scores", columns, rows,
                          [*notes, *stream.notes]), *_front(stream, shown)]


def _cells(learner: run_streams.LearnerRuns, name: str, several: bool) -> list[float | None]:
  found = learner.score(name)
  mean, deviation = panel_lib.plain(found.mean), panel_lib.plain(found.deviation)
  return [mean, deviation] if several else [mean]


def _seconds(learner: run_streams.LearnerRuns) -> float | None:
  """The mean time over seeds, in seconds; summaries have none, so it is that of the last records.
  """
  runs = learner.finished or learner.runs
  values = [run.records[-1]["seconds"] for run in runs if run.records and "seconds" in
            run.records[-1]]
  return sum(values) / len(values) if len(values) == len(runs) else None


def _front(stream: run_streams.Stream, shown: Sequence[descriptions.Measure]
           ) -> list[panel_lib.Panel]:
  """The panel of the first measure against FLOPs; streams of tasks have another
  (`nevis_panels/pareto.py`).
  """
  description = stream.description
  if not description.measures or descriptions.TASKS in description.panels or not shown:
    return []
  measure, heading = shown[0], shown[0].text
  points = [(learner, learner.score(measure.key), learner.learning_flops())
            for learner in stream.learners]
  points = [point for point in points if point[1].num]
  sign = 1 if measure.better == descriptions.LOWER else -1
  front = task_stream.pareto_front([(flops or None, sign * score.mean)
                                    for _, score, flops in points]).indices
  if not front:
    return []
  rows: list[list[Any]] = [
      [learner.label, score.num, score.mean, panel_lib.plain(score.deviation), flops,
       "yes" if i in front else ""] for i, (learner, score, flops) in enumerate(points)]
  unknown = [learner.label for learner, _, flops in points if not flops]
  columns = [panel_lib.Column("learner"), panel_lib.Column("seeds", panel_lib.COUNT),
             panel_lib.Column(heading, panel_lib.PERCENT),
             panel_lib.Column("deviation", panel_lib.PERCENT),
             panel_lib.Column("FLOPs without answers", panel_lib.FLOPS),
             panel_lib.Column("on the front")]
  notes = [f"Not in the figure, FLOPs unknown or 0: {', '.join(unknown)}."] if unknown else []
  return [panel_lib.Panel(
      "pareto", f"{stream.title}: {heading} against cumulative FLOPs", columns, rows, notes,
      chart=plot([(learner.shown_label, flops, score.mean, panel_lib.plain(score.deviation))
                  for learner, score, flops in points], front, heading))]


def plot(points: Sequence[tuple[str, float | None, float, float | None]], front: Sequence[int],
         heading: str) -> charts.Plot:
  """A score against FLOPs: (learner, FLOPs, share, deviation) of each, and those on the front."""
  series = [charts.Series(name, [flops], [100 * share], (),
                          [None if deviation is None else 100 * deviation], charts.POINTS)
            for name, flops, share, deviation in points if flops]
  line = charts.Series("Pareto front", [points[i][1] for i in front],
                       [100 * points[i][2] for i in front], shape=charts.STEP, is_front=True)
  return charts.Plot("Cumulative FLOPs", heading.capitalize(), [line, *series], log_x=True,
                     y_unit="%")
