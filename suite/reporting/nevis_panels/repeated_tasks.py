# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Forward transfer on the tasks that are repeated, 9 of the full stream (figure 11, equation 5)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from suite.metrics import stream_groups
from suite.metrics import task_stream
from suite.reporting import figures
from suite.reporting import panel as panel_lib
from suite.reporting.nevis_panels import stream_results

# Section 5.13: means over the 9 repeated tasks of the full stream.
PAPER_MEANS = "The paper's means over 9 tasks: FT-prev 0.199, FT-s 0.456."
MEAN = "mean"


class Transfer(NamedTuple):
  """Forward transfer of one learner on one repeated task, or its mean over them."""

  task: str
  label: str
  value: stream_groups.Spread


def forward_transfer(results: stream_results.StreamResults) -> list[Transfer]:
  """Equation 5 by repeated task and learner, then the means over all repeated tasks.

  A mean is that of the tasks that have a value in each seed; it needs all repeated tasks.
  """
  repeated = [task.key for task in results.tasks if _is_repeated(task, results)]
  values = {}
  for learner in results.learners:
    by_seed = [task_stream.forward_transfer_by_task(run.records) for run in learner.runs]
    for key in repeated:
      values[key, learner.label] = [found.get(key) for found in by_seed]
    values[MEAN, learner.label] = [
        task_stream.mean_forward_transfer(found) if set(repeated) <= set(found) else None
        for found in by_seed]
  return [Transfer(key, learner.label, stream_groups.spread(values[key, learner.label]))
          for key in [*repeated, MEAN] for learner in results.learners
          if repeated and learner.runs]


def _is_repeated(task: stream_results.TaskRow, results: stream_results.StreamResults) -> bool:
  earlier = results.tasks[:results.tasks.index(task)]
  return any(other.name == task.name for other in earlier)


def build(results: stream_results.StreamResults) -> list[panel_lib.Panel]:
  """Builds the panel; [] if no task is repeated, or if no learner has learning curves."""
  found = forward_transfer(results)
  if not any(t.value.num for t in found):
    return []
  silent = sorted({t.label for t in found}
                  - {t.label for t in found if t.value.num})
  notes = [f"Without learning curves in the records: {', '.join(silent)}."] if silent else []
  title = f"{results.title}: forward transfer on repeated tasks"
  return [panel_lib.Panel(
      "forward_transfer", title,
      [panel_lib.Column("task"), panel_lib.Column("learner"),
       panel_lib.Column("seeds", panel_lib.COUNT),
       panel_lib.Column("forward transfer", panel_lib.NUMBER),
       panel_lib.Column("deviation", panel_lib.NUMBER)],
      [[t.task, t.label, t.value.num, panel_lib.plain(t.value.mean),
        panel_lib.plain(t.value.deviation)] for t in found],
      [PAPER_MEANS, *notes, *results.notes], figure=lambda: draw(found, title))]


def draw(found: list[Transfer], title: str) -> Any:
  """Draws a group of bars for each repeated task and for the mean, one bar a learner."""
  found = [t for t in found if any(o.label == t.label and o.value.num for o in found)]
  names = list(dict.fromkeys(t.task for t in found))
  labels = list(dict.fromkeys(t.label for t in found))
  width = 0.8 / len(labels)
  with figures.style():
    figure, axes = figures.new_axes(
        title, width=2.4 + 0.35 * len(names) * (1 + len(labels) / 2) + 2, height=3.8,
        legend=len(labels))
    for i, label in enumerate(labels):
      own = {t.task: t.value for t in found if t.label == label}
      axes.bar(np.arange(len(names)) + (i - (len(labels) - 1) / 2) * width,
               [own[name].mean for name in names], width=0.9 * width, label=label,
               color=figures.look(i)["color"], hatch="//" if i >= len(figures.COLORS) else None,
               yerr=[panel_lib.plain(own[name].deviation) or 0 for name in names],
               error_kw={"linewidth": 1, "capsize": 2})
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set_xticks(range(len(names)), names, rotation=25, ha="right", fontsize=8)
    axes.set_ylabel("Forward transfer")
    axes.grid(True, which="major", axis="y")
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)
  return figure
