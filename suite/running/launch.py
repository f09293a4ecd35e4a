# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""From a run file to the function that runs it: the one way of `suite run` and of `suite.run`.

Both functions return `experiment.run` or `table.run` with all its arguments, which the caller then
calls, so that no frame of this module lies between the command and the protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import functools
import pathlib
import tempfile
from typing import Any

from suite.configs import gin_files
from suite.configs import gin_parse
from suite.configs import methods
from suite.configs import run_files
from suite.configs import run_settings
from suite.contracts import descriptions
from suite.reporting import run_dir
from suite.reporting import tables
from suite.running import this_process
from suite.system import folders
from suite.system import processes
from suite.tables import table

# Settings that a run file may set instead, as parameters of `experiment.run`.
_OF_EITHER = ("seed", "op_threads", "budget")


def experiment_run(
    file: run_settings.RunFile, settings: run_settings.RunSettings, *, own_process: bool = False,
    metrics: Mapping[str, Callable[..., Any]] | None = None,
    instead: Callable[..., str] | None = None) -> Callable[[], str]:
  """The function that runs one experiment, or resumes it, and returns the report.

  Args:
    file: what runs.
    settings: where and how.
    own_process: whether this process does nothing but this run.
    metrics, instead: see `experiment.run`.
  """
  # Finds most errors before TensorFlow is imported.
  gin_files.scan(file.paths(), file.bindings())
  settings.set_data_dirs()
  this_process.import_tensorflow()
  from suite import experiment
  if own_process:
    this_process.settle(debug=settings.debug)
  found = gin_parse.parse(file.paths(), file.bindings(), names=settings.gin_names)
  from suite.running import run_parts
  origin = run_settings.RunOrigin(
      gin_parse.config_text(), functools.partial(run_parts.of_gin, found),
      functools.partial(gin_parse.unused_bindings, found), file.changes(found))
  given: dict[str, Any] = {"settings": settings.for_run(file.folder), "origin": origin}
  given.update({name: value for name, value in (("metrics", metrics), ("instead", instead))
                if value is not None})
  given.update({name: getattr(settings, name) for name in _OF_EITHER
                if getattr(settings, name) != getattr(run_settings.RunSettings, name)})
  return gin_parse.configured(experiment.run, given)


def open_stored(workdir: pathlib.Path, instead: Callable[..., str], *,
                names: Sequence[str] = ()) -> None:
  """Opens a run of gin files by the configuration in its work directory, where nothing is written.

  Args:
    workdir: has the configuration, and the environment that says how the run computed.
    instead: see `experiment.run`.
    names: what the configuration may name, see `gin_names`; (): everything.
  """
  environment = run_dir.read_json(workdir / run_dir.ENVIRONMENT)
  computed = environment.get("arithmetic", {})
  config = (workdir / run_dir.CONFIG).resolve()
  bound = gin_files.scan_text(config.read_text(encoding="utf-8")).parameters
  settings = run_settings.RunSettings(
      workdir=str(workdir), precision=computed.get("precision", "float32"),
      xla=computed.get("xla", False), deterministic=computed.get("deterministic"), gin_names=names,
      seed=0 if "experiment.run.seed" in bound else environment.get("seed", 0))
  with tempfile.TemporaryDirectory() as folder:
    # Of an included file, values that the run does not read are no mistake.
    path = pathlib.Path(folder, f"{workdir.name}.gin")
    path.write_text(f"include {str(config)!r}\n", encoding="utf-8")
    experiment_run(run_settings.RunFile(workdir.name, path), settings, instead=instead)()


def seeded(file: run_settings.RunFile, seed: int | None, seeds: Sequence[int] | None,
           budget: str = "") -> run_settings.RunFile:
  """The run with its seed and budget, a table with its seeds and the budget of each cell.

  Several seeds of a run are for `table_run`.
  """
  if budget:  # A setting of the run, which its work directory belongs to.
    run_settings.RunSettings(budget=budget)
    file = dataclasses.replace(file, params=[*file.params, f"experiment.run.budget={budget!r}"])
  if seed is not None and seeds:
    raise gin_files.ConfigError("--seed is one seed, --seeds are several: leave one of them out.")
  if table.is_table(file.path):
    given = tuple(seeds or ([] if seed is None else [seed]))
    param = f"table.run.seeds={given!r}" if given else ""
  else:
    param = "" if seed is None else f"experiment.run.seed={seed}"
  return dataclasses.replace(file, params=[*file.params, param]) if param else file


