# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Figures of runs and tables as matplotlib objects, for files, results pages and TensorBoard.

Costs by length of a task, error against FLOPs, accuracy matrices, and a leaderboard's scores
against FLOPs with one pair of axes for each protocol.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
import os
from typing import Any

import numpy as np

from suite.contracts import descriptions
from suite.reporting import figures
from suite.reporting import leaderboard
from suite.reporting import panels
from suite.reporting import paper_table
from suite.reporting import run_dir
from suite.reporting import table_dir
from suite.reporting.nevis_panels import error_panels
from suite.reporting.nevis_panels import stream_results


def draw(runs: Sequence[run_dir.Run], tables: Sequence[str | os.PathLike] = (), *,
         stem: str = "figure") -> dict[str, Any]:
  """Draws costs, rates or updates of tables, error against FLOPs of runs, and accuracy matrices.

  Args:
    runs: single runs.
    tables: directories of whole tables.
    stem: beginning of all names.

  Returns:
    {name: matplotlib figure}; runs without such results have none.
  """
  drawn: dict[str, Any] = {}
  charts = [(results.title, error_panels.pareto_chart(points))
            for results in stream_results.build(runs)
            if (points := error_panels.learner_points(results))]
  charts += [one for directory in tables for one in _of_table(directory)]
  for title, chart in charts:
    drawn[stem if not drawn else f"{stem}_{len(drawn) + 1}"] = figures.draw(chart, title=title)
  for run in runs:
    if descriptions.BUCKETS in run.description.panels and "matrix" in run.summary:
      acc = np.array(run.summary["matrix"], dtype=float)  # None becomes NaN.
      name = f"{stem}_{run.label.replace('/', '_')}_matrix"
      drawn[name] = figures.draw(
          panels.accuracy_matrix({"": acc}, run.description.part),
          title=f"Accuracy by {run.description.part}, {run.label}")
  return drawn


def _of_table(directory: str | os.PathLike) -> Iterator[tuple[str, panels.Chart]]:
  """Yields the charts of a whole table: scores against FLOPs, costs, accuracy by length, curves of
  validation, a sweep over rates, or update strategies.
  """
  table = table_dir.read(directory)
  charts = {"": leaderboard.charts(table)} if table.scores else {
      "Cost of a task by its length": paper_table.cost_plots(table),
      "Accuracy by the length of a task": paper_table.length_plots(table),
      "Validation accuracy along meta-training": paper_table.validation_plots(table),
      "Accuracy by learning rate": paper_table.rate_plots(table),
      "Accuracy by update strategy": paper_table.update_plots(table)}
  for title, plots in charts.items():
    if plots:
      yield f"{title}, {table.title}".lstrip(", "), panels.Plots(plots, columns=2 + 2 * (
          len(plots) > 2 and bool(title)))
