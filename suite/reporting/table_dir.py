# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A whole table on disk: its description in table.json, its runs in ROW/COLUMN/SEED."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import os
import pathlib
import re
import shlex
from typing import Any

from suite.reporting import records
from suite.reporting import run_dir
from suite.state import run_identity

FILE = "table.json"

# The seed of a cell: a number, or the name of a sequence or split.
Seed = int | str


def is_table(directory: str | os.PathLike) -> bool:
  """Whether a folder has a description, be it damaged: its runs alone would be another report."""
  return os.path.lexists(pathlib.Path(directory) / FILE)


def split(dirs: Iterable[str | os.PathLike], *, every: bool = False
          ) -> tuple[list[pathlib.Path], list[pathlib.Path]]:
  """Finds (whole tables, folders of the runs outside of them) in directories, at any depth.

  A directory without a run is an error, unless it is a table without begun cells. With `every`
  earlier runs of a learner are found, too.
  """
  tables: list[pathlib.Path] = []
  single: list[pathlib.Path] = []
  for directory in map(pathlib.Path, dirs):
    own = [directory] if is_table(directory) else sorted(p.parent for p in directory.rglob(FILE))
    roots = [table.resolve() for table in own]
    folders = [] if is_table(directory) else run_dir.find(directory, every=every)
    tables += [table for table in own if table not in tables]
    single += [f for f in folders if f not in single and not any(r in f.parents for r in roots)]
  return tables, single


def folder_name(label: str) -> str:
  """Converts a label to a name that needs no quotes in a shell: "B 3" -> B_3."""
  return re.sub(r"[^\w.+-]+", "_", label)


def is_finished(cell: pathlib.Path) -> bool:
  """Whether all learners of a run directory have their summaries."""
  learners = run_dir.learner_names(run_dir.read_json(cell / run_dir.ENVIRONMENT), cell)
  return bool(learners) and all(
      (run_identity.latest(cell, name) / run_dir.SUMMARY).exists() for name in learners)


