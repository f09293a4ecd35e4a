# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What each past task is worth to each later one (figure 3, appendix J).

By kNN: the validation errors by which FT-d and FT-s choose, which every run of theirs has in its
records. By training: test errors of tasks that were fine-tuned from another task's Independent
model, against Independent; `gin/runs/nevis/transfer.gin` makes such runs for chosen tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suite.metrics import stream_groups
from suite.metrics import task_transfer
from suite.reporting import charts
from suite.reporting import figures
from suite.reporting import panel as panel_lib
from suite.reporting.nevis_panels import stream_results
from suite.state import weight_store

_ADVANTAGE, _SAVED = "Advantage over the mean candidate, %", "Error saved, %"


def build(results: stream_results.StreamResults) -> list[panel_lib.Panel]:
  """Builds a panel of kNN errors for each learner that has some, and one of trained transfer."""
  by_knn = [_by_knn(results, learner) for learner in results.learners]
  return [*(panel for panel in by_knn if panel is not None), *_trained(results)]


def knn_errors(learner: stream_results.LearnerResults) -> tuple[list[str], np.ndarray] | None:
  """Names [N] and kNN errors [N, N] as means over seeds; None if a learner has none.

  Seeds with other tasks than the first are left out, as unfinished ones are.
  """
  found = [task_transfer.knn_errors(run.records, weight_store.safe_name) for run in learner.runs]
  found = [(names, errors) for names, errors in found if not np.isnan(errors).all()]
  if not found:
    return None
  names = max(found, key=lambda pair: len(pair[0]))[0]
  alike = [errors for others, errors in found if others == names]
  return names, stream_groups.seed_mean(np.stack(alike))


def _by_knn(results: stream_results.StreamResults, learner: stream_results.LearnerResults
            ) -> panel_lib.Panel | None:
  pair = knn_errors(learner)
  if pair is None:
    return None
  names, errors = pair
  rows = []
  for j, task in enumerate(names):
    known = errors[:, j][~np.isnan(errors[:, j])]
    if len(known):
      best = int(np.nanargmin(errors[:, j]))
      rows.append([task, names[best], len(known), float(np.min(known)), float(np.mean(known)),
                   float(np.max(known))])
  title = f"{results.title}: kNN errors on features of past models, {learner.label}"
  gains = task_transfer.advantage(errors)
  return panel_lib.Panel(
      f"transfer_knn_{learner.label.replace('/', '_')}", title,
      [panel_lib.Column("task"), panel_lib.Column("best source"),
       panel_lib.Column("candidates", panel_lib.COUNT),
       panel_lib.Column("lowest error", panel_lib.PERCENT),
       panel_lib.Column("mean", panel_lib.PERCENT), panel_lib.Column("highest", panel_lib.PERCENT)],
      rows, ["Validation errors of kNN; the whole matrix is in the figure, where blue is a source "
             "with a lower error than the mean of the task's candidates."],
      {"names": names, "knn_error": panel_lib.plain_list(errors)},
      lambda: draw(gains, names, names, title, _ADVANTAGE),
      _chart(gains, names, names, _ADVANTAGE))


def trained_pairs(results: stream_results.StreamResults) -> list[task_transfer.TrainedPair]:
  """The cells of all runs on the stream; errors of Independent are means over its seeds."""
  found = []
  for learner in results.learners:
    reference, independent = results.reference_of(learner), {}
    if reference is not None:
      mean = stream_groups.seed_mean(reference.errors)
      independent = {t.key: panel_lib.plain(e) for t, e in zip(results.tasks, mean)}
    found += task_transfer.trained_pairs(
        [run.records for run in learner.runs], independent, weight_store.safe_name)
  return found


def _trained(results: stream_results.StreamResults) -> list[panel_lib.Panel]:
  pairs = trained_pairs(results)
  cells = {(pair.source, pair.task): [p for p in pairs if p[:2] == pair[:2]] for pair in pairs}
  if len(cells) == len({source for source, _ in cells}):
    return []  # No source has several later tasks: the second task of FT-prev is no matrix.
  keys = [task.key for task in results.tasks]
  rows = []
  for (source, task), found in sorted(
      cells.items(), key=lambda item: (keys.index(item[0][0]), keys.index(item[0][1]))):
    gain = stream_groups.spread([p.gain for p in found])
    rows.append([source, task, len(found), float(np.mean([p.error for p in found])),
                 found[0].independent, panel_lib.plain(gain.mean), panel_lib.plain(gain.deviation)])
  title = f"{results.title}: error saved by fine-tuning from a task's Independent model"
  matrix = task_transfer.as_matrix(pairs, keys)
  sources, later = ([i for i in range(len(keys)) if not np.isnan(side[i]).all()]
                    for side in (matrix, matrix.T))
  shown = matrix[np.ix_(sources, later)]
  names = [keys[i] for i in sources], [keys[i] for i in later]
  notes = [] if any(p.gain is not None for p in pairs) else [
      "No single Independent belongs to these runs, so no gain is known."]
  return [panel_lib.Panel(
      "transfer_trained", title,
      [panel_lib.Column("source"), panel_lib.Column("task"),
       panel_lib.Column("runs", panel_lib.COUNT), panel_lib.Column("error", panel_lib.PERCENT),
       panel_lib.Column("Independent", panel_lib.PERCENT),
       panel_lib.Column("gain", panel_lib.PERCENT),
       panel_lib.Column("deviation", panel_lib.PERCENT)], rows, notes,
      {"sources": names[0], "tasks": names[1], "gain": panel_lib.plain_list(shown)},
      (lambda: draw(shown, *names, title, _SAVED)) if sources else None,
      _chart(shown, *names, _SAVED) if sources else None)]


def _chart(gains: np.ndarray, sources: Sequence[str], later: Sequence[str], label: str
           ) -> charts.Matrices:
  return charts.Matrices({label: panel_lib.plain_list(100 * gains)}, {label: later},
                         {label: sources}, "Later task", "Source", label, is_diverging=True)


def draw(gains: np.ndarray, sources: Sequence[str], later: Sequence[str], title: str, label: str
         ) -> Any:
  """Draws a matrix [N, M], sources in rows, later tasks in columns; blue is a gain, red a loss."""
  num = max(len(sources), len(later))
  values = 100 * np.asarray(gains, np.float64)
  limit = float(np.nanmax(np.abs(values))) if not np.isnan(values).all() else 1.0
  cell = 0.5 if num <= 20 else 0.16
  with figures.style():
    figure, axes = figures.new_axes("", width=3.8 + cell * len(later),
                                    height=2.4 + cell * len(sources))
    colors = figures.diverging()
    image = axes.imshow(values, cmap=colors, vmin=-(limit or 1), vmax=limit or 1)
    if num <= 20:
      for i, j in zip(*np.nonzero(~np.isnan(values))):
        dark = abs(values[i, j]) > 0.6 * limit
        axes.text(j, i, f"{values[i, j]:.1f}", ha="center", va="center", fontsize=7,
                  color="white" if dark else "black")
    size = 8 if num <= 20 else 5
    axes.set_xticks(range(len(later)), later, rotation=60, ha="right", rotation_mode="anchor",
                    fontsize=size)
    axes.set_yticks(range(len(sources)), sources, fontsize=size)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("Later task")
    axes.set_ylabel("Source")
    bar = figure.colorbar(image, ax=axes, shrink=0.8)
    bar.set_label(label)
    bar.outline.set_visible(False)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold", wrap=True)
  return figure
