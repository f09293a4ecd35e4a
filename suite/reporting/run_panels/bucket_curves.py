# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""CLEAR's matrix as curves: accuracy by distance in time, plasticity, stability, anytime accuracy.

Values are of finished runs: each seed's by `metrics.bucket_views`, then mean and deviation (n - 1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import functools
from typing import NamedTuple

import numpy as np

from suite.metrics import bucket_views
from suite.metrics import stream_groups
from suite.reporting import charts
from suite.reporting import figures
from suite.reporting import panel as panel_lib
from suite.reporting import paper_values
from suite.reporting import run_streams


class Published(NamedTuple):
  """A published matrix.

  Attributes:
    file: of `paper_values`.
    title, short: the matrix in words, and in short.
    task, mode, learner: parts of the stream's title and of the learner's label to compare.
  """

  file: str
  title: str
  short: str
  task: str
  mode: str
  learner: str = ""


PUBLISHED = (
    Published("clear_challenge_clear10", "challenge, AIPrime", "published", "clear10/",
              "challenge"),
    Published("clear_challenge_clear100", "challenge, AIPrime", "published", "clear100/",
              "challenge"),
    Published("clear_figure6", "paper, figure 6", "paper", "clear10/", "iid", "biased"))


class Curve(NamedTuple):
  """The means and deviations over seeds, [n], of a learner."""

  learner: run_streams.LearnerRuns
  mean: np.ndarray
  deviation: np.ndarray


def matrices(learner: run_streams.LearnerRuns) -> list[np.ndarray]:
  """The matrix [T, T] of each finished seed; those of another shape than the first are left out."""
  found = [np.array(run.summary["matrix"], dtype=float) for run in learner.finished
           if run.summary.get("matrix")]
  return [matrix for matrix in found if matrix.shape == found[0].shape]


def curves(stream: run_streams.Stream, function: Callable[[np.ndarray], np.ndarray]
           ) -> list[Curve]:
  """A function of the matrix, [T, T] to [n], of each learner that has a value of it."""
  made = []
  for learner in stream.learners:
    values = np.array([function(matrix) for matrix in matrices(learner)])
    if values.size and not np.isnan(values).all():
      spreads = [stream_groups.spread(column) for column in values.T]
      made.append(Curve(learner, np.array([s.mean for s in spreads]),
                        np.array([s.deviation for s in spreads])))
  return made


def by_distance(stream: run_streams.Stream) -> list[panel_lib.Panel]:
  """Builds the panel of the accuracy by distance between trained and tested bucket."""
  found = curves(stream, bucket_views.by_distance)
  size = max((len(curve.mean) for curve in found), default=0) // 2
  known = [d for d in range(-size, size + 1)
           if any(_at(curve.mean, d) is not None for curve in found)]
  rows = [[curve.learner.label, *(_at(curve.mean, d) for d in known)] for curve in found]
  columns = [panel_lib.Column("learner"),
             *(panel_lib.Column(f"{d:+d}" if d else "0", panel_lib.PERCENT) for d in known)]
  series = [charts.Series(curve.learner.shown_label, known,
                          [_percent(_at(curve.mean, d)) for d in known], (),
                          [_percent(_at(curve.deviation, d)) for d in known]) for curve in found]
  return _panel(stream, "distance", "accuracy by distance in time", columns, rows, charts.Plot(
      "Buckets from the last trained one to the tested one", "Accuracy", series, y_unit="%"),
      ["0 is in-domain, +1 next-domain; negative distances are earlier buckets."])


def anytime(stream: run_streams.Stream) -> list[panel_lib.Panel]:
  """Builds the panel of the accuracy on the buckets so far, after each bucket."""
  found = curves(stream, lambda acc: bucket_views.anytime(acc)[0])
  means = curves(stream, lambda acc: bucket_views.anytime(acc)[1][-1:])
  average = {curve.learner.label: panel_lib.plain(curve.mean[0]) for curve in means}
  size = max((len(curve.mean) for curve in found), default=0)
  rows = [[curve.learner.label, *panel_lib.plain_list(curve.mean),
           *[None] * (size - len(curve.mean)), average.get(curve.learner.label)]
          for curve in found]
  columns = [panel_lib.Column("learner"),
             *(panel_lib.Column(f"after {i + 1}", panel_lib.PERCENT) for i in range(size)),
             panel_lib.Column("average anytime", panel_lib.PERCENT)]
  return _panel(stream, "anytime", "accuracy on the buckets so far", columns, rows, charts.Plot(
      "Trained up to bucket", "Accuracy on the buckets so far", _series(found), y_unit="%"))


