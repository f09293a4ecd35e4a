# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Panels of buckets: the accuracy matrix and its curves, drift and confusions of classes.

Values are of finished runs: each seed's by `metrics.matrix`, then mean and deviation (n - 1).
Panels of classes read the saved predictions, and are means over the seeds that have them. A class
is shown by its name if the run's summary has names, else by its number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from suite.contracts import descriptions
from suite.metrics import matrix as matrix_lib
from suite.metrics import schema
from suite.metrics import stream_groups
from suite.reporting import panels
from suite.reporting import paper_values
from suite.reporting import quantities
from suite.reporting import run_dir
from suite.reporting import run_streams
from suite.state import predictions

# Name to ask for: what it shows.
NAMES = {
    "distance": "accuracy by distance in time",
    "plasticity": "gain on the new bucket, change on earlier ones",
    "anytime": "accuracy on the buckets so far",
    "classes": "accuracy of each class by distance in time",
    "confusion": "confusions of classes, bucket by bucket",
    "paper_matrix": "the matrix beside a published one: the biased reservoir's, the challenge's",
}
MOST_CLASSES, MOST_PAIRS = 20, 10  # In matrices, and in the table of confusions.


def build(stream: run_streams.StreamRuns, names: Sequence[str] = tuple(NAMES)
          ) -> list[panels.Panel]:
  """Builds the panels of a stream with these names; those without data are left out."""
  if descriptions.BUCKETS not in stream.description.panels:
    return []
  needs = {"classes", "confusion"} & set(names)
  results = class_results(stream) if needs else []
  makers = {
      "distance": lambda: by_distance(stream),
      "plasticity": lambda: plasticity(stream),
      "anytime": lambda: anytime(stream),
      "classes": lambda: class_drift(stream, results),
      "confusion": lambda: class_confusion(stream, results),
      "paper_matrix": lambda: published(stream)}
  return [panel for name, make in makers.items() if name in names for panel in make()]


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


class BucketCurve(NamedTuple):
  """The means and deviations over seeds, [n], of a learner."""

  learner: run_streams.LearnerRuns
  mean: np.ndarray
  deviation: np.ndarray


def matrices(learner: run_streams.LearnerRuns) -> list[np.ndarray]:
  """The matrix [T, T] of each finished seed; other shapes than the first's are left out."""
  found = [np.array(run.summary["matrix"], dtype=float) for run in learner.finished
           if run.summary.get("matrix")]
  return [matrix for matrix in found if matrix.shape == found[0].shape]


def curves(stream: run_streams.StreamRuns, function: Callable[[np.ndarray], np.ndarray]
           ) -> list[BucketCurve]:
  """A function of the matrix, [T, T] to [n], of each learner that has a value of it."""
  made = []
  for learner in stream.learners:
    values = np.array([function(matrix) for matrix in matrices(learner)])
    if values.size and not np.isnan(values).all():
      spreads = [stream_groups.spread(column) for column in values.T]
      made.append(BucketCurve(learner, np.array([s.mean for s in spreads]),
                        np.array([s.deviation for s in spreads])))
  return made


def _parts(stream: run_streams.StreamRuns) -> str:
  """The protocol's word for its buckets."""
  return f"{stream.description.part}s"


def _between(stream: run_streams.StreamRuns) -> str:
  return f"{_parts(stream).capitalize()} from the last trained one to the tested one"


def by_distance(stream: run_streams.StreamRuns) -> list[panels.Panel]:
  """Builds the panel of the accuracy by distance between trained and tested bucket."""
  found = curves(stream, matrix_lib.by_distance)
  size = max((len(curve.mean) for curve in found), default=0) // 2
  known = [d for d in range(-size, size + 1)
           if any(_at_distance(curve.mean, d) is not None for curve in found)]
  rows = [[curve.learner.label, *(_at_distance(curve.mean, d) for d in known)] for curve in found]
  columns = [panels.Column("learner"),
             *(panels.Column(f"{d:+d}" if d else "0", panels.PERCENT) for d in known)]
  series = [panels.PlotSeries(
      curve.learner.shown_label, known,
      [panels.percent(_at_distance(curve.mean, d)) for d in known], (),
      [panels.percent(_at_distance(curve.deviation, d)) for d in known]) for curve in found]
  return _panel(stream, "distance", "accuracy by distance in time", columns, rows, panels.Plot(
      _between(stream), "Accuracy", series, y_unit="%"),
      [f"0 is in-domain, +1 next-domain; negative distances are earlier {_parts(stream)}."])