@dataclasses.dataclass(frozen=True)
class TableDir:
  """The description in table.json.

  Attributes:
    folder: work directory.
    title: name of the run.
    command: the command line that the user entered.
    rows, columns: labels, in order.
    seeds: seeds of every cell.
    measures: values of the main table, shares that are printed as percent: name in the runs'
      summaries -> heading, which is omitted if there is one measure only. "closed.overall" is a
      nested value.
    costs: further values of summaries for a second table, or "seconds", or "seconds_<phase>".
    paper: file of `paper_values` to print below our values; None: none.
    matrices: (column, line of the main table, file of `paper_values`) of accuracy matrices.
    notes: lines below the main table.
    missing: ROW/COLUMN -> why there is no such cell.
    scores: of a leaderboard: column -> the value of its summaries that its rows are ranked by; "":
      the headline of its protocol.
    last: folder of the run that is made when all cells are finished; "": none.
  """

  folder: pathlib.Path
  title: str
  command: str
  rows: Sequence[str]
  columns: Sequence[str]
  seeds: Sequence[Seed]
  measures: Mapping[str, str]
  costs: Sequence[str] = ()
  paper: str | None = None
  matrices: Sequence[Sequence[str]] = ()
  notes: Sequence[str] = ()
  missing: Mapping[str, str] = dataclasses.field(default_factory=dict)
  scores: Mapping[str, str] = dataclasses.field(default_factory=dict)
  last: str = ""

  def pairs(self) -> list[tuple[str, str]]:
    """(row, column) of all cells, row by row."""
    return [(row, column) for row in self.rows for column in self.columns
            if f"{row}/{column}" not in self.missing]

  @property
  def num_cells(self) -> int:
    return len(self.pairs()) * len(self.seeds)

  def cell(self, row: str, column: str, seed: Seed) -> pathlib.Path:
    return self.folder / folder_name(row) / folder_name(column) / str(seed)

  def workdirs(self) -> list[pathlib.Path]:
    """Work directories of all cells, row by row, and of the last run."""
    cells = [self.cell(row, column, seed) for row, column in self.pairs() for seed in self.seeds]
    return [*cells, *([self.folder / self.last] if self.last else [])]

  def text(self) -> str:
    """Text of table.json."""
    values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
    return run_dir.sealed({k: v for k, v in values.items() if k != "folder"}) + "\n"

  def misplaced(self) -> dict[pathlib.Path, str]:
    """The runs that were made for another cell, as their commands say: what is wrong, by folder."""
    found = {}
    for cell in self.workdirs():
      words = shlex.split(str(run_dir.read_json(cell / run_dir.ENVIRONMENT).get("command", "")))
      place = cell.relative_to(self.folder).parts
      made_for = [pathlib.PurePath(after).parts[-len(place):]
                  for word, after in zip(words, words[1:]) if word == "--workdir"]
      if made_for and made_for[-1] != place:
        found[cell] = (f"{cell} holds the run of {'/'.join(made_for[-1])}: folders of cells were "
                       "exchanged. Put each back, or remove it, and run the same command again.")
    return found

  def learners(self, row: str) -> list[str]:
    """Learners of the started cells of a row, in order; [] if there is none."""
    cells = [self.cell(row, column, seed) for column in self.columns for seed in self.seeds]
    return list(dict.fromkeys(
        name for cell in cells
        for name in run_dir.learner_names(run_dir.read_json(cell / run_dir.ENVIRONMENT), cell)))

  def summaries(self, row: str, column: str, learner: str) -> dict[Seed, dict[str, Any]]:
    """Summaries of the finished cells by seed, with their wall-clock seconds."""
    found = {}
    for seed in self.seeds:
      folder = run_identity.latest(self.cell(row, column, seed), learner)
      if summary := run_dir.read_json(folder / run_dir.SUMMARY):
        path = folder / run_dir.RECORDS
        last, digest = records.last(path) if path.exists() else ({}, "")
        if problem := run_dir.unfit_summary(folder, None, digest):
          raise ValueError(problem)
        # Summaries contain no times: the last record does.
        found[seed] = {**{name: value for name, value in last.items()
                          if name.split("_")[0] == "seconds"}, **summary}
    return found

  def changes(self, row: str, column: str, learner: str) -> str:
    """Changes of the learner in a cell's runs; see `run_dir.changes`."""
    cells = [self.cell(row, column, seed) for seed in self.seeds]
    found = (run_dir.read_json(run_identity.latest(cell, learner) / run_dir.ENVIRONMENT)
             or run_dir.read_json(cell / run_dir.ENVIRONMENT) for cell in cells)
    return run_dir.changes(next(filter(None, found), {}), learner)

  def num_finished(self) -> int:
    return sum(is_finished(self.cell(r, c, s)) for r, c in self.pairs() for s in self.seeds)

  def refused(self) -> dict[str, tuple[int, str]]:
    """ROW/COLUMN -> the number of seeds that do not fit the budget, and why the first does not."""
    found: dict[str, tuple[int, str]] = {}
    for row, column in self.pairs():
      reasons = [run_dir.read_json(path)["reason"] for seed in self.seeds
                 for path in self.cell(row, column, seed).glob(f"*/{run_dir.REFUSED}")
                 if not (path.parent / run_dir.SUMMARY).exists()]
      if reasons:
        found[f"{row}/{column}"] = len(reasons), reasons[0].partition("\n")[0]
    return found

  def environments(self, rows: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """Environments of the started cells of all rows, or of some."""
    every = (run_dir.read_json(self.cell(r, c, s) / run_dir.ENVIRONMENT)
             for r in (self.rows if rows is None else rows)
             for c in self.columns for s in self.seeds)
    return [environment for environment in every if environment]


def read(directory: str | os.PathLike, *, check: bool = True) -> TableDir:
  """Reads the description of a table.

  Args:
    directory: its folder.
    check: whether runs in the folders of other cells are an error.

  Raises:
    ValueError: table.json is damaged or no description of a table, or folders were exchanged.
  """
  folder = pathlib.Path(directory)
  values = run_dir.read_json(folder / FILE)
  fields = {f.name: f for f in dataclasses.fields(TableDir) if f.name != "folder"}
  needed = [n for n, f in fields.items() if f.default is dataclasses.MISSING
            and f.default_factory is dataclasses.MISSING]
  wrong = [*(f"{n!r} is unknown" for n in values if n not in fields),
           *(f"{n!r} is missing" for n in needed if n not in values)]
  for names, kind in ((("rows", "columns", "seeds", "costs", "matrices", "notes"), list),
                      (("measures", "missing", "scores"), dict),
                      (("title", "command", "last"), str)):
    wrong += [f"{n!r} is {values[n]!r:.60}" for n in names if n in values
              and not isinstance(values[n], kind)]
  # Cells lie in folders of the table. New tables are held to `folders.check_names`.
  if not wrong:
    made = {**{n: [folder_name(str(part)) for part in values[n]] for n in ("rows", "columns")},
            "seeds": list(map(str, values["seeds"]))}
    wrong = [f"{n!r} has {part!r:.60}" for n, parts in made.items() for part in parts
             if "/" in part or not part.strip(".")]
    last = pathlib.PurePosixPath(values.get("last", ""))
    wrong += [f"'last' is {str(last)!r:.60}"] * (last.is_absolute() or ".." in last.parts)
  if wrong:
    raise ValueError(f"{folder / FILE} is no description of a table ({wrong[0]}). Restore it from "
                     "a copy, or run the table's command again in a new work directory.")
  table = TableDir(folder, **values)
  if check and (problems := table.misplaced()):
    raise ValueError(next(iter(problems.values())))
  return table


def value(summary: Mapping[str, Any], name: str) -> Any:
  """Value of a summary by name, or by nested names "a.b"; None if it is missing."""
  found: Any = summary
  for part in name.split("."):
    found = found.get(part) if isinstance(found, Mapping) else None
  return found
