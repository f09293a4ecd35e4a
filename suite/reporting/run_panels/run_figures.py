# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The figures that runs and tables have: costs, error against FLOPs, accuracy matrices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
import os
from typing import Any

import numpy as np

from suite.contracts import descriptions
from suite.reporting import figures
from suite.reporting import leaderboard
from suite.reporting import paper_table
from suite.reporting import runs as runs_lib
from suite.reporting import table_dir
from suite.reporting import validation_curves
from suite.reporting.nevis_panels import pareto
from suite.reporting.nevis_panels import stream_results
from suite.reporting.run_panels import leaderboard_figure


def draw(runs: Sequence[runs_lib.Run], tables: Sequence[str | os.PathLike] = (), *,
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

  def add(figure: Any) -> None:
    drawn[stem if not drawn else f"{stem}_{len(drawn) + 1}"] = figure

  for results in stream_results.build(runs):
    points = pareto.points(results)
    if points:
      add(pareto.draw(points, results.title))
  for directory in tables:
    for figure in _of_table(directory):
      add(figure)
  for run in runs:
    if descriptions.BUCKETS in run.description.panels and "matrix" in run.summary:
      acc = np.array(run.summary["matrix"], dtype=float)  # None becomes NaN.
      name = f"{stem}_{run.label.replace('/', '_')}_matrix"
      drawn[name] = figures.accuracy_matrix(
          acc, title=f"Accuracy by bucket, {run.label}")
  return drawn


def _of_table(directory: str | os.PathLike) -> Iterator[Any]:
  """Yields the figures of a whole table: scores against FLOPs, costs, curves of validation, a sweep
  over rates, or update strategies.
  """
  table = table_dir.read(directory)
  name = table.title
  if table.scores:
    yield leaderboard_figure.draw(leaderboard.load(table), table.rows, title=name)
    return
  if costs := [figures.TaskCosts(*line) for line in paper_table.costs(directory)]:
    yield figures.costs_against_support_sets(costs, title=f"Cost of a task by its length, {name}")
  if curves := validation_curves.plots(table):
    yield figures.plotted_grid(list(curves.values()), list(curves), columns=min(4, len(curves)),
                               title=f"Validation accuracy along meta-training, {name}")
  if swept := [figures.RateLine(*line) for line in paper_table.rates(directory)]:
    measure = next(iter(table.measures.values()))
    yield figures.accuracy_against_rates(
        swept, title=f"Accuracy by learning rate, {name}",
        accuracy_label=f"{measure[:1].upper()}{measure[1:]}, %")
  if spent := [figures.UpdateCosts(*point) for point in paper_table.updates(directory)]:
    yield figures.accuracy_against_updates(
        spent, title=f"Accuracy by update strategy, {name}")
