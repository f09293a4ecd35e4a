# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A paper's whole table in one command: rows x columns x seeds, each cell an ordinary run.

A cell is the run directory WORKDIR/ROW/COLUMN/SEED, made by `suite run` in a separate process: a
failed cell does not affect the others, and a cell behaves like a run (it resumes, and one of
another configuration is computed beside it). This module does not import TensorFlow, so a finished
table is reported quickly. Rows, columns, seeds and configurations may change at any time.

A table may end with one more run, which reads what all of its cells left, such as their saved
predictions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
import concurrent.futures
import contextlib
import dataclasses
import fnmatch
import functools
import multiprocessing
import pathlib
import shlex
import sys
from types import MappingProxyType
from typing import Any, NamedTuple
import warnings

from absl import logging

from suite.configs import gin_bindings
from suite.configs import gin_files
from suite.configs import gin_names
from suite.configs import gin_parse
from suite.configs import methods
from suite.configs import run_files
from suite.configs import run_settings
from suite.reporting import paper_values
from suite.reporting import quantities
from suite.reporting import table_dir
from suite.reporting import tables
from suite.state import run_identity
from suite.state import snapshots
from suite.system import folders
from suite.system import host_memory
from suite.system import processes

COMMAND = (sys.executable, "-m", "suite", "run")
SETTINGS = "settings.txt"
SEED = "experiment.run.seed"

Bindings = Mapping[str, Any]
# What a row or column adds to its cells: a run file, bindings, or (run file, gin files, bindings).
Part = str | Bindings | tuple[Any, ...]
Runs = Mapping[str, Part]
Exceptions = Mapping[str, Part | None]
_OURS = ("table.run.", "table.Report.")
_LEAST_BYTES = 400_000_000  # Of a process that has imported TensorFlow.
_TABLE = "{workdir}"  # In the bindings of the last run.


class TableCell(NamedTuple):
  """One cell of the table, a run.

  Attributes:
    row, column, seed: position in the table.
    run: name of the run file, as in the table.
    own: bindings X=Y by the table, the row's first; the last `num_seed` of them are the seed's.
    given: bindings by the user.
    extra_files: gin files by the table, then by the user.
    folder: its --workdir.
    methods: methods that the user chose by name, in place of the run's learners.
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
  methods: tuple[str, ...] = ()

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

  def file(self) -> run_settings.RunFile:
    """The run file of the cell, with its bindings."""
    return run_settings.find(self.run, extra_files=self.extra_files, params=self.params,
                             methods=self.methods)

  def job(self, settings: run_settings.RunSettings) -> processes.Job:
    """The process that runs the cell, with the settings of the table but the cell's folder."""
    command = [*COMMAND, self.run, *settings.of_part(str(self.folder)).flags()]
    if self.methods:
      command += ["--methods", ",".join(self.methods)]
    for extra in self.extra_files:
      command += ["--gin_file", extra]
    for param in (*self.own, *self.given):
      command += ["--gin_param", param]
    # Several devices without a number are all that there are.
    gpus = settings.devices or int(settings.strategy == run_settings.STRATEGIES[0])
    return processes.Job(
        self.name, command, self.folder.with_name(f"{self.seed}.log"),
        functools.partial(table_dir.is_finished, self.folder), gpus, folder=self.folder)


@dataclasses.dataclass(frozen=True)
class Report:
  """The content of a table's report.

  Attributes:
    measures, costs, paper, matrices, notes: see `table_dir.TableDir`.
    scores: column label -> value of its summaries, to rank the rows by: see
      `reporting.leaderboard`.
  """

  measures: Mapping[str, str] = dataclasses.field(default_factory=dict)
  costs: Sequence[str] = ()
  paper: str | None = None
  matrices: Sequence[tuple[str, str, str]] = ()
  notes: Sequence[str] = ()
  scores: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class TableOrder:
  """What a user asks of a table.

  Attributes:
    file: the table's; its bindings are those for every cell, its extra files are gin files of
      every cell, as of --gin_file.
    settings: of every cell; the work directory is that of the table.
    jobs: number of cells that run at the same time.
    run_all: run_all(jobs, their number at a time) -> outcomes; None: `processes.run_all`.
    only: ROW, ROW/COLUMN or ROW/COLUMN/SEED, with * and ?: the cells to run; (): all.
    instead: if given, called as instead(chosen cells, pending cells) after all checks; its result
      is returned, no cell runs and nothing is written.
  """

  file: run_settings.RunFile
  settings: run_settings.RunSettings
  jobs: int = 1
  run_all: Callable[[Sequence[processes.Job], int], list[processes.Outcome]] | None = None
  only: Sequence[str] = ()
  instead: Callable[[Sequence[TableCell], Sequence[TableCell]], Any] | None = None