def anytime(stream: run_streams.StreamRuns) -> list[panels.Panel]:
  """Builds the panel of the accuracy on the buckets so far, after each bucket."""
  found = curves(stream, lambda acc: matrix_lib.anytime(acc)[0])
  means = curves(stream, lambda acc: matrix_lib.anytime(acc)[1][-1:])
  average = {curve.learner.label: panels.plain(curve.mean[0]) for curve in means}
  size = max((len(curve.mean) for curve in found), default=0)
  rows = [[curve.learner.label, *panels.plain_list(curve.mean),
           *[None] * (size - len(curve.mean)), average.get(curve.learner.label)]
          for curve in found]
  columns = [panels.Column("learner"),
             *(panels.Column(f"after {i + 1}", panels.PERCENT) for i in range(size)),
             panels.Column("average anytime", panels.PERCENT)]
  so_far = f"accuracy on the {_parts(stream)} so far"
  return _panel(stream, "anytime", so_far, columns, rows, panels.Plot(
      f"Trained up to {stream.description.part}", so_far.capitalize(), [
          panels.PlotSeries(curve.learner.shown_label, list(range(1, len(curve.mean) + 1)),
                               [panels.percent(v) for v in curve.mean], (),
                               [panels.percent(v) for v in curve.deviation])
          for curve in found], y_unit="%"))


def plasticity(stream: run_streams.StreamRuns) -> list[panels.Panel]:
  """Builds the panel of what each bucket's training adds on it, and changes on earlier ones."""
  gains, part = curves(stream, matrix_lib.plasticity), stream.description.part
  changes = {curve.learner.label: curve for curve in curves(stream, matrix_lib.stability)}
  rows, series = [], []
  for gain in gains:
    if (change := changes.get(gain.learner.label)) is None:
      continue
    rows += [[gain.learner.label, i + 1, panels.plain(gain.mean[i]),
              panels.plain(change.mean[i])] for i in range(1, len(gain.mean))]
    both = np.mean(gain.mean[1:]), np.mean(change.mean[1:])
    series.append(panels.PlotSeries(gain.learner.shown_label, [panels.percent(both[1])],
                                       [panels.percent(both[0])], shape=panels.POINTS))
  columns = [panels.Column("learner"), panels.Column("trained on", panels.COUNT),
             panels.Column("plasticity", panels.PERCENT),
             panels.Column("stability", panels.PERCENT)]
  return _panel(
      stream, "plasticity", "plasticity and stability", columns, rows, panels.Plot(
          f"Stability, mean change on earlier {_parts(stream)}, %",
          f"Plasticity, mean gain on the new {part}", series, y_unit="%"),
      [f"Plasticity: accuracy on the {part} after training on it, minus before.",
       f"Stability: mean of the same difference over all earlier {_parts(stream)}; below 0 is "
       "forgetting."])


def published(stream: run_streams.StreamRuns) -> list[panels.Panel]:
  """Builds the panel of matrices beside a published one: figure 6 of Lin et al. (2021), challenge.
  """
  one = next((one for one in PUBLISHED
              if one.task in stream.title and one.mode in stream.title), None)
  if one is None:
    return []
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
  part = stream.description.part
  columns = [panels.Column("matrix"), panels.Column("trained up to", panels.COUNT),
             *(panels.Column(f"{part} {i + 1}", panels.PERCENT) for i in range(len(paper)))]
  rows = [[label, i + 1, *panels.plain_list(row)]
          for label, acc in shown.items() for i, row in enumerate(acc)]
  return [panels.Panel(
      "paper_matrix", f"{stream.title}: accuracy by {part}, beside the {one.title}", columns, rows,
      notes, chart=panels.accuracy_matrix(shown, part))]


def _panel(stream: run_streams.StreamRuns, name: str, title: str,
           columns: Sequence[panels.Column], rows: Sequence[Sequence[object]],
           plot: panels.Plot, notes: Sequence[str] = ()) -> list[panels.Panel]:
  """The panel; [] without rows."""
  if not rows:
    return []
  return [panels.Panel(name, f"{stream.title}: {title}", columns, rows, [*notes, *stream.notes],
                       chart=plot)]


