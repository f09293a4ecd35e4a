# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite.run`, `suite.report` and `suite.list_runs`: what the command line does, from Python.

Results of runs as Python objects: records, a pandas table, matplotlib figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
import functools
import os
import pathlib
import reprlib
from typing import Any

from suite.configs import gin_files
from suite.configs import run_files
from suite.configs import run_settings
from suite.reporting import run_dir
from suite.reporting import table_dir
from suite.reporting import tables
from suite.running import launch
from suite.running import this_process
from suite.system import processes
from suite.tables import table

_PATHS = reprlib.Repr()
_PATHS.maxstring = 80  # Letters of a path.
Params = Mapping[str, Any] | Sequence[str]


class Result:
  """Runs on disk; `str(result)` is the report of `suite report`.

  Args:
    dirs: work directories of runs or of whole tables.
    objects: of runs of Python objects, what opens one again; see `object_run.run`.

  Attributes:
    folders: these directories.
    failed: for a table, a line for each cell that failed in this call.
  """

  def __init__(self, dirs: Iterable[str | os.PathLike], failed: Iterable[str] = (),
               objects: Callable[..., Any] | None = None):
    self.folders = [pathlib.Path(d) for d in dirs]
    self._objects = objects
    self.failed = list(failed)
    missing = [str(folder) for folder in self.folders if not folder.is_dir()]
    if missing:
      raise FileNotFoundError(f"No such directory: {', '.join(missing)}. Give the workdir of a run "
                              "(./runs/RUN when none was given).")

  @property
  def runs(self) -> list[run_dir.Run]:
    """Every learner's run, finished or not."""
    # Of tables those that have begun: of their cells, and of the last run.
    of_tables = [workdir for folder in self._tables() for workdir in
                 table_dir.read(folder).workdirs() if any(workdir.glob(f"*/{run_dir.RECORDS}"))]
    return run_dir.load([*self._single(), *of_tables])

  @property
  def records(self) -> list[dict[str, Any]]:
    """The records of all runs, one event each; "run" is the learner's name."""
    return [record for run in self.runs for record in run.records]

  @property
  def summaries(self) -> dict[str, dict[str, Any]]:
    """The summary of each finished run, by its label."""
    return {run.label: dict(run.summary) for run in self.runs if run.is_finished}

  def table(self) -> Any:
    """A pandas DataFrame with a row for each finished run and a column for each number.

    Nested values have names such as "own_metrics.top5".
    """
    import pandas
    rows = []
    for run in self.runs:
      if run.is_finished:
        rows.append({"run": run.label, "protocol": run.protocol,
                     **{name: value for name, value in tables.flatten(run.summary).items()
                        if not isinstance(value, list)}})
    return pandas.DataFrame(rows, columns=None if rows else ["run", "protocol"]).set_index("run")

  def model(self, name: str | None = None, *, task: str = "") -> Any:
    """What a learner has trained, a `trained_model.TrainedModel`: raw images to scores of classes.

        model = result.model("er")
        model(images), model.class_names, model.keras, model.save("er.keras"), model.save("folder")

    Args:
      name: of the learner; None: the only one.
      task: of separate tasks, the one to answer, as "mnist"; "": the last one.
    """
    this_process.import_tensorflow()
    from suite.running import trained_model
    if len(self.folders) > 1:
      raise ValueError(f"This result has {len(self.folders)} work directories; ask the result of "
                       f"one: suite.report({str(self.folders[0])!r}).model({name!r}).")

    def opens(workdir: pathlib.Path) -> Any:
      return self._objects and functools.partial(self._objects, workdir)

    return trained_model.of_workdir(self.folders[0], name, task=task, open_objects=opens)

  def figures(self) -> dict[str, Any]:
    """matplotlib figures of the report's panels, by name."""
    # Imported here, so that a report needs no matplotlib.
    from suite.reporting import figures
    from suite.reporting.run_panels import report_sections
    return {name: figures.draw(panel.chart, title=panel.title)
            for name, panel in report_sections.named(report_sections.load(self.folders)).items()
            if panel.chart and figures.can_draw(panel.chart)}

  def __str__(self) -> str:
    return tables.report(self.folders, most=processes.terminal_width())

  def __repr__(self) -> str:
    runs = self.runs
    num = f"{len(runs)} {'run' if len(runs) == 1 else 'runs'}"
    done = sum(run.is_finished for run in runs)
    more = f" and {len(self.folders) - 1} more folders" if len(self.folders) > 1 else ""
    return (f"Result({_PATHS.repr(str(self.folders[0]))}{more}, {num}, {done} finished; print "
            "shows the report)")

  def _repr_html_(self) -> str:
    return self.table().to_html()

  def _tables(self) -> list[pathlib.Path]:
    return [folder for folder in self.folders if table_dir.is_table(folder)]

  def _single(self) -> list[pathlib.Path]:
    return [folder for folder in self.folders if not table_dir.is_table(folder)]


