# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Scores of a stream's learners: headlines beside costs, the curve along the run, detection.

Headlines are means and deviations over seeds. Curves of unfinished runs are marked.

The panel of detection shows which novelty score detects new classes in a sequence, computed from
the records of the steps. The clock scores a step by its number alone. Half of the new classes come
so early that the clock beats most scores (`suite/metrics/sequence_log.py`): a score is worth
what it has more than the clock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from suite.compute import ledger
from suite.contracts import descriptions
from suite.metrics import schema
from suite.metrics import sequence_log
from suite.metrics import stream_groups
from suite.metrics import task_stream
from suite.reporting import panels
from suite.reporting import quantities
from suite.reporting import run_dir
from suite.reporting import run_streams
from suite.reporting import tables

_MOST_POINTS = 300  # Approximately; the last point is always drawn.
SCORES, CURVES, DETECTION, THRESHOLDS = "scores", "curves", "detection", "thresholds"
_CLOCK = "clock"
_NOVELTY_SCORES = {
    "max_softmax": "max softmax", "max_logit": "max logit (distance, MDT)", "energy": "energy",
    "margin": "margin", "distance_ratio": "distance ratio",
    "class_wise": "max logit, class-wise", "nearest": "k-nearest sample",
    "answer": "answer \"new\""}
_CURVES = (sequence_log.MAX_LOGIT, "max_softmax")
_AUROC, _MATCHED, _F1 = "new_class_auroc", "new_class_auroc_time_matched", "new_class_f1"
_DETECTION_MEASURES = ((_AUROC, "AUROC", True), (_MATCHED, "time-matched AUROC", True),
             ("new_class_aupr", "AUPR", False), ("new_class_fpr95", "FPR95", False),
             (_F1, "best F1", True))
SPENT, HELD = "spent", "held"


def build(stream: run_streams.StreamRuns) -> list[panels.Panel]:
  """Builds the table of all learners, and the Pareto front where FLOPs are known."""
  shown = tables.measures(stream)
  several = any(len(learner.runs) > 1 for learner in stream.learners)
  columns = [panels.Column("learner"), panels.Column("state"),
             panels.Column("seeds", panels.COUNT)]
  for measure in shown:
    kind = panels.PERCENT if measure.unit == descriptions.SHARE else panels.NUMBER
    columns += [panels.Column(measure.text, kind)] + (
        [panels.Column(f"± {measure.text}", kind)] if several else [])
  columns += [panels.Column("FLOPs without answers", panels.FLOPS),
              panels.Column("time", panels.SECONDS)]
  rows = []
  for learner in stream.learners:
    row: list[Any] = [learner.label, learner.state, len(learner.finished)]
    for measure in shown:
      mean, deviation, _ = learner.score(measure.key)
      bounds = learner.bounds(measure.key)
      row += [panels.plain(mean) if bounds is None else quantities.Quantity(
          mean, quantities.PERCENT).estimated(*bounds)]
      row += [panels.plain(deviation)] if several else []
    # Summaries have no times; the last records do.
    runs = learner.finished or learner.runs
    seconds = [run.records[-1][schema.SECONDS] for run in runs
               if run.records and "seconds" in run.records[-1]]
    rows.append([*row, learner.learning_cell(),
                 sum(seconds) / len(seconds) if len(seconds) == len(runs) else None])
  notes = ["Mean over finished seeds; ± is the standard deviation (n - 1)."] if several else []
  notes += [run_streams.ESTIMATE_NOTE] if stream.has_estimates else []
  return [panels.Panel(SCORES, f"{stream.title}: scores", columns, rows,
                          [*notes, *stream.notes]), *_front(stream, shown)]


