# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Classes over time (CLEAR), from saved predictions: drift of each class, and confusions.

Values are means over the finished seeds whose predictions are there. Classes have their names where
the run's summary has them, else their numbers, as in the predictions.
"""

from __future__ import annotations

from collections.abc import Sequence
import functools
from typing import Any, NamedTuple

import numpy as np

from suite.metrics import bucket_views
from suite.metrics import stream_groups
from suite.reporting import charts
from suite.reporting import figures
from suite.reporting import panel as panel_lib
from suite.reporting import run_streams
from suite.reporting import runs as runs_lib
from suite.state import predictions

MOST_CLASSES, MOST_PAIRS = 20, 10  # In matrices, and in the table of confusions.


class ClassResults(NamedTuple):
  """The classes of a learner.

  Attributes:
    learner: whose they are.
    drift: [C, T], accuracy by distance, see `bucket_views.class_drift`.
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


def read(stream: run_streams.Stream) -> list[ClassResults]:
  """Reads the predictions of finished runs; learners without any are left out."""
  found = []
  for learner in stream.learners:
    seeds = [seed for run in learner.finished if (seed := _of_run(run)) is not None]
    seeds = [seed for seed in seeds if seed[0].shape == seeds[0][0].shape]
    if seeds:
      drift = [bucket_views.class_drift(acc) for acc, _ in seeds]
      counts = np.sum([confused for _, confused in seeds], axis=0)
      totals = counts.sum(-1, keepdims=True)
      shares = np.where(totals > 0, counts / np.maximum(totals, 1), np.nan)
      found.append(ClassResults(learner, stream_groups.seed_mean(np.stack(drift)), shares,
                                counts.sum(0), _names(learner, len(counts[0]))))
  return found


def _names(learner: run_streams.LearnerRuns, num_classes: int) -> list[str]:
  """The names of the classes, if all finished seeds agree on them, else their numbers."""
  found = [run.summary.get("class_names") for run in learner.finished]
  if found and found[0] and len(found[0]) == num_classes and all(one == found[0] for one in found):
    return [str(name) for name in found[0]]
  return [str(c) for c in range(num_classes)]


def _of_run(run: runs_lib.Run) -> tuple[np.ndarray, np.ndarray] | None:
  """(accuracy of each class [T, T, C], confusions [T, C, C]); None without all predictions."""
  tested = [r for r in run.records if r.get("kind") == "predict"]
  if not tested or any(
      not r.get("predictions") or not (run.folder / r["predictions"]).is_file() for r in tested):
    return None
  size = 1 + max(r["bucket"] for r in tested)
  num_classes = tested[0]["num_classes"]
  acc = np.full([size, size, num_classes], np.nan)
  confused = np.zeros([size, num_classes, num_classes], np.int64)
  of_bucket = {r["bucket"]: r["trained_bucket"] for r in tested
               if r["trained_bucket"] <= r["bucket"]}  # The latest model that was there by then.
  for record in tested:
    trained, bucket = record["trained_bucket"], record["bucket"]
    if trained > bucket:
      continue
    made = predictions.load(run.folder / record["predictions"])
    if made.is_multi_label:
      return None
    labels = np.asarray(made.label)
    acc[trained, bucket] = bucket_views.class_accuracy(labels, made.correct, num_classes)
    if of_bucket[bucket] == trained:
      confused[bucket] = bucket_views.confusion(labels, made.top1, num_classes)
  return acc, confused