def run(
    run: str | None = None,
    *,
    protocol: Callable[..., Any] | str | None = None,
    learners: Any = None,
    workdir: str | os.PathLike | None = None,
    params: Params = (),
    files: Sequence[str | os.PathLike] = (),
    metrics: Mapping[str, Callable[..., Any]] | None = None,
    seeds: Sequence[int] = (),
    jobs: int | None = None,
    only: Sequence[str] = (),
    method_settings: str = "",
    **settings: Any,
) -> Result:
  """Runs a run file, or a protocol with learners; resumes what was interrupted.

      suite.run("quickstart", workdir="runs/x", params={"STEPS": 20})
      suite.run(protocol="clear", buckets=buckets, learners={"mine": model}, workdir="runs/y")

  Args:
    run: a name from `suite.list_runs()`, or the path of a gin file; a table of runs, too.
    protocol: "nevis", "clear", "incremental", "cfsl", "fluid", "lifelong" or "pretrain", or a
      function protocol(learner, *, state, ...) that returns a summary of plain values.
    learners: with a protocol, by name: a learner, a function that makes one, a Keras model, or what
      `suite.learner` returned. One without a name is called "mine". With a run file, names of
      methods that take the place of its learners: ["er", "der_plus_plus"].
    workdir: directory of results and state; runs/RUN if not given. What has run there is resumed or
      read; a run of other settings, data or code is computed beside it.
    params: of a run file, {"STEPS": 20}, or strings "X=Y" as of --gin_param; with methods also
      their settings, {"memory_size": 200}.
    files: gin files to read after the run file.
    metrics: further metrics by name: functions of labels and logits, or of records.
    seeds: a run for each; the report has means and standard deviations.
    jobs, only: of a table or several seeds, as --jobs and --only.
    method_settings: named values of methods, as --settings: "cpu".
    **settings: seed, budget, data_dir, mirror, strategy, devices, profile and the like, see
      `run_settings.RunSettings`; progress=False hides the progress on stderr. With a protocol also
      the protocol's own arguments.

  Returns:
    The results; `print` shows the report.
  """
  this_process.configure_python_logging()
  if workdir is not None:
    settings["workdir"] = str(workdir)
  if (run is None) == (protocol is None):
    raise ValueError("suite.run takes the name of a run file or a protocol, one of the two: "
                     "suite.run('quickstart'), or suite.run(protocol='clear', buckets=..., "
                     "learners=...).")
  if run is None:
    if params or files or jobs or only or method_settings:
      raise ValueError("params, files, jobs, only and method_settings belong to run files; give a "
                       "protocol's own arguments by their names.")
    # A run file that has a mistake need not wait for TensorFlow.
    this_process.import_tensorflow()
    from suite.running import object_run
    run_objects = functools.partial(object_run.run, protocol, learners, metrics=metrics)

    def again(workdir: pathlib.Path, take: Callable[..., str]) -> None:
      seed = {"seed": int(workdir.name)} if seeds else {}
      run_objects(settings={**settings, **seed, "workdir": str(workdir)}, instead=take)

    if not seeds:
      return Result([run_objects(settings=settings)], objects=again)
    parent = settings.pop("workdir", "") or os.path.join("runs", f"{protocol}-seeds")
    shared = {"codes": os.path.join(parent, run_settings.CODES), **settings}
    return Result([run_objects(settings={
        **shared, "seed": seed, "workdir": os.path.join(parent, str(seed))})
        for seed in _checked_seeds(seeds)], objects=again)
  names = [learners] if isinstance(learners, str) else learners
  if names is not None and (isinstance(names, Mapping) or not isinstance(names, Iterable)
                            or not all(isinstance(name, str) for name in names)):
    raise ValueError(f"The run file {run!r} has its data and network; its learners may be replaced "
                     "by methods of suite list --methods, learners=['er', 'der_plus_plus']. For "
                     "objects give protocol= instead of a run file.")
  file = run_settings.find(str(run), extra_files=[str(one) for one in files],
                           params=bindings(params), methods=list(names or ()),
                           method_settings=method_settings)
  budget = settings.pop("budget", "")
  return _run_file(launch.seeded(
      file, None, _checked_seeds(seeds), budget), run_settings.from_python({
      "command": f"suite.run({str(run)!r})", **settings}), metrics, seeds, jobs, only)


