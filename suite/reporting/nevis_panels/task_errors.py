# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Errors of each task as mean and deviation over seeds."""

from __future__ import annotations

from typing import Any

import numpy as np

from suite.metrics import stream_groups
from suite.reporting import panel as panel_lib
from suite.reporting.nevis_panels import stream_results


def build(results: stream_results.StreamResults) -> list[panel_lib.Panel]:
  """Builds the panel, with a deviation column for learners of several seeds."""
  columns = [panel_lib.Column("task"), panel_lib.Column("metric"),
             panel_lib.Column("year"), panel_lib.Column("role")]
  for learner in results.learners:
    columns.append(panel_lib.Column(learner.label, panel_lib.PERCENT))
    if learner.num_seeds > 1:
      columns.append(panel_lib.Column(f"± over {learner.num_seeds}", panel_lib.PERCENT))
  rows = [[task.key, task.metric, task.year, task.role, *_cells(results, learners=[
      learner.errors[:, i] for learner in results.learners])]
      for i, task in enumerate(results.tasks)]
  rows.append(["mean, all tasks", "", "", "", *_cells(results, learners=[
      np.mean(learner.errors, axis=1) for learner in results.learners])])
  return [panel_lib.Panel("tasks", f"{results.title}: errors by task", columns, rows,
                          results.notes)]


def _cells(results: stream_results.StreamResults, learners: list[np.ndarray]) -> list[Any]:
  cells: list[Any] = []
  for learner, values in zip(results.learners, learners):
    found = stream_groups.spread(list(values))
    cells.append(panel_lib.plain(found.mean))
    if learner.num_seeds > 1:
      cells.append(panel_lib.plain(found.deviation))
  return cells
