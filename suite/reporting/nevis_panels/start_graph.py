# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Which task each task was fine-tuned from, as a graph colored by domain (figures 18 and 19)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib import patches

from suite.metrics import stream_groups
from suite.metrics import task_transfer
from suite.reporting import charts
from suite.reporting import figures
from suite.reporting import panel as panel_lib
from suite.reporting.nevis_panels import stream_results
from suite.reporting.nevis_panels import task_facts
from suite.state import weight_store

# Fills light enough for black text; NEVIS'22 has 11 domains. Further ones differ by their edges.
_FILLS = ("#A6CEE3", "#FDBF6F", "#B2DF8A", "#FB9A99", "#CAB2D6", "#FFFF99", "#E5C494", "#8DD3C7",
          "#F4CAE4", "#CCCCCC", "#FFFFFF", "#B3B8FF")
_EDGES = ({"edgecolor": "#555555", "linewidth": 0.6}, {"edgecolor": "#000000", "linewidth": 1.8},
          {"edgecolor": "#000000", "linewidth": 1.8, "linestyle": ":"})


def edges_of(learner: stream_results.LearnerResults) -> list[list[task_transfer.Edge]]:
  """The starts of each seed's run."""
  return [task_transfer.start_edges(run.records, weight_store.safe_name) for run in learner.runs]


def build(results: stream_results.StreamResults, facts: Sequence[task_facts.TaskFacts]
          ) -> list[panel_lib.Panel]:
  """Builds a panel for each learner that chooses its starts.

  Learners that start all tasks from random weights, from one model, or from the task before have
  none.
  """
  found = []
  for learner in results.learners:
    graphs = edges_of(learner)
    if graphs and any(map(_is_chosen, graphs)):
      found.append(_panel(results, facts, learner, graphs))
  return found


def _is_chosen(edges: Sequence[task_transfer.Edge]) -> bool:
  before: list[str | None] = [None, *(edge.task for edge in edges)]
  sources = {edge.source for edge in edges if edge.source is not None}
  return len(sources) > 1 and any(edge.source not in (None, previous)
                                  for edge, previous in zip(edges, before))


def _panel(results: stream_results.StreamResults, facts: Sequence[task_facts.TaskFacts],
           learner: stream_results.LearnerResults,
           graphs: Sequence[Sequence[task_transfer.Edge]]) -> panel_lib.Panel:
  edges = graphs[0]
  domains = {task.key: fact.domain for task, fact in zip(results.tasks, facts)}
  years = {task.key: task.year for task in results.tasks}
  lengths = task_transfer.chain_lengths(edges)
  counts = task_transfer.num_started(edges)
  rows = [[task, domains.get(task, stream_groups.UNKNOWN), years.get(task),
           source or task_transfer.RANDOM, domains.get(source or "", ""), lengths[task],
           counts.get(task, 0)] for source, task in edges]
  title = f"{results.title}: what {learner.label} fine-tuned each task from"
  return panel_lib.Panel(
      f"starts_{learner.label.replace('/', '_')}", title,
      [panel_lib.Column("task"), panel_lib.Column("domain"), panel_lib.Column("year"),
       panel_lib.Column("started from"), panel_lib.Column("its domain"),
       panel_lib.Column("models before", panel_lib.COUNT),
       panel_lib.Column("tasks started from it", panel_lib.COUNT)],
      rows, _notes(edges, graphs, lengths, counts, domains, learner),
      {"edges": [list(edge) for edge in edges]}, lambda: draw(edges, domains, title),
      charts.Graph(layout(edges), {task: domains.get(task, stream_groups.UNKNOWN)
                                   for task in layout(edges)},
                   [(source, task) for source, task in edges if source is not None],
                   {task: f"started from {source or task_transfer.RANDOM}"
                    for source, task in edges}))