class TableResult(NamedTuple):
  """The report, and a line for each cell that failed or that another process runs."""

  report: str
  failed: list[str]
  elsewhere: list[str]

  @classmethod
  def of(cls, report: str, outcomes: Sequence[processes.Outcome]) -> TableResult:
    """The result by the outcomes of the cells that this process began."""
    return cls(
        report, [f"{o.job.name}: {o.reason} ({o.job.log})" for o in outcomes
                 if o.state == processes.FAILED],
        [f"{o.job.name} ({o.job.log})" for o in outcomes
         if o.state == processes.ELSEWHERE and not (o.job.is_finished and o.job.is_finished())])


def is_table(path: pathlib.Path) -> bool:
  """Whether a run file configures `table.run` instead of `experiment.run`."""
  try:
    with without_warnings():
      return any(key.startswith(_OURS) for key in gin_files.scan([path]).parameters)
  except gin_files.ConfigError:
    return False  # An ordinary run with required bindings, or an invalid file, reported later.


def divide(path: pathlib.Path, params: Sequence[str]) -> tuple[list[str], list[str]]:
  """Divides bindings X=Y of the command line into those of the table and those of every cell."""
  macros = gin_files.scan([path]).macros
  own = [p for p in params
         if key(p).startswith(_OURS) or key(p) in macros]
  return own, [p for p in params if p not in own]


def run(
    *,
    runs: Runs,
    columns: Runs,
    seeds: Sequence[table_dir.Seed] = (0, 1, 2),
    seed_parameters: Sequence[str] = (SEED,),
    exceptions: Exceptions = MappingProxyType({}),
    protocols: Mapping[str, str] = MappingProxyType({}),
    last: Part | None = None,
    report: Report,
    order: TableOrder,
) -> Any:
  """Runs the cells that are not finished, then reports all cells.

  Args:
    runs: row label -> a run file, bindings of the row, or (run file, bindings). Keys of bindings
      are macros or parameters of the run files, values are plain, or references as text ("%NAME",
      "@module.function"). Further names after the run file are gin files, as of --gin_file.
    columns: column label -> the same. Each cell has one run file: its row's, or its column's.
    seeds: seeds of each cell: numbers, or names, for example of sequences.
    seed_parameters: parameters that the seed is bound to.
    exceptions: ROW/COLUMN -> the same, for single cells; their run file goes before. None: there is
      no such cell.
    protocols: column label -> protocol, where the rows are methods of docs/methods.md: a method
      that is refused under the protocol has no cell there.
    last: a run over all that the cells left, made when they are finished, in WORKDIR/last; in its
      bindings, {workdir} is the table's.
    report: its content.
    order: what the user asks.

  Returns:
    a `TableResult`.
  """
  file, settings = order.file, order.settings
  changed = {cell: part for cell, part in exceptions.items() if part is not None}
  absent = {cell: "not in this table" for cell, part in exceptions.items() if part is None
            and cell in {f"{row}/{column}" for row in runs for column in columns}}
  table = table_dir.TableDir(
      pathlib.Path(settings.workdir), file.name, settings.command, list(runs), list(columns),
      list(seeds), dict(report.measures), list(report.costs), report.paper,
      [list(names) for names in report.matrices], list(report.notes),
      {**refused(runs, columns, protocols), **absent}, dict(report.scores))
  ending = None if last is None else _last_cell(table, last, file)
  if ending is not None:
    table = dataclasses.replace(table, last=str(ending.folder.relative_to(table.folder)))
  _check(table, [cell for cell in exceptions if cell not in absent])
  cells = plan(table, runs, columns, changed, seed_parameters, file)
  fixed = sorted({key(param) for cell in cells for param in cell.own} & set(map(key, file.params)))
  if fixed:
    raise gin_files.ConfigError(
        f"--gin_param sets {', '.join(fixed)}, which the table sets for its cells. Run a part of "
        "it with --only, or change table.run.runs, .columns or .seeds.")
  texts = settings_texts(chosen := choose(cells, order.only), settings.gin_names)
  changed_cells = {  # Have begun with other settings.
      cell.folder for cell in chosen if cell.folder.is_dir()
      and (path := cell.folder.with_name(SETTINGS)).exists()
      and not gin_parse.are_same(path.read_text(encoding="utf-8"), texts[path])}
  waiting = [cell for cell in chosen if not cell.is_finished or cell.folder in changed_cells]
  say = processes.say if settings.progress else _say_nothing
  num = sum(cell.is_finished and cell.folder not in changed_cells for cell in cells)
  say(f"{num} of {len(cells)} cells are finished, {len(waiting)} are to run.")
  if order.instead is not None:
    return order.instead(chosen, waiting)
  if waiting:
    check_parameters(waiting, settings.gin_names)
  if order.run_all is None:
    check_memory(order.jobs, min(order.jobs, len(waiting)), "runs", _LEAST_BYTES)
  for folder in changed_cells:  # Whichever run is asked for, its process finds or computes it.
    run_identity.forget_latest(folder)
  if changed_cells and ending is not None and ending.folder.is_dir():
    run_identity.forget_latest(ending.folder)
  _claim(table, texts)
  run_all = order.run_all or functools.partial(processes.run_all, say=say)
  outcomes = run_all([cell.job(settings) for cell in waiting], order.jobs)
  if ending is not None and table.num_finished() == table.num_cells and not ending.is_finished:
    job = ending.job(settings)._replace(name="last", log=ending.folder.with_suffix(".log"))
    outcomes += processes.run_all([job], 1, say)  # Here, where all cells are.
  _write(table.folder / "report.txt", tables.report([settings.workdir]))
  return TableResult.of(
      tables.report([settings.workdir], most=processes.terminal_width()), outcomes)


