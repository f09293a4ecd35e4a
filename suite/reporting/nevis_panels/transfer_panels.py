# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Transfer between tasks: matrices (figure 3, appendix J), starts, forward transfer.

By kNN: the validation errors by which FT-d and FT-s choose, which every run of theirs has in its
records. By training: test errors of tasks that were fine-tuned from another task's Independent
model, against Independent; `gin/runs/nevis/transfer.gin` makes such runs for chosen tasks.

Starts: which task each task was fine-tuned from, as a graph colored by domain (figures 18 and 19).
Forward transfer: on the repeated tasks, 9 of the full stream (figure 11, equation 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from suite.metrics import stream_groups
from suite.metrics import task_stream
from suite.reporting import panels
from suite.reporting import paper_values
from suite.reporting.nevis_panels import stream_results
from suite.state import weight_store

_ADVANTAGE, _SAVED = "Advantage over the mean candidate, %", "Error saved, %"
PAPER = "nevis_forward_transfer"
MEAN_ROW = "mean"


def transfer_matrices(results: stream_results.StreamResults) -> list[panels.Panel]:
  """Builds a panel of kNN errors for each learner that has some, and one of trained transfer."""
  by_knn = [panel for learner in results.learners
            if (panel := _by_knn(results, learner)) is not None]
  pairs = trained_pairs(results)
  cells = {(pair.source, pair.task): [p for p in pairs if p[:2] == pair[:2]] for pair in pairs}
  if len(cells) == len({source for source, _ in cells}):
    return by_knn  # No source has several later tasks: the second task of FT-prev is no matrix.
  keys = [task.key for task in results.tasks]
  rows = []
  for (source, task), found in sorted(
      cells.items(), key=lambda item: (keys.index(item[0][0]), keys.index(item[0][1]))):
    gain = stream_groups.spread([p.gain for p in found])
    rows.append([source, task, len(found), float(np.mean([p.error for p in found])),
                 found[0].independent, panels.plain(gain.mean), panels.plain(gain.deviation)])
  title = f"{results.title}: error saved by fine-tuning from a task's Independent model"
  matrix = task_stream.as_matrix(pairs, keys)
  sources, later = ([i for i in range(len(keys)) if not np.isnan(side[i]).all()]
                    for side in (matrix, matrix.T))
  shown = matrix[np.ix_(sources, later)]
  names = [keys[i] for i in sources], [keys[i] for i in later]
  notes = [] if any(p.gain is not None for p in pairs) else [
      "No single Independent belongs to these runs, so no gain is known."]
  return [*by_knn, panels.Panel(
      "transfer_trained", title,
      [panels.Column("source"), panels.Column("task"),
       panels.Column("runs", panels.COUNT), panels.Column("error", panels.PERCENT),
       panels.Column("Independent", panels.PERCENT),
       panels.Column("gain", panels.PERCENT),
       panels.Column("deviation", panels.PERCENT)], rows, notes,
      {"sources": names[0], "tasks": names[1], "gain": panels.plain_list(shown)},
      _chart(shown, *names, _SAVED) if sources else None)]


def knn_errors(learner: stream_results.LearnerResults) -> tuple[list[str], np.ndarray] | None:
  """Names [N] and kNN errors [N, N] as means over seeds; None if a learner has none.

  Seeds with other tasks than the first are left out, as unfinished ones are.
  """
  found = [task_stream.knn_errors(run.records, weight_store.safe_name) for run in learner.runs]
  found = [(names, errors) for names, errors in found if not np.isnan(errors).all()]
  if not found:
    return None
  names = max(found, key=lambda pair: len(pair[0]))[0]
  alike = [errors for others, errors in found if others == names]
  return names, stream_groups.seed_mean(np.stack(alike))


def _by_knn(results: stream_results.StreamResults, learner: stream_results.LearnerResults
            ) -> panels.Panel | None:
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
  gains = task_stream.advantage(errors)
  return panels.Panel(
      f"transfer_knn_{learner.label.replace('/', '_')}", title,
      [panels.Column("task"), panels.Column("best source"),
       panels.Column("candidates", panels.COUNT),
       panels.Column("lowest error", panels.PERCENT),
       panels.Column("mean", panels.PERCENT), panels.Column("highest", panels.PERCENT)],
      rows, ["Validation errors of kNN; the whole matrix is in the figure, where blue is a source "
             "with a lower error than the mean of the task's candidates."],
      {"names": names, "knn_error": panels.plain_list(errors)},
      _chart(gains, names, names, _ADVANTAGE))


def trained_pairs(results: stream_results.StreamResults) -> list[task_stream.TrainedPair]:
  """The cells of all runs on the stream; errors of Independent are means over its seeds."""
  found = []
  for learner in results.learners:
    reference, independent = results.reference_of(learner), {}
    if reference is not None:
      mean = stream_groups.seed_mean(reference.errors)
      independent = {t.key: panels.plain(e) for t, e in zip(results.tasks, mean)}
    found += task_stream.trained_pairs(
        [run.records for run in learner.runs], independent, weight_store.safe_name)
  return found


def _chart(gains: np.ndarray, sources: Sequence[str], later: Sequence[str], label: str
           ) -> panels.Matrices:
  return panels.Matrices({label: panels.plain_list(100 * gains)}, {label: later},
                         {label: sources}, "Later task", "Source", label, is_diverging=True)


def edges_of(learner: stream_results.LearnerResults) -> list[list[task_stream.Edge]]:
  """The starts of each seed's run."""
  return [task_stream.start_edges(run.records, weight_store.safe_name) for run in learner.runs]


def starts(results: stream_results.StreamResults, facts: Sequence[stream_results.TaskFacts]
          ) -> list[panels.Panel]:
  """Builds a panel for each learner that chooses its starts.

  Learners that start all tasks from random weights, from one model, or from the task before have
  none.
  """
  found = []
  for learner in results.learners:
    graphs = edges_of(learner)
    if graphs and any(map(_is_chosen, graphs)):
      found.append(_starts_panel(results, facts, learner, graphs))
  return found


def _is_chosen(edges: Sequence[task_stream.Edge]) -> bool:
  before: list[str | None] = [None, *(edge.task for edge in edges)]
  sources = {edge.source for edge in edges if edge.source is not None}
  return len(sources) > 1 and any(edge.source not in (None, previous)
                                  for edge, previous in zip(edges, before))


def _starts_panel(results: stream_results.StreamResults, facts: Sequence[stream_results.TaskFacts],
           learner: stream_results.LearnerResults,
           graphs: Sequence[Sequence[task_stream.Edge]]) -> panels.Panel:
  edges = graphs[0]
  domains = {task.key: fact.domain for task, fact in zip(results.tasks, facts)}
  years = {task.key: task.year for task in results.tasks}
  lengths = task_stream.chain_lengths(edges)
  counts = task_stream.num_started(edges)
  rows = [[task, domains.get(task, stream_groups.UNKNOWN), years.get(task),
           source or task_stream.RANDOM, domains.get(source or "", ""), lengths[task],
           counts.get(task, 0)] for source, task in edges]
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
  title = f"{results.title}: what {learner.label} fine-tuned each task from"
  return panels.Panel(
      f"starts_{learner.label.replace('/', '_')}", title,
      [panels.Column("task"), panels.Column("domain"), panels.Column("year"),
       panels.Column("started from"), panels.Column("its domain"),
       panels.Column("models before", panels.COUNT),
       panels.Column("tasks started from it", panels.COUNT)],
      rows, notes,
      {"edges": [list(edge) for edge in edges]},
      panels.Graph(layout(edges), {task: domains.get(task, stream_groups.UNKNOWN)
                                   for task in layout(edges)},
                   [(source, task) for source, task in edges if source is not None],
                   {task: f"started from {source or task_stream.RANDOM}"
                    for source, task in edges}))


def layout(edges: Sequence[task_stream.Edge]) -> dict[str, tuple[float, float]]:
  """Places of a drawing from left to right: {name: (models before, row)}.

  Each leaf has its own row; a source is at the middle of the tasks started from it. Sources from
  outside the stream are roots.
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


class Transfer(NamedTuple):
  """Forward transfer of one learner on one repeated task, or its mean over them."""

  task: str
  label: str
  value: stream_groups.Spread


def forward_transfer(results: stream_results.StreamResults) -> list[Transfer]:
  """Equation 5 by repeated task and learner, then the means over all repeated tasks.

  The mean exists only if every repeated task has a value.
  """
  repeated = [task.key for i, task in enumerate(results.tasks)
              if any(other.name == task.name for other in results.tasks[:i])]
  values = {}
  for learner in results.learners:
    by_seed = [task_stream.forward_transfer_by_task(run.records) for run in learner.runs]
    for key in repeated:
      values[key, learner.label] = [found.get(key) for found in by_seed]
    values[MEAN_ROW, learner.label] = [
        task_stream.mean_forward_transfer(found) if set(repeated) <= set(found) else None
        for found in by_seed]
  return [Transfer(key, learner.label, stream_groups.spread(values[key, learner.label]))
          for key in [*repeated, MEAN_ROW] for learner in results.learners
          if repeated and learner.runs]


def repeated_tasks(results: stream_results.StreamResults) -> list[panels.Panel]:
  """Builds the panel; [] if no task is repeated, or if no learner has learning curves."""
  found = forward_transfer(results)
  if not any(t.value.num for t in found):
    return []
  silent = sorted({t.label for t in found}
                  - {t.label for t in found if t.value.num})
  notes = [f"Without learning curves in the records: {', '.join(silent)}."] if silent else []
  title = f"{results.title}: forward transfer on repeated tasks"
  sources, lines = paper_values.table(PAPER)
  methods = {learner.label: learner.method for learner in results.learners}
  means = {line["learner"]: float(line["mean"]) for line in lines}
  return [panels.Panel(
      "forward_transfer", title,
      [panels.Column("task"), panels.Column("learner"),
       panels.Column("seeds", panels.COUNT),
       panels.Column("forward transfer", panels.PERCENT),
       panels.Column("deviation", panels.PERCENT), panels.Column("paper", panels.PERCENT)],
      [[t.task, t.label, t.value.num, panels.plain(t.value.mean),
        panels.plain(t.value.deviation),
        means.get(methods[t.label]) if t.task == MEAN_ROW else None] for t in found],
      [*(f"Paper: {source}" for source in sources), *notes, *results.notes],
      chart=panels.Plot("Task", "Forward transfer", [panels.PlotSeries(
          label, [t.task for t in own], [panels.percent(t.value.mean) for t in own], (),
          [panels.percent(t.value.deviation) for t in own], panels.POINTS)
          for label in dict.fromkeys(t.label for t in found)
          for own in [[t for t in found if t.label == label]]
          if any(t.value.num for t in own)], y_unit="%"))]
