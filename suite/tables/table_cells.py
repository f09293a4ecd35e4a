# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The cells of a table: planning, validation, and the command of each cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import concurrent.futures
import contextlib
import fnmatch
import multiprocessing
import pathlib
import sys
from typing import Any, NamedTuple, Union
import warnings

from absl import logging

from suite.configs import gin_files
from suite.configs import gin_parse
from suite.configs import unchanged
from suite.reporting import table_dir
from suite.system import processes

COMMAND = (sys.executable, "-m", "suite", "run")
SETTINGS = "settings.txt"

Bindings = Mapping[str, Any]
# What a row or column adds to its cells: a run file, bindings, or (run file, gin files, bindings).
Part = Union[str, Bindings, tuple[Any, ...]]
Runs = Mapping[str, Part]


class Cell(NamedTuple):
  """One cell of the table, a run.

  Attributes:
    row, column, seed: position in the table.
    run: name of the run file, as in the table.
    own: bindings X=Y by the table, the row's first; the last `num_seed` of them are the seed's.
    given: bindings by the user.
    extra_files: gin files by the table, then by the user.
    folder: its --workdir.
  """

  row: str
  column: str
  seed: table_dir.Seed
  run: str
  own: tuple[str, ...]
  num_seed: int
  given: tuple[str, ...]
  extra_files: tuple[str, ...]
  folder: pathlib.Path

  @property
  def name(self) -> str:
    """Name in the form that --only takes."""
    return "/".join((*map(table_dir.folder_name, (self.row, self.column)), str(self.seed)))

  @property
  def params(self) -> tuple[str, ...]:
    return (*self.own, *self.given)

  @property
  def is_finished(self) -> bool:
    return table_dir.is_finished(self.folder)

  def files(self) -> list[pathlib.Path]:
    return [gin_files.find(self.run)[1],
            *(gin_files.find_file(extra, "--gin_file") for extra in self.extra_files)]

  def job(self, flags: Sequence[str]) -> processes.Job:
    """The process that runs the cell; `flags` are further ones of `suite run`."""
    command = [*COMMAND, self.run, "--workdir", str(self.folder), *flags]
    for extra in self.extra_files:
      command += ["--gin_file", extra]
    for param in self.params:
      command += ["--gin_param", param]
    return processes.Job(self.name, command, self.folder.with_name(f"{self.seed}.log"),
                              lambda: self.is_finished)


def plan(table: table_dir.TableDir, runs: Runs, columns: Runs,
         seed_parameters: Sequence[str], given: Sequence[str], extra_files: Sequence[str],
         exceptions: Runs | None = None) -> list[Cell]:
  """Lists all cells, ordered by seed, so a table of one seed is complete first.

  `exceptions` are parts of single cells by ROW/COLUMN, whose run file is that of the cell.
  """
  for what, labels in (("rows", table.rows), ("columns", table.columns)):
    folders = [table_dir.folder_name(label) for label in labels]
    if not folders or len(set(folders)) < len(folders) or not all(f.strip(".") for f in folders):
      raise gin_files.ConfigError(
          f"The table's {what} are {list(labels)}, which make the folders {folders}. There must be "
          "at least one, each with a different folder: choose other labels.")
  cells = []
  for seed in table.seeds:
    seed_bindings = dict.fromkeys(seed_parameters, seed)
    for row, column in table.pairs():
      run, files, bindings = _joined(row, column, runs[row], columns[column],
                                     (exceptions or {}).get(f"{row}/{column}", {}))
      own = tuple(f"{key}={_written(value)}" for part in (*bindings, seed_bindings)
                  for key, value in part.items())
      cells.append(Cell(row, column, seed, run, own, len(seed_bindings), tuple(given),
                        (*files, *extra_files), table.cell(row, column, seed)))
  return cells


def _joined(row: str, column: str, *parts: Part) -> tuple[str, list[str], list[Bindings]]:
  """Returns (run file, gin files, bindings of each part) of a cell: of its row, column, own."""
  divisions = [divided(part) for part in parts]
  of_row, of_column, own = [run for run, _, _ in divisions]
  if own is None and (of_row is None) == (of_column is None):
    raise gin_files.ConfigError(
        f"Row {row!r} has the run file {of_row} and column {column!r} the run file {of_column}. "
        "A cell has one: give it to the rows in table.run.runs or to the columns in "
        "table.run.columns.")
  return (str(own or of_row or of_column), [file for _, files, _ in divisions for file in files],
          [bindings for _, _, bindings in divisions])