def table_run(file: run_settings.RunFile, settings: run_settings.RunSettings, *,
              seeds: Sequence[int] = (), **order: Any) -> Callable[[], Any]:
  """The function that runs the cells of a table that are not finished, then reports all of them.

  Args:
    file: what runs.
    settings: where and how, for every cell.
    seeds: of a single run: the table has one cell for each, and reports means and deviations.
    **order: jobs, run_all, only, instead, of `table.TableOrder`.
  """
  if settings.strategy in ("multi_worker", "slurm"):
    raise gin_files.ConfigError(
        f"--strategy {settings.strategy} is for one run that every machine starts; a table starts "
        "its runs itself. Leave it out: the same command on every machine shares the table.")
  if settings.share:
    raise gin_files.ConfigError(
        f"--share is a flag of one run, and {file.name} is a table. Leave it out: the same "
        "command, given several times, shares the table's cells.")
  if seeds:
    settings.set_data_dirs()
    gin_files.scan(file.paths(), file.bindings())
    if len(set(seeds)) < len(seeds):
      raise gin_files.ConfigError(f"--seeds has {', '.join(map(str, seeds))}; give each seed once.")
    further = file.paths()
    protocol = methods.protocol_of(file.path, [one for one in further if one != file.path],
                                   file.params)
    measures: dict[str, str] = {}
    if protocol:
      this_process.import_tensorflow()
      measures = {one.key: one.text for one in descriptions.named(protocol).measures}
    is_shipped = file.path == run_files.shipped().get(file.name)
    return functools.partial(
        table.run, runs={file.name: file.name if is_shipped else str(file.path)},
        columns={protocol or "run": {}}, seeds=list(seeds),
        report=table.Report(measures=measures, costs=("flops", "seconds")),
        order=table.TableOrder(file, settings.for_run(f"{file.folder}-seeds"), **order))
  own, of_cells = table.divide(file.path, file.params)
  gin_parse.parse([file.path], own, names=settings.gin_names)
  settings.set_data_dirs()
  file.paths()  # Raises if one does not exist.
  report = gin_parse.group(table.Report)
  return gin_parse.configured(table.run, {"report": report, "order": table.TableOrder(
      dataclasses.replace(file, params=of_cells), settings.for_run(file.name), **order)})


def engine_run(file: run_settings.RunFile, settings: run_settings.RunSettings,
               run_all: Callable[..., list[processes.Outcome]], number: int) -> table.TableResult:
  """Runs one experiment in `number` processes that an engine starts; they share its trials.

  Their logs stand beside the work directory.
  """
  gin_files.scan(file.paths(), file.bindings())  # Finds most errors before anything starts.
  settings.set_data_dirs()
  settings = settings.for_run(file.folder)
  folder = pathlib.Path(settings.workdir)
  folders.check(folder, "--workdir")
  run = file.name if file.name in run_files.shipped() else str(file.path)
  command = [*table.COMMAND, run, *settings.flags()]
  command += ["--methods", ",".join(file.methods)] if file.methods else []
  for flag, values in (("--gin_file", file.extra_files), ("--gin_param", file.params)):
    command += [word for value in values for word in (flag, value)]
  gpus = settings.devices or int(settings.strategy == run_settings.STRATEGIES[0])
  outcomes = run_all([
      processes.Job(f"{folder.name}.{i}", command, folder.with_name(f"{folder.name}.{i}.log"),
                    gpus=gpus, folder=folder if number == 1 else None)
      for i in range(number)], number)
  text = tables.report([folder], most=processes.terminal_width()) if folder.is_dir() else ""
  return table.TableResult.of(text, outcomes)