def plasticity(stream: run_streams.Stream) -> list[panel_lib.Panel]:
  """Builds the panel of what each bucket's training adds on it, and changes on earlier ones."""
  gains = curves(stream, bucket_views.plasticity)
  changes = {curve.learner.label: curve for curve in curves(stream, bucket_views.stability)}
  rows, series = [], []
  for gain in gains:
    if (change := changes.get(gain.learner.label)) is None:
      continue
    rows += [[gain.learner.label, i + 1, panel_lib.plain(gain.mean[i]),
              panel_lib.plain(change.mean[i])] for i in range(1, len(gain.mean))]
    both = np.mean(gain.mean[1:]), np.mean(change.mean[1:])
    series.append(charts.Series(gain.learner.shown_label, [_percent(both[1])],
                                [_percent(both[0])], shape=charts.POINTS))
  columns = [panel_lib.Column("learner"), panel_lib.Column("trained on", panel_lib.COUNT),
             panel_lib.Column("plasticity", panel_lib.PERCENT),
             panel_lib.Column("stability", panel_lib.PERCENT)]
  return _panel(
      stream, "plasticity", "plasticity and stability", columns, rows, charts.Plot(
          "Stability, mean change on earlier buckets, %", "Plasticity, mean gain on the new bucket",
          series, y_unit="%"),
      ["Plasticity: accuracy on the bucket after training on it, minus before.",
       "Stability: mean of the same difference over all earlier buckets; below 0 is forgetting."])


def published(stream: run_streams.Stream) -> list[panel_lib.Panel]:
  """Builds the panel of matrices beside a published one: figure 6 of Lin et al. (2021), challenge.
  """
  for one in PUBLISHED:
    if one.task in stream.title and one.mode in stream.title:
      return _beside(stream, one)
  return []


def _beside(stream: run_streams.Stream, one: Published) -> list[panel_lib.Panel]:
  notes, lines = paper_values.matrix(one.file)
  paper = np.array(lines, dtype=float) / 100
  shown = {}
  for learner in stream.learners:
    found = matrices(learner)
    if one.learner in learner.label and found and found[0].shape == paper.shape:
      mean = stream_groups.seed_mean(np.stack(found))
      shown.update({learner.label: mean, f"{learner.label}, minus the {one.short}": mean - paper})
  if not shown:
    return []
  shown[one.title] = paper
  names = [str(i + 1) for i in range(len(paper))]
  columns = [panel_lib.Column("matrix"), panel_lib.Column("trained up to", panel_lib.COUNT),
             *(panel_lib.Column(f"bucket {name}", panel_lib.PERCENT) for name in names)]
  rows = [[label, i + 1, *panel_lib.plain_list(row)]
          for label, acc in shown.items() for i, row in enumerate(acc)]
  return [panel_lib.Panel(
      "paper_matrix", f"{stream.title}: accuracy by bucket, beside the {one.title}", columns, rows,
      notes, chart=charts.Matrices(
          {label: panel_lib.plain_list(100 * acc) for label, acc in shown.items()},
          dict.fromkeys(shown, names), dict.fromkeys(shown, names), "Tested on bucket",
          "Trained up to bucket", "Accuracy, %"))]


def _panel(stream: run_streams.Stream, name: str, title: str,
           columns: Sequence[panel_lib.Column], rows: Sequence[Sequence[object]],
           plot: charts.Plot, notes: Sequence[str] = ()) -> list[panel_lib.Panel]:
  """The panel with the same plot in both kinds of figures; [] without rows."""
  if not rows:
    return []
  full = f"{stream.title}: {title}"
  return [panel_lib.Panel(name, full, columns, rows, [*notes, *stream.notes], chart=plot,
                          figure=functools.partial(figures.plotted, plot, title=full))]


def _series(found: Sequence[Curve]) -> list[charts.Series]:
  return [charts.Series(curve.learner.shown_label, list(range(1, len(curve.mean) + 1)),
                        [_percent(v) for v in curve.mean], (),
                        [_percent(v) for v in curve.deviation]) for curve in found]


def _at(values: np.ndarray, distance: int) -> float | None:
  """The value at a distance, which may be beyond a shorter series."""
  place = len(values) // 2 + distance
  return panel_lib.plain(values[place]) if 0 <= place < len(values) else None


def _percent(value: float | None) -> float | None:
  known = panel_lib.plain(value)
  return None if known is None else 100 * known
