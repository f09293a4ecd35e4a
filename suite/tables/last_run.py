# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The run that ends a table: over what all of its cells left, such as their saved predictions."""

from __future__ import annotations

from collections.abc import Sequence
import pathlib

from suite.configs import gin_files
from suite.reporting import table_dir
from suite.system import processes
from suite.tables import table_cells

_WORKDIR = "{workdir}"


def folder_name(num_cells: int) -> str:
  """Its folder within the table's: a table with further cells has another one."""
  return f"last/{num_cells}_cells"


def job(table: table_dir.TableDir, last: table_cells.Part, flags: Sequence[str],
        extra_files: Sequence[str]) -> processes.Job:
  """The process that runs it; `flags` are further ones of `suite run`."""
  folder = table.folder / table.last
  run, files, bindings = table_cells.divided(last)
  params = tuple(f"{key}={_placed(value, table.folder)!r}" for key, value in bindings.items())
  cell = table_cells.Cell("last", "", 0, _named(run), params, 0, (),
                          (*files, *extra_files), folder)
  return cell.job(flags)._replace(name="last", log=folder.with_suffix(".log"))


def check(last: table_cells.Part) -> None:
  """Checks that its run file exists."""
  gin_files.find(_named(table_cells.divided(last)[0]))


def _named(run: str | None) -> str:
  if run is None:
    raise gin_files.ConfigError(
        "table.run.last has no run file. Give one, or (run file, bindings).")
  return run


def _placed(value: object, folder: pathlib.Path) -> object:
  return value.replace(_WORKDIR, str(folder)) if isinstance(value, str) else value