def divided(part: Part) -> tuple[str | None, list[str], Bindings]:
  """Returns (run file or None, gin files, bindings) of a part; the later of two bindings counts."""
  named: list[str] = []
  bindings: dict[str, Any] = {}
  for one in part if isinstance(part, tuple) else (part,):
    if isinstance(one, str):
      named.append(one)
    elif isinstance(one, Mapping):
      bindings.update(one)
    else:  # A part within the part, such as a macro for a run file with its gin files.
      run, files, further = divided(one)
      named += [name for name in (run, *files) if name is not None]
      bindings.update(further)
  return (named[0] if named else None), named[1:], bindings


def _written(value: Any) -> str:
  """A value as gin reads it; texts such as "%NAME" and "@module.function" are references."""
  return value if isinstance(value, str) and value[:1] in ("@", "%") else repr(value)


def choose(cells: Sequence[Cell], only: Sequence[str]) -> list[Cell]:
  """Chooses cells that match one of the patterns ROW[/COLUMN[/SEED]]; all without a pattern."""
  chosen: set[str] = set()
  for pattern in only:
    fitting = {cell.name for cell in cells if _fits(cell, pattern)}
    if not fitting:
      known = {"rows": (c.row for c in cells), "columns": (c.column for c in cells),
               "seeds": (str(c.seed) for c in cells)}
      raise gin_files.ConfigError(
          f"--only {pattern!r} fits no cell. It takes ROW, ROW/COLUMN or ROW/COLUMN/SEED, with * "
          "and ? as in a shell; " + "; ".join(
              f"{what}: {', '.join(dict.fromkeys(labels))}" for what, labels in known.items()))
    chosen |= fitting
  return [cell for cell in cells if not only or cell.name in chosen]


def _fits(cell: Cell, pattern: str) -> bool:
  parts, wanted = (cell.row, cell.column, str(cell.seed)), pattern.split("/")
  return len(wanted) <= len(parts) and all(
      fnmatch.fnmatchcase(part, w) or fnmatch.fnmatchcase(table_dir.folder_name(part), w)
      for part, w in zip(parts, wanted))


def key(param: str) -> str:
  """Returns X of a binding X=Y."""
  return param.partition("=")[0].strip()


def settings(cells: Sequence[Cell]) -> dict[pathlib.Path, str]:
  """Computes the settings of all cells, as text by the file to write them to; finds most errors.

  The cells of a row and column differ in their seed only. Their common settings, read from the gin
  files, are saved beside them, so other settings are refused even if all cells are finished.
  """
  found = {cell.folder.with_name(SETTINGS): _settings(cell) for cell in _one_of_each(cells)}
  for path, text in found.items():
    unchanged.check(path, text, "runs")
  return found


def _one_of_each(cells: Sequence[Cell]) -> list[Cell]:
  """Returns the first cell of every row and column."""
  first: dict[tuple[str, str], Cell] = {}
  for cell in cells:
    first.setdefault((cell.row, cell.column), cell)
  return list(first.values())


def _settings(cell: Cell) -> str:
  """All settings of a cell's gin files and bindings except the seed, one line each."""
  with error_context(cell), without_warnings():
    found = gin_files.scan(cell.files(), cell.params)
  seeds = {key(param) for param in cell.own[len(cell.own) - cell.num_seed:]}
  values = {**found.macros, **found.parameters}
  lines = [f"{name} = {setting.value!r}" for name, setting in sorted(values.items())
           if name not in seeds]
  return "\n".join([f"# {cell.run}", *lines]) + "\n"


def check_parameters(cells: Sequence[Cell]) -> None:
  """Finds the remaining errors: lets gin parse a cell of each row and column.

  It runs in a separate process, since gin imports the modules that the files name, and TensorFlow
  cannot be unloaded.
  """
  with concurrent.futures.ProcessPoolExecutor(
      1, mp_context=multiprocessing.get_context("spawn")) as pool:
    problem = pool.submit(_first_problem, _one_of_each(cells)).result()
  if problem:
    raise gin_files.ConfigError(problem)


def _first_problem(cells: Sequence[Cell]) -> str:
  warnings.simplefilter("ignore")
  with without_warnings():
    from suite import experiment
    for cell in cells:
      try:
        with error_context(cell):
          gin_parse.parse(cell.files(), cell.params)
          gin_parse.configured(experiment.run, {"workdir": ""})
      except gin_files.ConfigError as error:
        return str(error)
  return ""


@contextlib.contextmanager
def error_context(cell: Cell) -> Iterator[None]:
  try:
    yield
  except gin_files.ConfigError as error:
    raise gin_files.ConfigError(f"Row {cell.row!r}, column {cell.column!r}, run file {cell.run}: "
                                f"{error}") from error


@contextlib.contextmanager
def without_warnings() -> Iterator[None]:
  """Suppresses warnings; every cell writes its warnings to its log."""
  before = logging.get_verbosity()
  logging.set_verbosity(logging.ERROR)
  try:
    yield
  finally:
    logging.set_verbosity(before)
