# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""All panels of NEVIS'22 for run directories, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import os

from suite.reporting import panel as panel_lib
from suite.reporting.nevis_panels import paper_results
from suite.reporting.nevis_panels import pareto
from suite.reporting.nevis_panels import regret
from suite.reporting.nevis_panels import repeated_tasks
from suite.reporting.nevis_panels import start_graph
from suite.reporting.nevis_panels import stream_results
from suite.reporting.nevis_panels import task_errors
from suite.reporting.nevis_panels import task_facts
from suite.reporting.nevis_panels import task_groups
from suite.reporting.nevis_panels import transfer_matrix

ALL = "all"
# Name to ask for: what it shows.
NAMES = {
    "tasks": "errors of each task, mean and deviation over seeds",
    "pareto": "mean error against FLOPs, with and without pretraining",
    "regret": "cumulative error against Independent",
    "groups": "mean error by domain, training-set size and resolution",
    "forward_transfer": "forward transfer on repeated tasks",
    "starts": "what each task was fine-tuned from",
    "transfer": "what each past task is worth to each later one",
    "paper": "errors beside appendix N of the paper",
}


def build(results: stream_results.StreamResults, names: Sequence[str] = (ALL,),
          facts: Mapping[str, task_facts.TaskFacts] | None = None) -> list[panel_lib.Panel]:
  """Builds the panels of one stream; those without data are left out.

  Args:
    results: of the stream.
    names: keys of `NAMES`, or "all".
    facts: domain, size and resolution by task, beyond the stream's table.
  """
  unknown = sorted(set(names) - {ALL, *NAMES})
  if unknown:
    raise ValueError(f"Unknown panel {', '.join(map(repr, unknown))}; allowed are {ALL}, "
                     f"{', '.join(NAMES)}.")
  known = task_facts.of(results.tasks, facts)
  makers = {
      "tasks": lambda: task_errors.build(results), "pareto": lambda: pareto.build(results),
      "regret": lambda: regret.build(results),
      "groups": lambda: task_groups.build(results, known),
      "forward_transfer": lambda: repeated_tasks.build(results),
      "starts": lambda: start_graph.build(results, known),
      "transfer": lambda: transfer_matrix.build(results),
      "paper": lambda: paper_results.build(results)}
  return [panel for name, make in makers.items() if ALL in names or name in names
          for panel in make()]


def load(dirs: Iterable[str | os.PathLike], names: Sequence[str] = (ALL,),
         facts: Mapping[str, task_facts.TaskFacts] | None = None) -> list[panel_lib.Panel]:
  """Builds the panels of all runs of NEVIS'22 in the directories, at any depth."""
  return of_streams(stream_results.load(dirs), names, facts)


def of_streams(streams: Sequence[stream_results.StreamResults], names: Sequence[str] = (ALL,),
               facts: Mapping[str, task_facts.TaskFacts] | None = None) -> list[panel_lib.Panel]:
  """Builds the panels of several streams, one after the other; their names are numbered then."""
  found = [build(results, names, facts) for results in streams]
  return [panel if len(found) == 1 else dataclasses.replace(panel, name=f"{panel.name}_stream{i}")
          for i, panels in enumerate(found, 1) for panel in panels]