def _checked_seeds(seeds: Sequence[int]) -> list[int]:
  if isinstance(seeds, (str, int)) or not all(isinstance(seed, int) for seed in seeds):
    raise ValueError(f"seeds is {seeds!r}; give a list of whole numbers, [0, 1, 2]. One seed is "
                     "seed=0.")
  if len(set(seeds)) < len(seeds):
    raise ValueError(f"seeds is {seeds!r}; give each seed once.")
  return list(seeds)


def _run_file(file: run_settings.RunFile, given: run_settings.RunSettings,
              metrics: Mapping[str, Callable[..., Any]] | None, seeds: Sequence[int],
              jobs: int | None, only: Sequence[str]) -> Result:
  """Runs a run file; a table of runs, or one run with several seeds, in processes."""
  is_table = table.is_table(file.path)
  of_seeds = () if is_table else seeds  # A table has them in its bindings.
  folder = given.for_run(file.folder + "-seeds" * bool(of_seeds)).workdir
  if is_table or of_seeds:
    if metrics:
      raise ValueError(f"The runs of {file.name} are processes; metrics are for single runs. Set "
                       "experiment.run.metrics in the run files.")
    made = launch.table_run(file, given, seeds=of_seeds, jobs=jobs or table.TableOrder.jobs,
                            only=only)()
    elsewhere = [f"{line}, which runs elsewhere" for line in made.elsewhere]
    return Result([folder], [*made.failed, *elsewhere])
  if jobs or only:
    raise ValueError(f"jobs and only are for tables, and {file.name} is one run. Leave them out.")
  launch.experiment_run(file, given, metrics=metrics)()
  return Result([folder])


def report(*dirs: str | os.PathLike) -> Result:
  """The results of work directories, of this process or any other; `print` shows the report."""
  if not dirs:
    raise ValueError("suite.report takes the work directories of runs: suite.report('runs/x').")
  return Result(dirs)


def list_runs() -> dict[str, str]:
  """What each shipped run file is, by its name."""
  return {name: run_files.description(path) for name, path in run_files.shipped().items()}


def bindings(params: Params) -> list[str]:
  """Bindings "X=Y" of a mapping; text is quoted, but for references such as "%NAME" and "@fn()"."""
  if isinstance(params, str) or not isinstance(params, Iterable):
    raise ValueError(f"params is {params!r}; give a mapping such as {{'STEPS': 20}}, or a list of "
                     "'X=Y'.")
  if not isinstance(params, Mapping):
    return list(params)
  found = []
  for name, value in params.items():
    if isinstance(value, pathlib.PurePath):
      value = str(value)
    if isinstance(value, str) and value[:1] in ("@", "%"):
      text = value
    else:
      if hasattr(value, "item"):
        value = value.item()  # A NumPy scalar prints its type.
      text = repr(value)
      if "<" in text and " at 0x" in text:
        raise gin_files.ConfigError(
            f"params has {value!r}, which gin cannot write down; give numbers, text, lists and "
            "references such as '@fn'. Objects are for suite.run(protocol=...).")
    found.append(f"{name}={text}")
  return found
