# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A paper's whole table in one command: rows x columns x seeds, each cell an ordinary run.

A cell is the run directory WORKDIR/ROW/COLUMN/SEED, made by `suite run` in a process of its own:
the failure of one leaves the others alone, and what holds for a run holds for a cell (it goes on
where it was, it refuses another configuration). Nothing here imports TensorFlow, so that a finished
table is reported at once. Rows, columns and seeds may be added to a table, or left out, at any
time; what a cell is may not change.
"""

from __future__ import annotations

import dataclasses
import pathlib
import shlex
from typing import List, Mapping, NamedTuple, Optional, Sequence, Tuple

from absl import logging

from suite.configs import gin_files
from suite.reporting import paper_values
from suite.reporting import table_dir
from suite.reporting import tables
from suite.state import snapshots
from suite.system import processes
from suite.tables import table_cells

_OURS = "table.run."


class Result(NamedTuple):
  """The report, and a line for each cell that failed."""

  report: str
  failed: List[str]


def is_table(path: pathlib.Path) -> bool:
  """Whether a run file sets `run` here, rather than `experiment.run`."""
  try:
    with table_cells.quiet():
      return any(key.startswith(_OURS) for key in gin_files.scan([path]).parameters)
  except gin_files.ConfigError:
    return False  # An ordinary run that needs bindings, or a file that the next reader refuses.


def divide(path: pathlib.Path, params: Sequence[str]) -> Tuple[List[str], List[str]]:
  """Bindings X=Y of the command line: those of the table itself, and those of every cell."""
  macros = gin_files.scan([path]).macros
  own = [p for p in params
         if table_cells.key(p).startswith(_OURS) or table_cells.key(p) in macros]
  return own, [p for p in params if p not in own]


def run(
    *,
    runs: table_cells.Runs,
    columns: Mapping[str, table_cells.Bindings],
    measures: Mapping[str, str],
    seeds: Sequence[table_dir.Seed] = (0, 1, 2),
    seed_parameters: Sequence[str] = ("experiment.run.seed",),
    costs: Sequence[str] = (),
    paper: Optional[str] = None,
    matrices: Sequence[Tuple[str, str, str]] = (),
    workdir: str,
    title: str = "",
    jobs: int = 1,
    only: Sequence[str] = (),
    params: Sequence[str] = (),
    flags: Sequence[str] = (),
    extra_files: Sequence[str] = (),
    command: str = "",
) -> Result:
  """Runs the cells that are not finished, then reports all there are.

  Args:
    runs: by the row's label, a run file, or (run file, bindings of the row).
    columns: by label, the bindings of a column. Keys are macros or parameters of the run files,
      values are plain.
    seeds: each cell is run with every one of them; numbers, or names as of sequences.
    seed_parameters: what a seed is bound to.
    measures, costs, paper, matrices: what the report shows, see `table_dir.TableDir`.
    workdir: where the cells go. title: the table's name.
    jobs: cells that run at the same time.
    only: ROW, ROW/COLUMN or ROW/COLUMN/SEED, with * and ?: the part to run; (): all.
    params: bindings X=Y for every cell. extra_files: gin files that every cell reads after its own.
    flags: further flags of `suite run`, for every cell.
    command: what the user typed.
  """
  table = table_dir.TableDir(
      pathlib.Path(workdir), title, command, list(runs), list(columns), list(seeds), dict(measures),
      list(costs), paper, [list(names) for names in matrices])
  _check(table)
  cells = table_cells.plan(table, runs, columns, seed_parameters, params, extra_files)
  _check_params(params, cells)
  chosen = table_cells.choose(cells, only)
  settings = table_cells.settings(chosen)
  waiting = [cell for cell in chosen if not cell.is_finished]
  logging.info("%d of %d cells are finished, %d are to run.",
               sum(cell.is_finished for cell in cells), len(cells), len(waiting))
  if waiting:
    table_cells.check_parameters(waiting)
  _claim(table, settings)
  outcomes = processes.run_all([cell.job(flags) for cell in waiting], jobs)
  report = tables.report([workdir])
  _write(table.folder / "report.txt", report)
  return Result(report, [f"{o.job.name}: {o.reason} ({o.job.log})" for o in outcomes
                         if o.state == processes.FAILED])


def _check(table: table_dir.TableDir) -> None:
  """The folder is ours or empty; the paper's values are there."""
  folder = table.folder
  if folder.exists() and any(folder.iterdir()) and not table_dir.is_table(folder):
    raise gin_files.ConfigError(
        f"{folder} is not empty and holds no table; give another --workdir.")
  for name in filter(None, [table.paper, *(names[-1] for names in table.matrices)]):
    if name not in paper_values.names():
      raise gin_files.ConfigError(f"Unknown paper values {name!r}. "
                                  f"{gin_files.nearest(name, paper_values.names())}")


def _check_params(params: Sequence[str], cells: Sequence[table_cells.Cell]) -> None:
  own = {table_cells.key(param) for cell in cells for param in cell.own}
  fixed = sorted(own & {table_cells.key(param) for param in params})
  if fixed:
    raise gin_files.ConfigError(
        f"--gin_param sets {', '.join(fixed)}, which the table sets for its cells. Run a part of "
        "it with --only, or change table.run.runs, .columns or .seeds.")


def _claim(table: table_dir.TableDir, settings: Mapping[pathlib.Path, str]) -> None:
  """Makes the folders theirs; the table's own file comes first, it says whose the others are."""
  before = table_dir.read(table.folder).command if table_dir.is_table(table.folder) else ""
  _write(table.folder / table_dir.FILE, dataclasses.replace(
      table, command=_of_all(before or table.command)).text())
  for path, text in settings.items():
    _write(path, text)


def _of_all(command: str) -> str:
  """The command without --only: what makes all cells, when some were made by several commands."""
  words = shlex.split(command)
  return shlex.join(
      word for i, word in enumerate(words)
      if not word.startswith("--only=") and "--only" not in words[max(0, i - 1):i + 1])


def _write(path: pathlib.Path, text: str) -> None:
  """Leaves a file that holds this text already as it is."""
  if not path.exists() or path.read_text() != text:
    snapshots.save_text(path, text)
