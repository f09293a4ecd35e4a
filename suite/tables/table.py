# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A paper's whole table in one command: rows x columns x seeds, each cell an ordinary run.

A cell is the run directory WORKDIR/ROW/COLUMN/SEED, made by `suite run` in a separate process: a
failed cell does not affect the others, and a cell behaves like a run (it resumes, and it refuses
another configuration). This module does not import TensorFlow, so a finished table is reported
quickly. Rows, columns and seeds may be added or removed at any time; the configuration of a cell
may not change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
import dataclasses
import pathlib
import shlex
from types import MappingProxyType
from typing import Any, NamedTuple

from absl import logging

from suite.configs import gin_files
from suite.configs import methods
from suite.reporting import paper_values
from suite.reporting import table_dir
from suite.reporting import tables
from suite.state import snapshots
from suite.system import folders
from suite.system import processes
from suite.tables import last_run
from suite.tables import table_cells

_OURS = "table.run."


class TableResult(NamedTuple):
  """The report, and a line for each cell that failed or that another process runs."""

  report: str
  failed: list[str]
  elsewhere: list[str]


def is_table(path: pathlib.Path) -> bool:
  """Whether a run file configures `table.run` instead of `experiment.run`."""
  try:
    with table_cells.without_warnings():
      return any(key.startswith(_OURS) for key in gin_files.scan([path]).parameters)
  except gin_files.ConfigError:
    return False  # An ordinary run with required bindings, or an invalid file, reported later.


def divide(path: pathlib.Path, params: Sequence[str]) -> tuple[list[str], list[str]]:
  """Divides bindings X=Y of the command line into those of the table and those of every cell."""
  macros = gin_files.scan([path]).macros
  own = [p for p in params
         if table_cells.key(p).startswith(_OURS) or table_cells.key(p) in macros]
  return own, [p for p in params if p not in own]


def run(
    *,
    runs: table_cells.Runs,
    columns: table_cells.Runs,
    measures: Mapping[str, str] = MappingProxyType({}),
    seeds: Sequence[table_dir.Seed] = (0, 1, 2),
    seed_parameters: Sequence[str] = ("experiment.run.seed",),
    costs: Sequence[str] = (),
    paper: str | None = None,
    matrices: Sequence[tuple[str, str, str]] = (),
    notes: Sequence[str] = (),
    exceptions: table_cells.Runs = MappingProxyType({}),
    protocols: Mapping[str, str] = MappingProxyType({}),
    scores: Mapping[str, str] = MappingProxyType({}),
    last: table_cells.Part | None = None,
    workdir: str,
    title: str = "",
    jobs: int = 1,
    only: Sequence[str] = (),
    params: Sequence[str] = (),
    flags: Sequence[str] = (),
    extra_files: Sequence[str] = (),
    command: str = "",
    instead: Callable[[Sequence[table_cells.Cell], Sequence[table_cells.Cell]], Any] | None = None,
) -> Any:
  """Runs the cells that are not finished, then reports all cells.

  Args:
    runs: row label -> a run file, bindings of the row, or (run file, bindings). Keys of bindings
      are macros or parameters of the run files, values are plain, or references as text ("%NAME",
      "@module.function"). Further names after the run file are gin files, as of --gin_file.
    columns: column label -> the same. Each cell has one run file: its row's, or its column's.
    exceptions: ROW/COLUMN -> the same, for single cells; their run file goes before.
    protocols: column label -> protocol, where the rows are methods of docs/methods.md: a method
      that is refused under the protocol has no cell there.
    scores: column label -> value of its summaries, to rank the rows by: see
      `reporting.leaderboard`.
    last: a run over all that the cells left, made when they are finished, in WORKDIR/last; in its
      bindings, {workdir} is the table's.
    seeds: seeds of each cell: numbers, or names, for example of sequences.
    seed_parameters: parameters that the seed is bound to.
    measures, costs, paper, matrices, notes: content of the report, see `table_dir.TableDir`.
    workdir: directory of the cells.
    title: name of the table.
    jobs: number of cells that run at the same time.
    only: ROW, ROW/COLUMN or ROW/COLUMN/SEED, with * and ?: the cells to run; (): all.
    params: bindings X=Y for every cell.
    extra_files: gin files of every cell, as of --gin_file.
    flags: further flags of `suite run`, for every cell.
    command: the command line that the user entered.
    instead: instead(chosen cells, those of them that are to run) is called once all is checked, and
      what it returns is returned: nothing runs and nothing is written.

  Returns:
    a `TableResult`.
  """
  table = table_dir.TableDir(
      pathlib.Path(workdir), title, command, list(runs), list(columns), list(seeds), dict(measures),
      list(costs), paper, [list(names) for names in matrices], list(notes),
      refused(runs, columns, protocols), dict(scores))
  if last is not None:
    last_run.check(last)
    table = dataclasses.replace(table, last=last_run.folder_name(table.num_cells))
  _check(table)
  _check_names(table, exceptions)
  cells = table_cells.plan(table, runs, columns, seed_parameters, params, extra_files, exceptions)
  _check_params(params, cells)
  chosen = table_cells.choose(cells, only)
  settings = table_cells.settings(chosen)
  waiting = [cell for cell in chosen if not cell.is_finished]
  logging.info("%d of %d cells are finished, %d are to run.",
               sum(cell.is_finished for cell in cells), len(cells), len(waiting))
  if instead is not None:
    return instead(chosen, waiting)
  if waiting:
    table_cells.check_parameters(waiting)
  _claim(table, settings)
  outcomes = processes.run_all([cell.job(flags) for cell in waiting], jobs)
  if last is not None and table.num_finished() == table.num_cells:
    job = last_run.job(table, last, flags, extra_files)
    outcomes += processes.run_all([] if job.is_finished and job.is_finished() else [job], 1)
  report = tables.report([workdir])
  _write(table.folder / "report.txt", report)
  return TableResult(
      report,
      [f"{o.job.name}: {o.reason} ({o.job.log})" for o in outcomes if o.state == processes.FAILED],
      [f"{o.job.name} ({o.job.log})" for o in outcomes
       if o.state == processes.ELSEWHERE and not (o.job.is_finished and o.job.is_finished())])


