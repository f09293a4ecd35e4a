# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Starts what a run file says: the one way of `suite run` and of `suite.run`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
import functools
import os
import pathlib
from typing import Any

from suite.configs import gin_files
from suite.configs import gin_parse
from suite.running import logs
from suite.system import folders
from suite.tables import table


@dataclasses.dataclass(frozen=True)
class RunFile:
  """A run file and what is changed in it.

  Attributes:
    name: short name.
    path: the file.
    extra_files: gin files that are read after it.
    params: bindings X=Y, read last.
    workdir: directory of results and state; "": runs/NAME.
    command: how the user started it, for the record.
    trusted_modules: see `gin_parse.parse`.
    own_process: whether the process does nothing but this run.
    debug: whether errors of graphs show where their operations were made.
  """

  name: str
  path: pathlib.Path
  extra_files: Sequence[str] = ()
  params: Sequence[str] = ()
  workdir: str = ""
  command: str = ""
  trusted_modules: Sequence[str] = ()
  own_process: bool = False
  debug: bool = True

  @property
  def is_table(self) -> bool:
    return table.is_table(self.path)

  @property
  def folder(self) -> str:
    """The work directory."""
    return self.workdir or os.path.join("runs", self.name)


def find(run: str, **settings: Any) -> RunFile:
  """The run file of a shipped name or path, with further attributes of `RunFile`."""
  name, path = gin_files.find(run)
  return RunFile(name, path, **settings)


def defaults() -> dict[str, Any]:
  """Arguments of `experiment.run` where none are given: those of the flags of `suite run`."""
  return {"strategy": "one_device", "data_dir": os.environ.get("LIFELONG_DATA_DIR"),
          "mirror": os.environ.get("LIFELONG_MIRROR"), "devices": None, "profile": False,
          "precision": "float32", "xla": False, "deterministic": None}


def set_data_dirs(data_dir: str | None, mirror: str | None) -> None:
  """Sets environment variables: TFDS reads them when imported, worker processes inherit them."""
  if mirror:
    if not all(os.path.isdir(folder) for folder in mirror.split(os.pathsep)):
      raise gin_files.ConfigError(f"The mirror {mirror!r} is no folder. Give the folder that "
                                  "holds the archives, or leave --mirror out to download them.")
    os.environ["LIFELONG_MIRROR"] = mirror
  if data_dir:
    folders.check(data_dir, "--data_dir (or $LIFELONG_DATA_DIR)")
    os.environ["LIFELONG_DATA_DIR"] = os.environ["TFDS_DATA_DIR"] = data_dir


def run_one(asked: RunFile, given: Mapping[str, Any]) -> str:
  """Runs one experiment, or resumes it; returns the report.

  Args:
    asked: the run file.
    given: arguments of `experiment.run` that no run file sets, such as data_dir and strategy.
  """
  paths = [asked.path, *(gin_files.find_file(extra, "--gin_file") for extra in asked.extra_files)]
  # Finds most errors before TensorFlow is imported.
  found = gin_files.scan(paths, asked.params)
  set_data_dirs(given.get("data_dir"), given.get("mirror"))
  logs.import_tensorflow()
  from suite import experiment
  from suite.running import own_process
  if asked.own_process:
    own_process.settle(debug=asked.debug)
  gin_parse.parse(paths, asked.params, trusted=asked.trusted_modules)
  return gin_parse.configured(experiment.run, dict(
      given, workdir=asked.folder, config_text=gin_parse.config_text(), command=asked.command,
      find_unused=functools.partial(gin_parse.unused_bindings, found)))()


def dry_run(asked: RunFile, given: Mapping[str, Any], *, rate: float | None = None,
            as_json: bool = False) -> str:
  """Returns what `run_one` would cost; nothing runs and nothing is written.

  Args:
    asked, given: as of `run_one`.
    rate, as_json: as of `dry_run.report`.
  """
  from suite.running import dry_run as dry_run_lib
  return run_one(asked, {**given, "instead": functools.partial(
      dry_run_lib.report, rate=rate, as_json=as_json)})


def run_table(asked: RunFile, given: Mapping[str, Any], *, jobs: int = 1, only: Sequence[str] = ()
              ) -> table.TableResult:
  """Runs the cells of a table that are not finished, then reports all of them.

  Args:
    asked: the run file of the table.
    given: as for `run_one`, for every cell.
    jobs: cells that run at the same time.
    only: patterns of the cells to run; (): all of them.
  """
  return of_table(asked, given, jobs=jobs, only=only)


def of_table(asked: RunFile, given: Mapping[str, Any], **settings: Any) -> Any:
  """Calls `table.run` as the run file says, with further settings."""
  own, of_cells = table.divide(asked.path, asked.params)
  gin_parse.parse([asked.path], own, trusted=asked.trusted_modules)
  set_data_dirs(given.get("data_dir"), given.get("mirror"))
  for extra in asked.extra_files:
    gin_files.find_file(extra, "--gin_file")
  return gin_parse.configured(table.run, dict(
      workdir=asked.folder, title=asked.name, params=of_cells, extra_files=asked.extra_files,
      flags=_flags_of_cells(asked, given), command=asked.command, **settings))()


def _flags_of_cells(asked: RunFile, given: Mapping[str, Any]) -> list[str]:
  """The flags of `suite run` for arguments of `experiment.run` that are not the defaults."""
  strategy = given.get("strategy", "one_device")
  if strategy in ("multi_worker", "slurm"):
    raise gin_files.ConfigError(
        f"--strategy {strategy} is for one run that every machine starts; a table starts its "
        "runs itself. Leave it out: the same command on every machine shares the table.")
  flags = ["--strategy", strategy]
  for name in ("data_dir", "mirror", "devices"):
    if given.get(name):
      flags += [f"--{name}", str(given[name])]
  if asked.trusted_modules:
    flags += ["--trusted_modules", ",".join(asked.trusted_modules)]
  if given.get("deterministic") is not None:
    flags.append("--deterministic" if given["deterministic"] else "--no-deterministic")
  if given.get("precision", "float32") != "float32":
    flags += ["--precision", given["precision"]]
  return [*flags, *(f"--{name}" for name in ("xla", "profile") if given.get(name))]