def _at_distance(values: np.ndarray, distance: int) -> float | None:
  """The value at a distance, which may be beyond a shorter series."""
  place = len(values) // 2 + distance
  return panels.plain(values[place]) if 0 <= place < len(values) else None


class ClassResults(NamedTuple):
  """The classes of a learner.

  Attributes:
    learner: whose they are.
    drift: [C, T], accuracy by distance, see `matrix.class_drift`.
    confusions: [T, C, C], shares of a class's test images of bucket j, by the model trained up to
      j, or up to j - 1 in the streaming protocol; NaN where nothing was tested.
    counts: [C, C], of all these buckets and seeds.
    names: C names or numbers of the classes.
  """

  learner: run_streams.LearnerRuns
  drift: np.ndarray
  confusions: np.ndarray
  counts: np.ndarray
  names: list[str]


def class_results(stream: run_streams.StreamRuns) -> list[ClassResults]:
  """Reads the predictions of finished runs; learners without any are left out."""
  found = []
  for learner in stream.learners:
    seeds = [seed for run in learner.finished if (seed := _class_accuracies(run)) is not None]
    seeds = [seed for seed in seeds if seed[0].shape == seeds[0][0].shape]
    if seeds:
      drift = [matrix_lib.class_drift(acc) for acc, _ in seeds]
      counts = np.sum([confused for _, confused in seeds], axis=0)
      totals = counts.sum(-1, keepdims=True)
      shares = np.where(totals > 0, counts / np.maximum(totals, 1), np.nan)
      # Numbers in place of names that finished seeds do not agree on.
      of_seeds = [run.summary.get("class_names") for run in learner.finished]
      names: Any = of_seeds[0]
      if not names or len(names) != len(counts[0]) or any(one != names for one in of_seeds):
        names = range(len(counts[0]))
      found.append(ClassResults(learner, stream_groups.seed_mean(np.stack(drift)), shares,
                                counts.sum(0), list(map(str, names))))
  return found


def _class_accuracies(run: run_dir.Run) -> tuple[np.ndarray, np.ndarray] | None:
  """(accuracy of each class [T, T, C], confusions [T, C, C]); None without all predictions."""
  tested = schema.of_tests(run.records)
  if not tested or any(r.get(schema.ESTIMATED) or not r.get(schema.PREDICTIONS)
                       or not (run.folder / r[schema.PREDICTIONS]).is_file() for r in tested):
    return None
  size = 1 + max(r[schema.BUCKET] for r in tested)
  num_classes = tested[0]["num_classes"]
  acc = np.full([size, size, num_classes], np.nan)
  confused = np.zeros([size, num_classes, num_classes], np.int64)
  of_bucket = {r[schema.BUCKET]: r[schema.TRAINED_BUCKET] for r in tested
               if r[schema.TRAINED_BUCKET] <= r[schema.BUCKET]}  # The latest model by then.
  for record in tested:
    trained, bucket = record[schema.TRAINED_BUCKET], record[schema.BUCKET]
    if trained > bucket:
      continue
    made = predictions.load(run.folder / record[schema.PREDICTIONS])
    if made.is_multi_label:
      return None
    labels = np.asarray(made.label)
    acc[trained, bucket] = matrix_lib.class_accuracy(labels, made.correct, num_classes)
    if of_bucket[bucket] == trained:
      confused[bucket] = matrix_lib.confusion(labels, made.top1, num_classes)
  return acc, confused


def class_drift(
  stream: run_streams.StreamRuns, found: Sequence[ClassResults]
) -> list[panels.Panel]:
  """Builds the panel of each class's accuracy by distance in time."""
  if not found:
    return []
  size = max(results.drift.shape[1] for results in found)
  columns = [panels.Column("learner"), panels.Column("class"),
             *(panels.Column(f"+{d}" if d else "0", panels.PERCENT) for d in range(size)),
             panels.Column("change", panels.PERCENT)]
  rows = [[results.learner.label, results.names[c], *panels.plain_list(curve),
           *[None] * (size - len(curve)),
           known[-1] - known[0] if len(known) > 1 else None]
          for results in found for c, curve in enumerate(results.drift)
          for known in [curve[~np.isnan(curve)].tolist()]]
  labels = {results.learner.label: results.drift for results in found}
  title = f"{stream.title}: accuracy of each class by distance in time"
  return [panels.Panel(
      "classes", title, columns, rows,
      ["Distance 0 is the bucket trained on last, +1 the next one. Change: the last known distance "
       "minus the first."],
      chart=panels.Matrices(
          {label: panels.plain_list(100 * d) for label, d in labels.items()},
          {label: [str(i) for i in range(d.shape[1])] for label, d in labels.items()},
          {results.learner.label: results.names for results in found},
          _between(stream), "Class", "Accuracy, %"))]


