# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The cells of a table: which there are, what is wrong with them, and what each one runs."""

from __future__ import annotations

import concurrent.futures
import contextlib
import difflib
import fnmatch
import multiprocessing
import pathlib
import sys
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Sequence, Set, Tuple, Union
import warnings

from absl import logging

from suite.configs import gin_files
from suite.configs import gin_parse
from suite.reporting import table_dir
from suite.tables import cell_processes

COMMAND = (sys.executable, "-m", "suite", "run")
SETTINGS = "settings.txt"

Bindings = Mapping[str, Any]
# A run file, or one and the bindings of its row.
Runs = Mapping[str, Union[str, Tuple[str, Bindings]]]


class Cell(NamedTuple):
  """One run.

  Attributes:
    row, column, seed: where it stands. run: its run file, as the table names it.
    own: its bindings X=Y by the table, row first; the seed's are the last `num_seed` of them.
    given: bindings of the user's. extra_files: gin files of the user's. folder: its --workdir.
  """

  row: str
  column: str
  seed: table_dir.Seed
  run: str
  own: Tuple[str, ...]
  num_seed: int
  given: Tuple[str, ...]
  extra_files: Tuple[str, ...]
  folder: pathlib.Path

  @property
  def name(self) -> str:
    """As --only takes it."""
    return "/".join((*map(table_dir.folder_name, (self.row, self.column)), str(self.seed)))

  @property
  def params(self) -> Tuple[str, ...]:
    return (*self.own, *self.given)

  @property
  def is_finished(self) -> bool:
    return table_dir.is_finished(self.folder)

  def files(self) -> List[pathlib.Path]:
    return [gin_files.find(self.run)[1],
            *(gin_files.find_file(extra, "--gin_file") for extra in self.extra_files)]

  def job(self, flags: Sequence[str]) -> cell_processes.Job:
    """The process that runs it; `flags` are further ones of `suite run`."""
    command = [*COMMAND, self.run, "--workdir", str(self.folder), *flags]
    for extra in self.extra_files:
      command += ["--gin_file", extra]
    for param in self.params:
      command += ["--gin_param", param]
    return cell_processes.Job(self.name, command, self.folder.with_name(f"{self.seed}.log"),
                              lambda: self.is_finished)


def plan(table: table_dir.TableDir, runs: Runs, columns: Mapping[str, Bindings],
         seed_parameters: Sequence[str], given: Sequence[str], extra_files: Sequence[str]
         ) -> List[Cell]:
  """All cells, those of the first seed first: a whole table of one seed is soon there."""
  for what, labels in (("rows", table.rows), ("columns", table.columns)):
    folders = [table_dir.folder_name(label) for label in labels]
    if not folders or len(set(folders)) < len(folders) or not all(f.strip(".") for f in folders):
      raise gin_files.ConfigError(
          f"The table's {what} are {list(labels)}, which make the folders {folders}. There must be "
          "at least one, each with a folder of its own: choose other labels.")
  cells = []
  for seed in table.seeds:
    seed_bindings = dict.fromkeys(seed_parameters, seed)
    for row, named in runs.items():
      run, of_row = (named, {}) if isinstance(named, str) else named
      for column, of_column in columns.items():
        own = tuple(f"{key}={value!r}" for bindings in (of_row, of_column, seed_bindings)
                    for key, value in bindings.items())
        cells.append(Cell(row, column, seed, run, own, len(seed_bindings), tuple(given),
                          tuple(extra_files), table.cell(row, column, seed)))
  return cells


def choose(cells: Sequence[Cell], only: Sequence[str]) -> List[Cell]:
  """Those that one of the patterns ROW[/COLUMN[/SEED]] fits; all if there is no pattern."""
  chosen: Set[str] = set()
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
  """X of a binding X=Y."""
  return param.partition("=")[0].strip()


def settings(cells: Sequence[Cell]) -> Dict[pathlib.Path, str]:
  """Text by the file that holds it once its cells have begun; finds most mistakes, quickly.

  The cells of a row and column differ in their seed only. What all of them set, read from the gin
  files, is kept beside them, so that other settings are refused even where all is finished.
  """
  found = {cell.folder.with_name(SETTINGS): _settings(cell) for cell in _one_of_each(cells)}
  for path, text in found.items():
    before = path.read_text() if path.exists() else text
    if before != text:
      changes = "\n".join(difflib.unified_diff(
          before.splitlines(), text.splitlines(), "in the directory", "asked for", lineterm="",
          n=0))
      raise gin_files.ConfigError(
          f"{path.parent} holds runs of another configuration; the differences:\n{changes}\n"
          "Give another --workdir, or the same configuration to go on with it.")
  return found


def _one_of_each(cells: Sequence[Cell]) -> List[Cell]:
  """The first cell of every row and column."""
  first: Dict[Tuple[str, str], Cell] = {}
  for cell in cells:
    first.setdefault((cell.row, cell.column), cell)
  return list(first.values())


def _settings(cell: Cell) -> str:
  """All that its gin files and bindings set, but for the seed, one line each."""
  with said_of(cell), quiet():
    found = gin_files.scan(cell.files(), cell.params)
  seeds = {key(param) for param in cell.own[len(cell.own) - cell.num_seed:]}
  values = {**found.macros, **found.parameters}
  lines = [f"{name} = {setting.value!r}" for name, setting in sorted(values.items())
           if name not in seeds]
  return "\n".join([f"# {cell.run}", *lines]) + "\n"


def check_parameters(cells: Sequence[Cell]) -> None:
  """The other mistakes: lets gin parse a cell of each row and column.

  In a process of its own, since gin imports what the files name: TensorFlow would stay here.
  """
  with concurrent.futures.ProcessPoolExecutor(
      1, mp_context=multiprocessing.get_context("spawn")) as pool:
    problem = pool.submit(_first_problem, _one_of_each(cells)).result()
  if problem:
    raise gin_files.ConfigError(problem)


def _first_problem(cells: Sequence[Cell]) -> str:
  warnings.simplefilter("ignore")
  with quiet():
    from suite import experiment
    for cell in cells:
      try:
        with said_of(cell):
          gin_parse.parse(cell.files(), cell.params)
          gin_parse.configured(experiment.run, {"workdir": ""})
      except gin_files.ConfigError as error:
        return str(error)
  return ""


@contextlib.contextmanager
def said_of(cell: Cell) -> Iterator[None]:
  try:
    yield
  except gin_files.ConfigError as error:
    raise gin_files.ConfigError(f"Row {cell.row!r}, column {cell.column!r}, run file {cell.run}: "
                                f"{error}") from error


@contextlib.contextmanager
def quiet() -> Iterator[None]:
  """Without warnings: every cell says its own in its log."""
  before = logging.get_verbosity()
  logging.set_verbosity(logging.ERROR)
  try:
    yield
  finally:
    logging.set_verbosity(before)