def _notes(edges: Sequence[task_transfer.Edge],
           graphs: Sequence[Sequence[task_transfer.Edge]], lengths: Mapping[str, int],
           counts: Mapping[str, int], domains: Mapping[str, str],
           learner: stream_results.LearnerResults) -> list[str]:
  hubs = ", ".join(f"{name} ({count})" for name, count in list(counts.items())[:5])
  known = [(domains.get(source), domains.get(task)) for source, task in edges
           if source is not None and domains.get(source, stream_groups.UNKNOWN)
           != stream_groups.UNKNOWN]
  notes = [f"Largest hubs: {hubs}. Longest chain: {max(lengths.values())} models."]
  if known:
    same = sum(a == b for a, b in known)
    notes.append(f"{same} of {len(known)} starts are of the task's domain.")
  if len(graphs) > 1:
    agreed = sum(all(edge in other for other in graphs[1:]) for edge in edges)
    notes.append(f"The graph is that of {learner.runs[0].label}; all {len(graphs)} seeds agree on "
                 f"{agreed} of {len(edges)} starts.")
  return notes


def layout(edges: Sequence[task_transfer.Edge]) -> dict[str, tuple[float, float]]:
  """Places of a drawing from left to right: {name: (models before, row)}.

  A leaf has a row of its own; a source stands at the middle of the tasks started from it. Sources
  from outside the stream are roots.
  """
  nodes = list(dict.fromkeys(name for edge in edges for name in edge if name is not None))
  sources = {edge.task: edge.source for edge in edges}
  children: dict[str, list[str]] = {name: [] for name in nodes}
  for name in nodes:
    if sources.get(name) is not None:
      children[str(sources[name])].append(name)
  places: dict[str, tuple[float, float]] = {}
  num_rows = 0
  # Depth first without recursion: a chain may be as long as the stream.
  stack = [(name, 0, False) for name in reversed(nodes) if sources.get(name) is None]
  while stack:
    name, depth, is_done = stack.pop()
    if is_done:
      rows = [places[child][1] for child in children[name]]
      places[name] = (depth, (min(rows) + max(rows)) / 2)
    elif children[name]:
      stack.append((name, depth, True))
      stack += [(child, depth + 1, False) for child in reversed(children[name])]
    else:
      places[name] = (depth, float(num_rows))
      num_rows += 1
  return places


def draw(edges: Sequence[task_transfer.Edge], domains: Mapping[str, str], title: str) -> Any:
  """Draws the graph: a box for each task, an arrow from its start."""
  places = layout(edges)
  names = list(dict.fromkeys(domains.get(name, stream_groups.UNKNOWN) for name in places))
  depth, rows = (max(place[i] for place in places.values()) for i in (0, 1))
  step = 0.075 * max(map(len, places)) + 0.35
  with figures.style():
    figure, axes = figures.new_axes(title, width=max(6.0, step * (depth + 1) + 1.6),
                                    height=max(2.4, 0.34 * (rows + 1) + 0.9),
                                    legend=len(names) + 1)
    for edge in edges:
      if edge.source is not None:
        _draw_arrow(axes, places[edge.source], places[edge.task])
    for name, place in places.items():
      i = names.index(domains.get(name, stream_groups.UNKNOWN))
      axes.text(*place, name, fontsize=7, ha="center", va="center", zorder=3,
                bbox={"boxstyle": "round,pad=0.25", **_fill(i)})
    axes.set_xlim(-0.6, depth + 0.6)
    axes.set_ylim(rows + 0.6, -0.6)
    axes.set_axis_off()
    axes.legend(handles=[patches.Patch(label=name, **_fill(i)) for i, name in enumerate(names)],
                frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), title="Domain",
                borderaxespad=0)
  return figure


def _draw_arrow(axes: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
  """A line with its head in the middle, where no box hides it."""
  middle = [0.5 * (a + b) for a, b in zip(start, end)]
  axes.plot(*zip(start, end), color="#888888", linewidth=0.8, zorder=1)
  axes.annotate("", xy=middle, xytext=start, zorder=1, arrowprops={
      "arrowstyle": "-|>", "color": "#888888", "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0})


def _fill(i: int) -> dict[str, Any]:
  return {"facecolor": _FILLS[i % len(_FILLS)], **_EDGES[i // len(_FILLS) % len(_EDGES)]}