def drift(stream: run_streams.Stream, found: Sequence[ClassResults]) -> list[panel_lib.Panel]:
  """Builds the panel of each class's accuracy by distance in time."""
  if not found:
    return []
  size = max(results.drift.shape[1] for results in found)
  columns = [panel_lib.Column("learner"), panel_lib.Column("class"),
             *(panel_lib.Column(f"+{d}" if d else "0", panel_lib.PERCENT) for d in range(size)),
             panel_lib.Column("change", panel_lib.PERCENT)]
  rows = [[results.learner.label, results.names[c], *panel_lib.plain_list(curve),
           *[None] * (size - len(curve)), _change(curve)]
          for results in found for c, curve in enumerate(results.drift)]
  labels = {results.learner.label: results.drift for results in found}
  title = f"{stream.title}: accuracy of each class by distance in time"
  return [panel_lib.Panel(
      "classes", title, columns, rows,
      ["Distance 0 is the bucket trained on last, +1 the next one. Change: the last known distance "
       "minus the first."],
      figure=functools.partial(_draw, found, title),
      chart=charts.Matrices(
          {label: panel_lib.plain_list(100 * d) for label, d in labels.items()},
          {label: [str(i) for i in range(d.shape[1])] for label, d in labels.items()},
          {results.learner.label: results.names for results in found},
          "Buckets from the last trained one to the tested one", "Class", "Accuracy, %"))]


def confusion(stream: run_streams.Stream, found: Sequence[ClassResults]) -> list[panel_lib.Panel]:
  """Builds the panel of the most frequent confusions by bucket, and of confusion matrices."""
  if not found:
    return []
  size = max(len(results.confusions) for results in found)
  columns = [panel_lib.Column("learner"), panel_lib.Column("class"),
             panel_lib.Column("predicted"),
             *(panel_lib.Column(f"bucket {j + 1}", panel_lib.PERCENT) for j in range(size))]
  rows: list[list[Any]] = []
  choices, names = {}, {}
  for results in found:
    rows += [[results.learner.label, results.names[c], results.names[d],
              *panel_lib.plain_list(results.confusions[:, c, d]),
              *[None] * (size - len(results.confusions))]
             for c, d in bucket_views.top_confusions(results.counts, MOST_PAIRS)]
    shown = _most_confused(results.counts)
    for j in _first_and_last(results.confusions):
      label = f"{results.learner.label}, bucket {j + 1}"
      choices[label] = panel_lib.plain_list(100 * results.confusions[j][np.ix_(shown, shown)])
      names[label] = [results.names[c] for c in shown]
  return [panel_lib.Panel(
      "confusion", f"{stream.title}: confusions over time", columns, rows,
      ["Share of the class's test images of a bucket, by the last model that had not been trained "
       f"beyond it; the {MOST_PAIRS} most frequent pairs of a learner. The figure: the first and "
       f"the last bucket, at most {MOST_CLASSES} classes."],
      chart=charts.Matrices(choices, names, names, "Predicted class", "Class",
                            "Share of the class, %"))]


def _change(curve: np.ndarray) -> float | None:
  """The last known value minus the first one; None if one or none is known."""
  known = curve[~np.isnan(curve)]
  return float(known[-1] - known[0]) if len(known) > 1 else None


def _most_confused(counts: np.ndarray) -> list[int]:
  """The classes of the figure, in order: all, or those with most errors."""
  errors = counts.sum(1) + counts.sum(0) - 2 * np.diagonal(counts)
  return sorted(np.argsort(-errors, kind="stable")[:MOST_CLASSES].tolist())


def _first_and_last(confusions: np.ndarray) -> list[int]:
  tested = [j for j, shares in enumerate(confusions) if not np.isnan(shares).all()]
  return sorted({tested[0], tested[-1]}) if tested else []


def _draw(found: Sequence[ClassResults], title: str) -> Any:
  """Draws the curves of each learner's classes, a pair of axes a learner."""
  plots = [charts.Plot("Distance, buckets", "Accuracy", [
      charts.Series(name if name != str(c) else f"class {name}", list(range(len(curve))),
                    [None if v is None else 100 * v for v in panel_lib.plain_list(curve)])
      for c, (name, curve) in enumerate(zip(results.names, results.drift))], y_unit="%")
           for results in found]
  return figures.plotted_below(plots, [r.learner.shown_label for r in found], title=title)
