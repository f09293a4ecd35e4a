# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""All panels of NEVIS'22 for run directories, by name, and the panel of the stream itself.

That shows what a dated stream is made of, year by year: figure 2 and the left half of figure 3. No
learner is needed: the facts are the stream's own (`stream_results.facts_of`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
from typing import NamedTuple

import numpy as np

from suite.data.streams import nevis_table
from suite.metrics import stream_groups
from suite.reporting import panels
from suite.reporting.nevis_panels import error_panels
from suite.reporting.nevis_panels import reference_panels
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
    "stream": lambda: by_year(results.title, results.tasks, known),
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
  return [dataclasses.replace(panel, group=name) for name, make in makers.items()
          if ALL in names or name in names for panel in make()]


class StreamYear(NamedTuple):
  """The data sets of one year.

  Attributes:
    year: of the paper that a data set was taken from.
    num: number of data sets.
    mean_size: mean number of training images of those whose size is known; None without one.
    cumulative_size: images of all years so far, of data sets of known size.
    domains: in the order of the stream, each once; unknown ones are left out.
  """

  year: int
  num: int
  mean_size: float | None
  cumulative_size: float
  domains: Sequence[str]


def years(tasks: Sequence[stream_results.TaskRow], facts: Sequence[stream_results.TaskFacts]
          ) -> list[StreamYear]:
  """Groups the tasks that have a year by it, in order."""
  found, total = [], 0.0
  for year in sorted({task.year for task in tasks if task.year is not None}):
    own = [fact for task, fact in zip(tasks, facts) if task.year == year]
    sizes = [fact.size for fact in own if fact.size]
    total += sum(sizes)
    found.append(StreamYear(
        year, len(own), float(np.mean(sizes)) if sizes else None, total,
        list(dict.fromkeys(f.domain for f in own if f.domain != stream_groups.UNKNOWN))))
  return found


def full_stream() -> panels.Panel:
  """The panel of NEVIS'22's whole stream, from its table alone."""
  tasks = [stream_results.TaskRow(line.key, line.name, line.year, line.role)
           for line in nevis_table.full()]
  [panel] = by_year("NEVIS'22", tasks, stream_results.facts_of(tasks))
  return panel


def by_year(title: str, tasks: Sequence[stream_results.TaskRow],
            facts: Sequence[stream_results.TaskFacts]) -> list[panels.Panel]:
  """Builds the panel; [] if fewer than two years are known."""
  found = years(tasks, facts)
  if len(found) < 2:
    return []
  unknown = sum(not fact.size for task, fact in zip(tasks, facts) if task.year is not None)
  notes = [f"{unknown} data sets have no known size and count without images."] if unknown else []
  return [panels.Panel(
      "stream", f"{title}: data sets by year",
      [panels.Column("year"), panels.Column("data sets", panels.COUNT),
       panels.Column("mean images", panels.COUNT), panels.Column("images so far", panels.COUNT),
       panels.Column("domains")],
      [[str(one.year), one.num, None if one.mean_size is None else round(one.mean_size),
        round(one.cumulative_size), ", ".join(one.domains)] for one in found],
      notes, chart=_chart_of_years(found))]


def _chart_of_years(found: Sequence[StreamYear]) -> panels.Plots:
  """Sizes, data sets and domains against the year."""
  years = [one.year for one in found]
  known = [one for one in found if one.mean_size]
  points = [(one.year, name) for one in found for name in one.domains]
  return panels.Plots({
      "Training images": panels.Plot("Year", "Training images", [
          panels.PlotSeries("mean of the year", [one.year for one in known],
                            [one.mean_size for one in known], shape=panels.POINTS),
          panels.PlotSeries("all so far", years, [one.cumulative_size for one in found])],
                                     log_y=True),
      "Data sets": panels.Plot("Year", "Data sets", [panels.PlotSeries(
          "", years, [one.num for one in found], shape=panels.POINTS)]),
      "Domains": panels.Plot("Year", "Domain", [panels.PlotSeries(
          "", [year for year, _ in points], [name for _, name in points],
          shape=panels.POINTS)])}, columns=2)
