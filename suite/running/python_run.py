# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite.run`, `suite.report` and `suite.list_runs`: what the command line does, from Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import os
import pathlib
from typing import Any, Callable, Union

from suite.configs import gin_files
from suite.running import launch
from suite.running import logs
from suite.running import results

Params = Union[Mapping[str, Any], Sequence[str]]


def run(
    run: str | None = None,
    *,
    protocol: Callable[..., Any] | str | None = None,
    learners: Any = None,
    workdir: str | os.PathLike | None = None,
    params: Params = (),
    files: Sequence[str | os.PathLike] = (),
    trusted_modules: Sequence[str] = (),
    metrics: Mapping[str, Callable[..., Any]] | None = None,
    jobs: int | None = None,
    only: Sequence[str] = (),
    **settings: Any,
) -> results.Result:
  """Runs a run file, or a protocol with learners; resumes what was interrupted.

      suite.run("quickstart", workdir="runs/x", params={"STEPS": 20})
      suite.run(protocol="clear", buckets=buckets, learners={"mine": model}, workdir="runs/y")

  Args:
    run: a name from `suite.list_runs()`, or the path of a gin file; a table of runs, too.
    protocol: "nevis", "clear", "cfsl", "fluid", "lifelong" or "pretrain", or a function
      protocol(learner, *, state, ...) that returns a summary of plain values.
    learners: by name: a learner, a function that makes one, a Keras model, or what
      `suite.learner` returned. One without a name is called "mine".
    workdir: directory of results and state; runs/RUN if not given. It belongs to one
      configuration.
    params: of a run file, {"STEPS": 20}, or strings "X=Y" as of --gin_param.
    files: gin files to read after the run file.
    trusted_modules: the only modules that the run file may import; (): any.
    metrics: further metrics by name: functions of labels and logits, or of records.
    jobs, only: of a table, as --jobs and --only.
    **settings: seed, data_dir, mirror, strategy, devices, profile and the like, arguments of
      `experiment.run`; with a protocol also the protocol's own arguments.

  Returns:
    The results; `print` shows the report.
  """
  logs.configure()
  if (run is None) == (protocol is None):
    raise ValueError("suite.run takes the name of a run file or a protocol, one of the two: "
                     "suite.run('quickstart'), or suite.run(protocol='clear', buckets=..., "
                     "learners=...).")
  if run is None:
    if params or files or jobs or only:
      raise ValueError("params, files, jobs and only belong to run files; give a protocol's own "
                       "arguments by their names.")
    # A run file that has a mistake need not wait for TensorFlow.
    logs.import_tensorflow()
    from suite.running import object_run
    return object_run.run(protocol, learners, workdir=workdir, metrics=metrics, **settings)
  if learners is not None:
    raise ValueError(f"The run file {run!r} names its learners. Leave learners out, or give "
                     "protocol= instead of a run file.")
  asked = launch.find(
      str(run), extra_files=[str(file) for file in files], params=bindings(params),
      workdir="" if workdir is None else str(workdir), trusted_modules=trusted_modules,
      command=f"suite.run({str(run)!r})")
  given = {**launch.defaults(), **settings}
  if asked.is_table:
    if metrics:
      raise ValueError(f"{asked.name} is a table, whose runs are processes; metrics are for single "
                       "runs. Set experiment.run.metrics in the run files.")
    made = launch.run_table(asked, given, jobs=jobs or 1, only=only)
    elsewhere = [f"{line}, which runs elsewhere" for line in made.elsewhere]
    return results.Result([asked.folder], [*made.failed, *elsewhere])
  if jobs or only:
    raise ValueError(f"jobs and only are for tables, and {asked.name} is one run. Leave them out.")
  launch.run_one(asked, {**given, **({"metrics": metrics} if metrics else {})})
  return results.Result([asked.folder])


def report(*dirs: str | os.PathLike) -> results.Result:
  """The results of work directories, of this process or any other; `print` shows the report."""
  if not dirs:
    raise ValueError("suite.report takes the work directories of runs: suite.report('runs/x').")
  return results.Result(dirs)


def list_runs() -> dict[str, str]:
  """What each shipped run file is, by its name."""
  return {name: gin_files.description(path) for name, path in gin_files.run_files().items()}


def bindings(params: Params) -> list[str]:
  """Bindings "X=Y" of a mapping; text is quoted, but for references such as "%NAME" and "@fn()"."""
  if isinstance(params, str):
    raise ValueError(f"params is {params!r}; give a mapping such as {{'STEPS': 20}}, or a list of "
                     "'X=Y'.")
  if not isinstance(params, Mapping):
    return list(params)
  return [f"{name}={_value(value)}" for name, value in params.items()]


def _value(value: Any) -> str:
  if isinstance(value, pathlib.PurePath):
    value = str(value)
  if isinstance(value, str) and value[:1] in ("@", "%"):
    return value
  if hasattr(value, "item"):
    value = value.item()  # A NumPy scalar prints its type.
  text = repr(value)
  if "<" in text and " at 0x" in text:
    raise gin_files.ConfigError(
        f"params has {value!r}, which gin cannot write down; give numbers, text, lists and "
        "references such as '@fn'. Objects are for suite.run(protocol=...).")
  return text