def _front(stream: run_streams.StreamRuns, shown: Sequence[descriptions.Measure]
           ) -> list[panels.Panel]:
  """The panel of the first measure against FLOPs; streams of tasks have their own (`nevis_panels`).
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
      [learner.label, score.num, score.mean, panels.plain(score.deviation), flops,
       "yes" if i in front else ""] for i, (learner, score, flops) in enumerate(points)]
  unknown = [learner.label for learner, _, flops in points if not flops]
  columns = [panels.Column("learner"), panels.Column("seeds", panels.COUNT),
             panels.Column(heading, panels.PERCENT),
             panels.Column("deviation", panels.PERCENT),
             panels.Column("FLOPs without answers", panels.FLOPS),
             panels.Column("on the front")]
  notes = [f"Not in the figure, FLOPs not counted or 0: {', '.join(unknown)}."] if unknown else []
  return [panels.Panel(
      "pareto", f"{stream.title}: {heading} against cumulative FLOPs", columns, rows, notes,
      chart=plot([(learner.shown_label, flops, score.mean, panels.plain(score.deviation))
                  for learner, score, flops in points], front, heading))]


def plot(points: Sequence[tuple[str, float | None, float, float | None]], front: Sequence[int],
         heading: str) -> panels.Plot:
  """A score against FLOPs: (learner, FLOPs, share, deviation) of each, and those on the front."""
  series = [panels.PlotSeries(name, [flops], [100 * share], (),
                                 [None if deviation is None else 100 * deviation], panels.POINTS)
            for name, flops, share, deviation in points if flops]
  line = panels.PlotSeries("Pareto front", [points[i][1] for i in front],
                       [100 * points[i][2] for i in front], shape=panels.STEP, is_front=True)
  return panels.Plot("Cumulative FLOPs", heading.capitalize(), [line, *series], log_x=True,
                     y_unit="%")


def curves(stream: run_streams.StreamRuns) -> list[panels.Panel]:
  """Builds the panel; [] if no run has two points."""
  curve = stream.description.curve
  drawn = [] if curve is None else [
      line for learner in stream.learners for line in _lines(learner, curve)]
  if curve is None or all(len(line.x) < 2 for line in drawn):
    return _losses(stream)
  rows = [[line.name, len(line.x), str(line.x[-1]), line.y[0], line.y[-1]] for line in drawn]
  name = curve.y_text.lower()
  columns = [panels.Column("learner"), panels.Column("points", panels.COUNT),
             panels.Column(f"last {curve.x_text.lower()}"),
             panels.Column(f"first {name}", panels.PERCENT),
             panels.Column(f"last {name}", panels.PERCENT)]
  shown = [line._replace(y=[None if y is None else 100 * y for y in line.y],
                         deviation=[panels.percent(d) for d in line.deviation])
           for line in drawn]
  return [panels.Panel(
      CURVES, f"{stream.title}: {name} along the stream", columns, rows, stream.notes,
      chart=panels.Plot(curve.x_text, curve.y_text, shown, y_unit="%"))]


def against_budget(stream: run_streams.StreamRuns) -> list[panels.Panel]:
  """The curve of a stream against what was spent and is held; [] of runs without a budget."""
  curve = stream.description.curve
  if curve is None:
    return []
  found: list[panels.Panel] = []
  for name, title, x_text, kind, x_of in (
      (SPENT, "FLOPs of learning so far", "FLOPs of learning", panels.FLOPS, _learned_flops),
      (HELD, "bytes that are held", "Bytes of state, memory and files", panels.BYTES,
       _held_bytes)):
    rows, drawn = [], []
    for learner in stream.learners:
      records = learner.runs[0].records
      points = [(x, y) for record in records if "budget_cut" in record
                and (x := x_of(record)) is not None and (y := curve.value(record)) is not None]
      if points:
        rows.append([learner.label, len(points), *points[-1],
                     "yes" if records[-1]["budget_cut"] else "no"])
        drawn.append(panels.PlotSeries(learner.shown_label, [x for x, _ in points],
                                       [100 * y for _, y in points]))
    columns = [panels.Column("learner"), panels.Column("points", panels.COUNT),
               panels.Column(f"last {title.split(' that')[0]}", kind),
               panels.Column(f"last {curve.y_text.lower()}", panels.PERCENT),
               panels.Column("budget spent before the end")]
    found += [panels.Panel(
        name, f"{stream.title}: {curve.y_text.lower()} against {title}", columns, rows,
        ["Of the first seed of each learner.", *stream.notes],
        chart=panels.Plot(x_text, curve.y_text, drawn, y_unit="%"))] if rows else []
  return found


def _learned_flops(record: Mapping[str, Any]) -> int | None:
  return task_stream.cumulative_cost(record)


def _held_bytes(record: Mapping[str, Any]) -> int | None:
  return sum(record[name] for name in ledger.HELD)


def _losses(stream: run_streams.StreamRuns) -> list[panels.Panel]:
  """The loss of each Train event of a stream without a curve; [] if no run has two."""
  drawn = []
  for learner in stream.learners:
    run = learner.runs[0]
    points = [(record.get(schema.UPDATES, record[schema.EVENT]), record[schema.LOSS])
              for record in run.records if isinstance(record.get(schema.LOSS), float)]
    if len(points) > 1:
      x, y = zip(*points)
      drawn.append(panels.PlotSeries(learner.shown_label, x, y))
  if not drawn:
    return []
  return [panels.Panel(
      "loss", f"{stream.title}: training loss",
      [panels.Column("learner"), panels.Column("points", panels.COUNT),
       panels.Column("first loss", panels.NUMBER), panels.Column("last loss", panels.NUMBER)],
      [[line.name, len(line.x), line.y[0], line.y[-1]] for line in drawn],
      ["Of the first seed of each learner.", *stream.notes],
      chart=panels.Plot("Updates", "Loss", drawn))]


def _lines(learner: run_streams.LearnerRuns, curve: descriptions.RecordCurve
           ) -> list[panels.PlotSeries]:
  """The mean of seeds that were measured at the same places, else a line a seed."""
  points = [(run, curve.points(run.records)) for run in learner.runs]
  points = [(run, found) for run, found in points if found]
  places = {tuple(x for x, _ in found) for _, found in points}
  if len(places) == 1 and len(points) > 1:
    spreads = [stream_groups.spread([found[i][1] for _, found in points])
               for i in range(len(points[0][1]))]
    return [panels.PlotSeries(
        learner.shown_label, list(next(iter(places))), [s.mean for s in spreads],
        [f"{s.num} seeds" for s in spreads], [s.deviation for s in spreads])]
  lines = []
  for i, (run, found) in enumerate(points):
    thin = [found[j] for j in _thin(len(found))] if found else []
    name = learner.label if len(points) == 1 else f"{learner.label}, seed {i + 1}"
    lines.append(panels.PlotSeries(name if run.is_finished else f"{name} (partial)",
                                      [x for x, _ in thin], [y for _, y in thin]))
  return lines


def detection(stream: run_streams.StreamRuns) -> list[panels.Panel]:
  """Builds the table with ROC curves (figure 3b) and the accuracies at all thresholds (figure 5).

  Returns [] unless finished runs of FLUID have new classes. Curves are those of the first seed.
  """
  if descriptions.STEPS not in stream.description.panels:
    return []
  columns = [panels.Column("learner"), panels.Column("score"),
             panels.Column("seeds", panels.COUNT)]
  for _, heading, beside_clock in _DETECTION_MEASURES:
    columns.append(panels.Column(heading, panels.PERCENT))
    if beside_clock:
      columns.append(panels.Column(f"clock's {heading}", panels.PERCENT))
  rows = []
  for learner in stream.learners:
    found = [scores for scores in map(_detection_of, learner.finished) if scores]
    for name, shown in _NOVELTY_SCORES.items():
      having = [scores for scores in found if name in scores]
      if having:
        row: list[Any] = [learner.label, shown, len(having)]
        for measure, _, beside_clock in _DETECTION_MEASURES:
          row.append(_mean_detection(having, name, measure))
          if beside_clock:
            row.append(_mean_detection(having, _CLOCK, measure))
        rows.append(row)
  if not rows:
    return []
  notes = [
      "Positives are the first sights of classes; a mean over finished seeds. The clock scores a "
      "step by its number alone.",
      "Max logit: minus the squared distance to the nearest class where logits are distances, "
      "which minimum distance thresholding (MDT) compares with a threshold. Answer \"new\": the "
      "answers that a threshold gave; best F1 is theirs.",
      "Left out: scores that records do not have; a distance ratio where logits are no distances."]
  logs = {learner.label: log for learner in stream.learners if learner.finished
          if (log := _log_of(learner.finished[0])).unknown.any()}
  return [
      panels.Panel(DETECTION, f"{stream.title}: detection of new classes", columns, rows,
                   [*notes, *stream.notes], chart=_roc(logs)),
      *_thresholds(stream.title, logs)]


def _roc(logs: Mapping[str, sequence_log.SequenceLog]) -> panels.Plot:
  """ROC curves of the largest logit and of the largest probability, a line each."""
  series = []
  for label, log in logs.items():
    for name in _CURVES:
      points = sequence_log.curve(log.scores(name), log.unknown, high_means="known")
      if points.num_old:
        places = _thin(len(points.hits))
        series.append(panels.PlotSeries(
            f"{label}, {_NOVELTY_SCORES[name]}",
            [0.0, *(100 * points.alarms[places] / points.num_old).tolist()],
            [0.0, *(100 * points.hits[places] / points.num_new).tolist()]))
  return panels.Plot("False positives, % of the steps of known classes", "New classes found",
                     series, y_unit="%")


def _thresholds(title: str, logs: Mapping[str, sequence_log.SequenceLog]) -> list[panels.Panel]:
  rows, series = [], []
  for label, log in logs.items():
    for name in _CURVES:
      found = sequence_log.threshold_accuracies(log, name)
      if len(found.thresholds) > 1:
        threshold, accuracy = found.crossing
        rows.append([label, _NOVELTY_SCORES[name], panels.plain(threshold), accuracy])
        if name == sequence_log.MAX_LOGIT:
          places = _thin(len(found.thresholds) - 1)  # The last threshold is infinite.
          x = found.thresholds[places].tolist()
          series += [panels.PlotSeries(f"{label}, {which}", x, (100 * values[places]).tolist())
                     for which, values in (("known classes", found.known), ("new", found.new))]
  if not rows:
    return []
  return [panels.Panel(
      THRESHOLDS, f"{title}: accuracy of known and of new classes by threshold",
      [panels.Column("learner"), panels.Column("score"), panels.Column("threshold", panels.NUMBER),
       panels.Column("accuracy of both", panels.PERCENT)], rows,
      ["A step below the threshold is called new. Known classes: not called new and answered "
       "right; new: first sights called new. The row has the threshold at which the lower of both "
       "is highest. Thresholds are chosen on the same steps. The figure has the largest logit."],
      chart=panels.Plot("Threshold", "Accuracy", series, y_unit="%") if series else None)]


def _thin(num: int) -> list[int]:
  """At most about `_MOST_POINTS` places of num, the last among them."""
  step = max(1, num // _MOST_POINTS)
  return sorted({*range(0, num, step), num - 1})


def _log_of(run: run_dir.Run) -> sequence_log.SequenceLog:
  return sequence_log.from_records(run.records)


def _detection_of(run: run_dir.Run) -> Mapping[str, Mapping[str, float]]:
  """Measures by score, the clock's among them; {} of a run without a new class."""
  steps = schema.of_steps(run.records)
  log = _log_of(run)
  if not log.unknown.any():
    return {}
  return sequence_log.detection(log, sequence_log.MAX_LOGIT, run.summary.get("matched_window"),
                                steps[0]["num_classes"])["detection"]


def _mean_detection(found: Sequence[Mapping[str, Mapping[str, float]]], name: str, measure: str
          ) -> float | None:
  return panels.plain(stream_groups.spread([scores[name][measure] for scores in found]).mean)