def _say_nothing(line: str) -> None:
  del line


def check_memory(jobs: int, num: int, verb: str, num_bytes: int) -> None:
  """Refuses `jobs` processes, of which `num` run, if each takes `num_bytes` and memory is short."""
  free = host_memory.available_bytes()
  fit = max(1, free // num_bytes)
  if num > fit:
    raise gin_files.ConfigError(
        f"--jobs {jobs} {verb} {num} cells at the same time, each in a process of "
        f"{quantities.si(num_bytes, 'B')} or more, and {quantities.si(free, 'B')} are free: give "
        f"at most {fit}.")


def _last_cell(table: table_dir.TableDir, last: Part, file: run_settings.RunFile) -> TableCell:
  """The run that ends the table; a table with further cells has another one."""
  run_file, files, bindings = divided(last)
  if run_file is None:
    raise gin_files.ConfigError(
        "table.run.last has no run file. Give one, or (run file, bindings).")
  run_files.find(run_file)  # Raises if there is none.
  placed = {key: value.replace(_TABLE, str(table.folder)) if isinstance(value, str) else value
            for key, value in bindings.items()}
  return TableCell(
      "last", "", 0, run_file, tuple(f"{key}={value!r}" for key, value in placed.items()), 0, (),
      (*files, *file.extra_files), table.folder / "last" / f"{table.num_cells}_cells")


def refused(rows: Iterable[str], columns: Iterable[str], protocols: Mapping[str, str]
            ) -> dict[str, str]:
  """Returns ROW/COLUMN -> the message of those that the table of methods refuses."""
  known = {method.name: method for method in methods.load()}
  unknown = [*(("column", c) for c in protocols if c not in columns),
             *(("protocol", p) for p in protocols.values() if p not in methods.NAMED),
             *(("method", row) for row in rows if protocols and row not in known)]
  if unknown:
    names = ", ".join(f"{what} {name!r}" for what, name in unknown)
    raise gin_files.ConfigError(
        f"table.run.protocols: unknown {names}. It takes the table's columns, "
        f"protocols ({', '.join(methods.NAMED)}), and rows named as in docs/methods.md. "
        + gin_files.nearest(unknown[0][1], [*known, *columns, *methods.NAMED]))
  return {f"{row}/{column}": known[row].refusals[methods.column(protocol)]
          for row in rows for column, protocol in protocols.items()
          if methods.column(protocol) in known[row].refusals}


def _check(table: table_dir.TableDir, exceptions: Iterable[str]) -> None:
  """Checks the folder, the paper's values, the cells of exceptions and the columns of scores."""
  folder = table.folder
  folders.check(folder, "--workdir")
  if folder.exists() and any(folder.iterdir()) and not table_dir.is_table(folder):
    raise gin_files.ConfigError(
        f"{folder} is not empty and holds no table; give another --workdir.")
  for name in filter(None, [table.paper, *(names[-1] for names in table.matrices)]):
    if name not in paper_values.names():
      raise gin_files.ConfigError(f"Unknown paper values {name!r}. "
                                  f"{gin_files.nearest(name, paper_values.names())}")
  if table.last and "last" in (table_dir.folder_name(row).casefold() for row in table.rows):
    raise gin_files.ConfigError("A table with table.run.last keeps that run in the folder last, "
                                "which is that of a row, too; give the row another label.")
  cells = [f"{row}/{column}" for row, column in table.pairs()]
  for parameter, given, what, allowed in (
      ("run.exceptions", exceptions, "ROW/COLUMN of the cells", cells),
      ("Report.scores", table.scores, "the table's columns", list(table.columns))):
    unknown = [name for name in given if name not in allowed]
    if unknown:
      raise gin_files.ConfigError(f"table.{parameter}: unknown {', '.join(unknown)}. It takes "
                                  f"{what}: {', '.join(allowed)}.")


def _claim(table: table_dir.TableDir, texts: Mapping[pathlib.Path, str]) -> None:
  """Writes the description of the table, then the settings of its cells by their files."""
  folders.make(table.folder, "--workdir")
  before = table_dir.read(table.folder).command if table_dir.is_table(table.folder) else ""
  words = shlex.split(before or table.command)
  for_all = shlex.join(  # Without --only it makes all cells.
      word for i, word in enumerate(words)
      if not word.startswith("--only=") and "--only" not in words[max(0, i - 1):i + 1])
  _write(table.folder / table_dir.FILE, dataclasses.replace(table, command=for_all).text())
  for path, text in texts.items():
    _write(path, text)


def _write(path: pathlib.Path, text: str) -> None:
  """Leaves a file that holds this text already as it is."""
  if not path.exists() or path.read_text() != text:
    snapshots.save_text(path, text)


def plan(table: table_dir.TableDir, runs: Runs, columns: Runs, exceptions: Runs,
         seed_parameters: Sequence[str], file: run_settings.RunFile) -> list[TableCell]:
  """Lists all cells, ordered by seed, so a table of one seed is complete first.

  `exceptions` are parts of single cells by ROW/COLUMN, whose run file is that of the cell; `file`
  has the bindings and extra files of all cells.
  """
  for what, labels in (("rows", table.rows), ("columns", table.columns)):
    made = [table_dir.folder_name(label) for label in labels]
    if not made or len(set(made)) < len(made):
      raise gin_files.ConfigError(
          f"The table's {what} are {list(labels)}, which make the folders {made}. There must be "
          "at least one, each with a different folder: choose other labels.")
    unprintable = [label for label in labels if not label.isprintable()]
    if unprintable:
      raise gin_files.ConfigError(f"The table's {what} have {unprintable[0]!r}, which cannot be "
                                  "printed: choose another label.")
    folders.check_names(made, f"folder of the table's {what}")
  seeds = list(map(str, table.seeds))
  if len(set(seeds)) < len(seeds):
    raise gin_files.ConfigError(
        f"The table's seeds are {list(table.seeds)}, which make the folders {seeds}. Each needs a "
        "different folder: choose other seeds.")
  folders.check_names(seeds, "seed", taken=[f"{seed}.log" for seed in seeds])
  cells = []
  for seed in table.seeds:
    seed_bindings = dict.fromkeys(seed_parameters, seed)
    for row, column in table.pairs():
      divisions = [divided(part) for part in (
          runs[row], columns[column], exceptions.get(f"{row}/{column}", {}))]
      of_row, of_column, of_cell = [run_file for run_file, _, _ in divisions]
      if of_cell is None and (of_row is None) == (of_column is None):
        raise gin_files.ConfigError(
            f"Row {row!r} has the run file {of_row} and column {column!r} the run file "
            f"{of_column}. A cell has one: give it to the rows in table.run.runs or to the columns "
            "in table.run.columns.")
      of_parts = [bindings for _, _, bindings in divisions]
      # Texts such as "%NAME" and "@module.function" are references, which gin reads unquoted.
      own = tuple(f"{key}={value}" if isinstance(value, str) and value[:1] in ("@", "%") else
                  f"{key}={value!r}" for bindings in (*of_parts, seed_bindings)
                  for key, value in bindings.items())
      cells.append(TableCell(
          row, column, seed, str(of_cell or of_row or of_column), own, len(seed_bindings),
          tuple(file.params), (*(extra for _, files, _ in divisions for extra in files),
                               *file.extra_files), table.cell(row, column, seed),
          tuple(file.methods)))
  return cells


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
      run_file, files, further = divided(one)
      named += [name for name in (run_file, *files) if name is not None]
      bindings.update(further)
  return (named[0] if named else None), named[1:], bindings


def choose(cells: Sequence[TableCell], only: Sequence[str]) -> list[TableCell]:
  """Chooses cells that match one of the patterns ROW[/COLUMN[/SEED]]; all without a pattern."""
  chosen: set[str] = set()
  for pattern in only:
    wanted = pattern.split("/")
    fitting: set[str] = set()
    for cell in cells:
      parts = (cell.row, cell.column, str(cell.seed))
      if len(wanted) <= len(parts) and all(
          fnmatch.fnmatchcase(part, w) or fnmatch.fnmatchcase(table_dir.folder_name(part), w)
          for part, w in zip(parts, wanted)):
        fitting.add(cell.name)
    if not fitting:
      known = {"rows": (c.row for c in cells), "columns": (c.column for c in cells),
               "seeds": (str(c.seed) for c in cells)}
      raise gin_files.ConfigError(
          f"--only {pattern!r} fits no cell. It takes ROW, ROW/COLUMN or ROW/COLUMN/SEED, with * "
          "and ? as in a shell; " + "; ".join(
              f"{what}: {', '.join(dict.fromkeys(labels))}" for what, labels in known.items()))
    chosen |= fitting
  return [cell for cell in cells if not only or cell.name in chosen]


def key(param: str) -> str:
  """Returns X of a binding X=Y."""
  return param.partition("=")[0].strip()


def settings_texts(cells: Sequence[TableCell], names: Sequence[str] = ()
                   ) -> dict[pathlib.Path, str]:
  """Computes the settings of all cells, as text by the file to write them to; finds most errors.

  The cells of a row and column differ in their seed only. Their common settings, read from the gin
  files, are saved beside them, so that other settings are seen even if all cells are finished.
  """
  texts: dict[pathlib.Path, str] = {}
  for cell in _one_of_each(cells):
    with error_context(cell), without_warnings():
      file = cell.file()
      found = gin_files.scan(file.paths(), file.bindings())
      gin_names.check(found, names)
    seeds = {key(param) for param in cell.own[len(cell.own) - cell.num_seed:]}
    lines = [f"{name} = {setting.value!r}" for name, setting in sorted(found.read().items())
             if name not in seeds]
    texts[cell.folder.with_name(SETTINGS)] = "\n".join([f"# {cell.run}", *lines]) + "\n"
  return texts


def _one_of_each(cells: Sequence[TableCell]) -> list[TableCell]:
  """Returns the first cell of every row and column."""
  first: dict[tuple[str, str], TableCell] = {}
  for cell in cells:
    first.setdefault((cell.row, cell.column), cell)
  return list(first.values())


def check_parameters(cells: Sequence[TableCell], names: Sequence[str] = ()) -> None:
  """Finds the remaining errors: lets gin parse a cell of each row and column, makes its learners.

  It runs in a separate process, since gin imports the modules that the files name, and TensorFlow
  cannot be unloaded.
  """
  with _without_script(), concurrent.futures.ProcessPoolExecutor(
      1, mp_context=multiprocessing.get_context("spawn")) as pool:
    problem = pool.submit(_first_problem, _one_of_each(cells), names).result()
  if problem:
    raise gin_files.ConfigError(problem)


@contextlib.contextmanager
def _without_script() -> Iterator[None]:
  """Meanwhile new processes do not run the user's script again, which would start this table."""
  main = vars(sys.modules["__main__"])
  script = main.pop("__file__", None)
  try:
    yield
  finally:
    if script is not None:
      main["__file__"] = script


def _first_problem(cells: Sequence[TableCell], names: Sequence[str] = ()) -> str:
  warnings.simplefilter("ignore")
  with without_warnings():
    from suite import experiment
    from suite.contracts import refusals
    for cell in cells:
      try:
        with error_context(cell):
          file = cell.file()
          gin_parse.parse(file.paths(), file.bindings(), names=names)
          gin_parse.configured(experiment.run, {"settings": None})
          only = gin_parse.bound(experiment.run, gin_bindings.ONLY, ())
          try:
            refusals.make_each({
                name: make for name, make in gin_parse.bound(
                    experiment.run, gin_bindings.LEARNERS, {}).items()
                if not only or name in ([only] if isinstance(only, str) else only)})
          except (ValueError, OSError) as error:
            if not _is_of_data(error):
              raise gin_files.ConfigError(str(error)) from error
      except gin_files.ConfigError as error:
        return str(error)
  return ""


def _is_of_data(error: BaseException | None) -> bool:
  """Whether a learner reads a file that is not there: its cells fail alone, and say so."""
  return error is not None and (isinstance(error, OSError) or _is_of_data(error.__cause__))


@contextlib.contextmanager
def error_context(cell: TableCell) -> Iterator[None]:
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