def class_confusion(
  stream: run_streams.StreamRuns, found: Sequence[ClassResults]
) -> list[panels.Panel]:
  """Builds the panel of the most frequent confusions by bucket, and of confusion matrices."""
  if not found:
    return []
  size, part = max(len(results.confusions) for results in found), stream.description.part
  columns = [panels.Column("learner"), panels.Column("class"),
             panels.Column("predicted"),
             *(panels.Column(f"{part} {j + 1}", panels.PERCENT) for j in range(size))]
  rows: list[list[Any]] = []
  choices, names = {}, {}
  for results in found:
    rows += [[results.learner.label, results.names[c], results.names[d],
              *panels.plain_list(results.confusions[:, c, d]),
              *[None] * (size - len(results.confusions))]
             for c, d in matrix_lib.top_confusions(results.counts, MOST_PAIRS)]
    # The classes of the figure, in order: all, or those with most errors.
    errors = results.counts.sum(1) + results.counts.sum(0) - 2 * np.diagonal(results.counts)
    shown = sorted(np.argsort(-errors, kind="stable")[:MOST_CLASSES].tolist())
    tested = [j for j, shares in enumerate(results.confusions) if not np.isnan(shares).all()]
    for j in sorted({*tested[:1], *tested[-1:]}):
      label = f"{results.learner.label}, {part} {j + 1}"
      choices[label] = panels.plain_list(100 * results.confusions[j][np.ix_(shown, shown)])
      names[label] = [results.names[c] for c in shown]
  return [panels.Panel(
      "confusion", f"{stream.title}: confusions over time", columns, rows,
      [f"Share of the class's test images of a {part}, by the last model that had not been trained "
       f"beyond it; the {MOST_PAIRS} most frequent pairs of a learner. The figure: the first and "
       f"the last {part}, at most {MOST_CLASSES} classes."],
      chart=panels.Matrices(choices, names, names, "Predicted class", "Class",
                            "Share of the class, %"))]


def accuracy_matrices(stream: run_streams.StreamRuns) -> list[panels.Panel]:
  """Builds the panel of the finished runs that have a matrix; [] if none has."""
  means = {learner.label: stream_groups.seed_mean(np.stack(found)) for learner in stream.learners
           if (found := matrices(learner))}
  if not means:
    return []
  num, part = max(len(matrix[0]) for matrix in means.values()), stream.description.part
  columns = [panels.Column("learner"), panels.Column("trained up to", panels.COUNT),
             *(panels.Column(f"{part} {j + 1}", panels.PERCENT) for j in range(num))]
  cells: dict[str, Any] = {label: panels.plain_list(matrix) for label, matrix in means.items()}
  for learner in stream.learners:
    if learner.label in means and any(run.summary.get("matrix_low") for run in learner.finished):
      low, high = (np.array([run.summary.get(name) or run.summary["matrix"]
                             for run in learner.finished], dtype=float).mean(axis=0)
                   for name in ("matrix_low", "matrix_high"))
      for i, j in np.argwhere(low < high).tolist():
        cells[learner.label][i][j] = quantities.Quantity(
            cells[learner.label][i][j], quantities.PERCENT).estimated(low[i, j], high[i, j])
  rows = [[label, i + 1, *values, *[None] * (num - len(values))]
          for label, matrix in cells.items() for i, values in enumerate(matrix)]
  return [panels.Panel(
      "matrix", f"{stream.title}: accuracy by {part}", columns, rows,
      [*([run_streams.ESTIMATE_NOTE] if stream.has_estimates else []),
       *(f"{learner.label}: no matrix before the run is finished."
         for learner in stream.learners if not learner.finished)],
      chart=panels.accuracy_matrix(means, part))]
