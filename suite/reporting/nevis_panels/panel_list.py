# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""All panels of NEVIS'22 for run directories, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import os

from suite.reporting import panels
from suite.reporting.nevis_panels import error_panels
from suite.reporting.nevis_panels import reference_panels
from suite.reporting.nevis_panels import stream_panels
from suite.reporting.nevis_panels import stream_results
from suite.reporting.nevis_panels import transfer_panels

ALL = "all"
# Name to ask for: what it shows.
NAMES = {
    "stream": "data sets, their sizes and domains by year",
    "tasks": "errors of each task, mean and deviation over seeds",
    "pareto": "mean error against FLOPs, with and without pretraining",
    "pretraining": "what an encoder cost, by the tasks it serves, and when it has paid for itself",
    "regret": "cumulative error against Independent",
    "groups": "mean error by domain, training-set size and resolution",
    "forward_transfer": "forward transfer on repeated tasks",
    "starts": "what each task was fine-tuned from",
    "transfer": "what each past task is worth to each later one",
    "paper": "errors beside appendix N of the paper",
}


def build(results: stream_results.StreamResults, names: Sequence[str] = (ALL,),
          facts: Mapping[str, stream_results.TaskFacts] | None = None) -> list[panels.Panel]:
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
  known = stream_results.facts_of(results.tasks, facts)
  makers = {
    "stream": lambda: stream_panels.by_year(results.title, results.tasks, known),
    "tasks": lambda: error_panels.by_task(results),
    "pareto": lambda: error_panels.against_flops(results),
    "pretraining": lambda: reference_panels.pretraining(results),
    "regret": lambda: reference_panels.regret(results),
    "groups": lambda: error_panels.by_group(results, known),
    "forward_transfer": lambda: transfer_panels.repeated_tasks(results),
    "starts": lambda: transfer_panels.starts(results, known),
    "transfer": lambda: transfer_panels.transfer_matrices(results),
    "paper": lambda: reference_panels.beside_paper(results),
  }
  return [panel for name, make in makers.items() if ALL in names or name in names
          for panel in make()]


def load(dirs: Iterable[str | os.PathLike], names: Sequence[str] = (ALL,),
         facts: Mapping[str, stream_results.TaskFacts] | None = None) -> list[panels.Panel]:
  """Builds the panels of all runs of NEVIS'22 in the directories, at any depth."""
  return of_streams(stream_results.load(dirs), names, facts)


def of_streams(
  streams: Sequence[stream_results.StreamResults],
  names: Sequence[str] = (ALL,),
  facts: Mapping[str, stream_results.TaskFacts] | None = None,
) -> list[panels.Panel]:
  """Builds the panels of several streams, one after the other; their names are numbered then."""
  found = [build(results, names, facts) for results in streams]
  return [panel if len(found) == 1 else dataclasses.replace(panel, name=f"{panel.name}_stream{i}")
          for i, panels in enumerate(found, 1) for panel in panels]
