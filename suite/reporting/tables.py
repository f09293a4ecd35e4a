# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Tables of finished and unfinished runs, for a terminal and in Markdown, made from records."""

from __future__ import annotations

import os
from typing import Any, Iterable, Mapping, Sequence

from suite.metrics import task_stream
from suite.reporting import paper_table
from suite.reporting import quantities
from suite.reporting import runs as runs_lib
from suite.reporting import table_dir
from suite.reporting import text_table

# The learner whose errors regret is measured against (NEVIS'22, section 4).
INDEPENDENT = "indep"
_WIDEST = 40


def report(dirs: Iterable[str | os.PathLike]) -> str:
  """All runs in the directories as text, one table a protocol and stream; a paper's table whole."""
  return "\n".join(table.text() for table in load(dirs))


def markdown(dirs: Iterable[str | os.PathLike]) -> str:
  """The same in Markdown."""
  return "\n".join(table.markdown() for table in load(dirs))


def load(dirs: Iterable[str | os.PathLike]) -> list[text_table.Table]:
  """The tables of directories: whole ones of a paper first, then those of single runs."""
  dirs = list(dirs)
  whole = [d for d in dirs if table_dir.is_table(d)]
  single = [d for d in dirs if d not in whole]
  found = [table for d in whole for table in paper_table.build(d)]
  return found + (build(runs_lib.load(single)) if single else [])


def build(runs: Sequence[runs_lib.Run]) -> list[text_table.Table]:
  """One table for each protocol and stream, since only their runs can stand side by side."""
  groups: dict[tuple[str, str], list[runs_lib.Run]] = {}
  for run in runs:
    groups.setdefault((run.protocol, str(run.summary.get("stream", ""))), []).append(run)
  return [nevis(group) if protocol == "nevis" else generic(group)
          for (protocol, _), group in groups.items()]


def nevis(runs: Sequence[runs_lib.Run]) -> text_table.Table:
  """Rows are tasks with each run's test error, then what the whole stream gives."""
  about, errors = _tested(runs)
  rows = [
      [str(r["task"]), str(r.get("occurrence", 1)), str(r.get("year", "")), str(r.get("role", "")),
       str(r.get("metric", "error")), *(quantities.score(by_run.get(key)) for by_run in errors)]
      for key, r in about.items()]
  best = {(i, 5 + j) for i, key in enumerate(about) for j in _lowest([e.get(key) for e in errors])}
  headline = [run.summary.get("mean_error") for run in runs]
  best |= {(len(rows), 5 + j) for j in _lowest(headline)}
  rows += [
      _footer("mean error, meta-test tasks", [quantities.score(value) for value in headline]),
      _footer("mean error, all tasks so far", [quantities.score(_mean(e)) for e in errors]),
      *_regret(runs, about, errors),
      _footer("forward transfer", [
          quantities.score(run.summary.get("forward_transfer")) for run in runs]),
      _footer("cumulative FLOPs", [quantities.si(run.last("flops"), "FLOP") for run in runs]),
      _footer("cumulative MACs", [quantities.si(run.last("macs"), "MAC") for run in runs]),
      _footer("time", [quantities.duration(run.last("seconds")) for run in runs]),
  ]
  return text_table.Table(
      title=f"{_title(runs[0])}: test error by task",
      header=["task", "occurrence", "year", "role", "metric", *(run.label for run in runs)],
      rows=rows, num_left=5, best=frozenset(best), notes=_notes(runs))


def generic(runs: Sequence[runs_lib.Run]) -> text_table.Table:
  """Rows are the values of the summaries, by name; columns are runs."""
  flat = [_flatten(run.summary) for run in runs]
  names = dict.fromkeys(name for values in flat for name in values)
  rows = [[name, *(quantities.by_name(name, values[name]) if name in values else quantities.NOTHING
                   for values in flat)] for name in names]
  # A long text would make every column as wide.
  long = [row for row in rows if max(map(len, row[1:])) > _WIDEST]
  notes = []
  for name, *cells in long:
    if len(set(cells)) == 1:
      notes.append(f"{name}: {cells[0]}.")
    else:
      notes += [f"{name} of {run.label}: {cell}." for run, cell in zip(runs, cells)]
  return text_table.Table(title=_title(runs[0]), header=["", *(run.label for run in runs)],
               rows=[row for row in rows if row not in long], notes=[*notes, *_notes(runs)])


def _tested(runs: Sequence[runs_lib.Run]
            ) -> tuple[dict[str, Mapping[str, Any]], list[dict[str, float | None]]]:
  """The first record of every tested task in the order of the stream; each run's errors by task."""
  about: dict[str, Mapping[str, Any]] = {}
  errors = []
  for run in runs:
    tested = {r["task_key"]: r for r in run.records if r.get("kind") == "predict"}
    for key, record in tested.items():
      about.setdefault(key, record)
    errors.append({key: record.get("error") for key, record in tested.items()})
  return dict(sorted(about.items(), key=lambda item: item[1].get("event", 0))), errors


def _regret(runs: Sequence[runs_lib.Run], tasks: Iterable[str],
            errors: Sequence[Mapping[str, Any]]) -> list[list[str]]:
  """A row with each run's cumulative error minus that of Independent, if it is among the runs.

  Left open for a run that has not been tested on every task that Independent was tested on.
  """
  if INDEPENDENT not in [run.label for run in runs]:
    return []
  tasks = list(tasks)
  reference = errors[[run.label for run in runs].index(INDEPENDENT)]
  cells = []
  for found in errors:
    known = all(e.get(task) is not None for e in (found, reference) for task in tasks)
    regret = None
    if known and tasks:
      regret = float(task_stream.regret(
          [found[t] for t in tasks], [reference[t] for t in tasks])[-1])
    cells.append(quantities.score(regret))
  return [_footer(f"regret against {INDEPENDENT}", cells)]


def _lowest(values: Sequence[float | None]) -> list[int]:
  """Where the smallest value stands; nowhere unless there are two to compare."""
  known = [value for value in values if value is not None]
  return [i for i, value in enumerate(values) if value == min(known)] if len(known) > 1 else []


def _mean(errors: Mapping[str, float | None]) -> float | None:
  """Plain mean; unknown if there is nothing or an unknown part."""
  values = list(errors.values())
  known = [value for value in values if value is not None]
  return sum(known) / len(known) if known and len(known) == len(values) else None


def _footer(name: str, cells: Sequence[str]) -> list[str]:
  return [name, "", "", "", "", *cells]


def _notes(runs: Sequence[runs_lib.Run]) -> list[str]:
  notes = []
  for run in runs:
    headline = run.summary.get("headline", "ok")
    if not run.is_finished:
      notes.append(f"{run.label}: not finished, {len(run.records)} events so far; run the same "
                   "command again to go on.")
    elif headline != "ok":
      notes.append(f"{run.label}: {headline}.")
  return notes


def _title(run: runs_lib.Run) -> str:
  stream = run.summary.get("stream")
  return f"{run.protocol} ({stream})" if stream else run.protocol


def _flatten(summary: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
  """Nested names joined by dots; a matrix is named by its shape, since no cell can hold it."""
  flat: dict[str, Any] = {}
  for name, value in summary.items():
    if not prefix and name in ("protocol", "run", "stream", "headline"):
      continue
    if isinstance(value, Mapping):
      flat.update(_flatten(value, f"{prefix}{name}."))
    elif isinstance(value, list) and value and isinstance(value[0], list):
      flat[f"{prefix}{name}"] = f"[{len(value)} x {len(value[0])}]"
    else:
      flat[f"{prefix}{name}"] = value
  return flat