def refused(rows: Iterable[str], columns: Iterable[str], protocols: Mapping[str, str]
            ) -> dict[str, str]:
  """Returns ROW/COLUMN -> the message of those that the table of methods refuses."""
  known = {method.name: method for method in methods.load()}
  unknown = [*(f"column {c!r}" for c in protocols if c not in columns),
             *(f"protocol {p!r}" for p in protocols.values() if p not in methods.PROTOCOLS),
             *(f"method {row!r}" for row in rows if protocols and row not in known)]
  if unknown:
    raise gin_files.ConfigError(
        f"table.run.protocols: unknown {', '.join(unknown)}. It takes the table's columns, "
        f"protocols ({', '.join(methods.PROTOCOLS)}), and rows named as in docs/methods.md.")
  cells = {f"{row}/{column}": known[row].cells[protocol]
           for row in rows for column, protocol in protocols.items()}
  return {name: cell.refusal for name, cell in cells.items() if cell.refusal}


def _check(table: table_dir.TableDir) -> None:
  """Checks that the folder is a table's or empty, and that the paper's values exist."""
  folder = table.folder
  folders.check(folder, "--workdir")
  if folder.exists() and any(folder.iterdir()) and not table_dir.is_table(folder):
    raise gin_files.ConfigError(
        f"{folder} is not empty and holds no table; give another --workdir.")
  for name in filter(None, [table.paper, *(names[-1] for names in table.matrices)]):
    if name not in paper_values.names():
      raise gin_files.ConfigError(f"Unknown paper values {name!r}. "
                                  f"{gin_files.nearest(name, paper_values.names())}")


def _check_names(table: table_dir.TableDir, exceptions: Iterable[str]) -> None:
  """Checks the cells of exceptions and the columns of scores."""
  if table.last and "last" in map(table_dir.folder_name, table.rows):
    raise gin_files.ConfigError("A table with table.run.last keeps that run in the folder last, "
                                "which is that of a row, too; give the row another label.")
  cells = [f"{row}/{column}" for row, column in table.pairs()]
  for parameter, given, what, allowed in (
      ("exceptions", exceptions, "ROW/COLUMN of the cells", cells),
      ("scores", table.scores, "the table's columns", list(table.columns))):
    unknown = [name for name in given if name not in allowed]
    if unknown:
      raise gin_files.ConfigError(f"table.run.{parameter}: unknown {', '.join(unknown)}. It takes "
                                  f"{what}: {', '.join(allowed)}.")


def _check_params(params: Sequence[str], cells: Sequence[table_cells.Cell]) -> None:
  own = {table_cells.key(param) for cell in cells for param in cell.own}
  fixed = sorted(own & {table_cells.key(param) for param in params})
  if fixed:
    raise gin_files.ConfigError(
        f"--gin_param sets {', '.join(fixed)}, which the table sets for its cells. Run a part of "
        "it with --only, or change table.run.runs, .columns or .seeds.")


def _claim(table: table_dir.TableDir, settings: Mapping[pathlib.Path, str]) -> None:
  """Writes the description of the table, then the settings of its cells."""
  folders.make(table.folder, "--workdir")
  before = table_dir.read(table.folder).command if table_dir.is_table(table.folder) else ""
  _write(table.folder / table_dir.FILE, dataclasses.replace(
      table, command=_of_all(before or table.command)).text())
  for path, text in settings.items():
    _write(path, text)


def _of_all(command: str) -> str:
  """The command without --only, which makes all cells."""
  words = shlex.split(command)
  return shlex.join(
      word for i, word in enumerate(words)
      if not word.startswith("--only=") and "--only" not in words[max(0, i - 1):i + 1])


def _write(path: pathlib.Path, text: str) -> None:
  """Leaves a file that holds this text already as it is."""
  if not path.exists() or path.read_text() != text:
    snapshots.save_text(path, text)
