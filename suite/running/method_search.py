# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A search of a method's settings: a table of runs on development data, and the best of them.

A trial is an ordinary run, a row of a table of runs with other settings of one method, so that it
resumes, is verified and reported as every run is, and runs on the engines that tables have. Which
settings a trial has is a function of the seed, the trial's number and, where the oracle reads
results, those of the trials before, in their order. The settings of all trials that were begun are
in search.json: a search that is stopped goes on with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
import math
import pathlib
import shlex
from typing import Any, NamedTuple

from suite.compute import seeds
from suite.configs import chosen_settings
from suite.configs import gin_bindings
from suite.configs import gin_files
from suite.configs import methods
from suite.configs import run_files
from suite.configs import run_settings
from suite.configs import search_space
from suite.contracts import descriptions
from suite.metrics import schema
from suite.reporting import run_dir
from suite.running import launch
from suite.running import this_process
from suite.state import snapshots
from suite.system import folders
from suite.tables import table

FILE, TRIALS = "search.json", "trials"  # The folder of their table.
_COSTS = ("flops", "macs", "examples", "steps")
DEVELOPMENT = "experiment.run.development"


@dataclasses.dataclass(frozen=True)
class SearchOrder:
  """What a user asks of a search.

  Attributes:
    run: a name of `suite list`, or a gin file. method: its name.
    over: the space, see `search_space`.
    settings: where and how the trials compute; the work directory is that of the search.
    trials: their number.
    tasks: number of the first tasks that settings are selected on; None: all.
    on: a run or a data set in place of the run's; "": the run's own.
    oracle: one of `search.ORACLES`. at_once: of "bayesian", trials that are proposed together.
    seed: of the proposals, of the development data and of each trial's run.
    params, method_settings, extra_files: of the run, as of `run_settings.find`.
    jobs, run_all: as of `table.TableOrder`.
  """

  run: str
  method: str
  over: Sequence[str]
  settings: run_settings.RunSettings
  trials: int = 20
  tasks: int | None = None
  on: str = ""
  oracle: str = "random"
  at_once: int = 1
  seed: int = 0
  params: Sequence[str] = ()
  method_settings: str = ""
  extra_files: Sequence[str] = ()
  jobs: int = 1
  run_all: Any = None

  def find(self, run: str) -> run_settings.RunFile:
    """A run with the method, and what is given of its settings."""
    return run_settings.find(run, methods=[self.method], method_settings=self.method_settings,
                             params=self.params, extra_files=self.extra_files)


class SearchResult(NamedTuple):
  """The report, lines of trials that failed or run elsewhere, and best.json; None: not yet."""

  report: str
  failed: list[str]
  elsewhere: list[str]
  best: pathlib.Path | None


def run(order: SearchOrder) -> SearchResult:
  """Runs the trials that are not finished, and writes best.json when all have ended."""
  own = order.find(order.run)
  method, = methods.named(own.methods)
  file = _on(order, own)
  space = _space(order, method, own, file)
  folder = pathlib.Path(order.settings.for_run(f"{own.folder}-search").workdir)
  folders.check(folder, "--workdir")
  search = _Search(order, method, file, space, folder, *_selected_on(order, file))
  search.claim()
  failed: dict[str, str] = {}
  elsewhere: list[str] = []
  report = ""
  while wave := search.next_wave():
    found = search.run(wave)
    failed |= {line.partition("/")[0]: line for line in found.failed}
    elsewhere, report = found.elsewhere, found.report
    if elsewhere:
      return SearchResult(report, list(failed.values()), elsewhere, None)
  trials = search.results()
  done = [trial for trial in trials if trial["score"] is not None]
  if not done:
    return SearchResult(report, list(failed.values()), [], None)
  return SearchResult(f"{report}\n\n{search.choose(trials)}", list(failed.values()), [],
                      folder / chosen_settings.FILE)


def _on(order: SearchOrder, file: run_settings.RunFile) -> run_settings.RunFile:
  """The run of the trials, on the data of --on."""
  if not order.on:
    return file
  if order.on in run_files.shipped() or pathlib.Path(order.on).suffix == ".gin":
    other = order.find(order.on)
    before, after = (methods.protocol_of(one.path, one.paths()[1:], one.params)
                     for one in (file, other))
    if before != after:
      raise gin_files.ConfigError(f"--on {order.on} runs {after}, and {order.run} {before}: "
                                  "settings are selected in a scenario of the same form. Give a "
                                  f"run of {before}: suite list --benchmark {before}")
    return other
  found = gin_files.scan(file.paths(), file.bindings(), checks=False)
  names = [settings[-1].text for key in sorted(gin_bindings.reached(found.history) or ())
           if key[2] == "data" and (settings := found.history.get(key))]
  if not names:
    raise gin_files.ConfigError(
        f"--on {order.on!r} is no run of suite list and no gin file, and {file.name} does not read "
        "its data by the name of a data set, which would be replaced. Give a run of the same "
        f"protocol. {gin_files.nearest(order.on, run_files.shipped())}")
  return dataclasses.replace(file, params=[
      *file.params, *(f"{name}={order.on!r}" for name in names)])


def _space(order: SearchOrder, method: methods.Method, own: run_settings.RunFile,
           file: run_settings.RunFile) -> list[tuple[search_space.Dimension, str]]:
  """The dimensions, and what binds each in a trial."""
  if not order.over:
    raise gin_files.ConfigError("A search needs a space: --over 'learning_rate=0.01..0.3 log'. "
                                f"The settings of {method.name}: suite show {method.name}")
  of_run, of_trial = (methods.settings_in(
      gin_files.scan(one.paths(), one.bindings(), checks=False), method)
                      for one in (own, file))
  dimensions = search_space.parse(order.over, of_run, f"The method {method.name}")
  search_space.parse(order.over, of_trial, f"The method {method.name} in {file.name}")
  found = [(one, of_trial[one.name].binds) for one in dimensions]
  fixed = set(map(table.key, file.params))
  for one, binds in found:
    if binds in fixed:
      raise gin_files.ConfigError(f"--over {one.text!r} searches {one.name}, which --set gives a "
                                  "value. Leave one of them out.")
  if order.oracle == "grid" and (ranges := [one.text for one, _ in found if not one.values]):
    raise gin_files.ConfigError(f"--oracle grid tries values, and --over {ranges[0]!r} is a range. "
                                "Give values with commas, or --oracle random.")
  if order.oracle == "grid" and (num := math.prod(len(one.values) for one, _ in found)
                                 ) > order.trials:
    raise gin_files.ConfigError(f"--oracle grid has {num} trials here, and --trials is "
                                f"{order.trials}: give --trials {num}, or fewer values.")
  return found


def _selected_on(order: SearchOrder, file: run_settings.RunFile
                 ) -> tuple[str, descriptions.Measure]:
  """(the development data in words, the score); reads the data, and refuses what cannot run on it.
  """
  this_process.import_tensorflow()
  from suite.contracts import refusals
  from suite.metrics import own_metrics
  from suite.protocols import development

  def text(protocol: Any, learners: Any, seed: int, distribution: Any) -> str:
    protocol, said = development.Development(order.tasks, seed=order.seed).of(protocol)
    refusals.before_first_event(protocol, learners, seed=seed, distribution=distribution,
                                metrics=own_metrics.OwnMetrics(None))
    return said

  found = launch.experiment_run(file, order.settings.replaced(
      seed=order.seed, workdir=order.settings.workdir or "runs"), instead=text)()
  name = methods.protocol_of(file.path, file.paths()[1:], file.params)
  return f"{found} ({order.on})" if order.on else found, development.score(name)


class _Search:
  """The trials of one search in a folder."""

  def __init__(self, order: SearchOrder, method: methods.Method, file: run_settings.RunFile,
               space: Sequence[tuple[search_space.Dimension, str]], folder: pathlib.Path,
               selected_on: str, measure: descriptions.Measure):
    self._order, self._method, self._file, self._space = order, method, file, space
    self._folder, self._table, self._selected_on = folder, folder / TRIALS, selected_on
    self._measure = measure
    self._places: list[dict[str, float]] = []  # Of each trial, by setting.
    self._num_ran = 0
    self._about = {
        "method": method.name, "run": order.run, "over": list(order.over),
        "on": order.on, "tasks": order.tasks, "oracle": order.oracle, "seed": order.seed,
        "set": list(order.params), "method_settings": order.method_settings,
        "files": list(order.extra_files), "selected_on": selected_on,
        **({} if order.oracle == "random" else
           {"trials": order.trials, "at_once": order.at_once})}

  def claim(self) -> None:
    """Takes up the search of the folder, or begins it; refuses another one's folder."""
    path = self._folder / FILE
    known = run_dir.read_json(path)
    if known:
      different = [name for name, value in self._about.items() if known.get(name) != value]
      if different:
        name = different[0]
        raise gin_files.ConfigError(
            f"{self._folder} holds another search: {name} was {known.get(name)!r}, and is "
            f"{self._about[name]!r} now. Give its command again, or another --workdir.")
      self._places = known["places"]
    elif self._folder.exists() and any(  # A damaged file of the search may have been deleted.
        path.name not in (TRIALS, chosen_settings.FILE) for path in self._folder.iterdir()):
      raise gin_files.ConfigError(f"{self._folder} is not empty and holds no search; give another "
                                  "--workdir.")
    else:
      folders.make(self._folder, "--workdir")

  def next_wave(self) -> list[int]:
    """The numbers of the trials to run next; their settings are kept before they run."""
    num, first = self._order.trials, self._num_ran
    if first >= num:
      return []
    is_bayesian = self._order.oracle == "bayesian"
    if len(self._places) <= first if is_bayesian else len(self._places) < num:
      self._places += self._proposed(len(self._places))
      snapshots.save_text(self._folder / FILE,
                          run_dir.sealed({**self._about, "places": self._places}))
    self._num_ran = min(num, first + self._order.at_once) if is_bayesian else num
    return list(range(first, min(self._num_ran, len(self._places))))

  def _proposed(self, first: int) -> list[dict[str, float]]:
    """What an oracle draws for the trials from the `first` on."""
    from suite.training.gradient import search
    order, drawn = self._order, {one.name: one.drawn for one, _ in self._space}
    seed = 1 + seeds.derive(order.seed, "search")[0]  # keras-tuner takes 0 for no seed.
    if order.oracle != "bayesian":
      return search.independent(order.oracle, drawn, order.trials, seed)[first:]
    sign = 1.0 if self._measure.better == descriptions.LOWER else -1.0
    tried = [(place, None if trial["score"] is None else sign * trial["score"])
             for place, trial in zip(self._places, self.results())]
    searched = sum(len(one.values) != 1 for one, _ in self._space)
    wave: list[dict[str, float]] = []
    for _ in range(min(order.at_once, order.trials - first)):
      made = search.bayesian(drawn, order.trials, seed, tried=tried, pending=wave,
                             num_initial=max(1, min(3 * searched, order.trials // 2)))
      if made is None:
        break
      wave.append(made)
    return wave

  def run(self, wave: Sequence[int]) -> table.TableResult:
    """Runs the trials of a wave that are not finished."""
    order = self._order
    is_shipped = self._file.path == run_files.shipped().get(self._file.name)
    run_file = self._file.name if is_shipped else str(self._file.path)
    rows = {self._name(number): (run_file, {
        binds: one.value(place[one.name]) for one, binds in self._space})
            for number, place in enumerate(self._places)}
    development = {"tasks": order.tasks, "seed": order.seed}
    measure = self._measure
    return table.run(
        runs=rows, columns={self._method.name: {}}, seeds=[order.seed],
        report=table.Report({measure.key: measure.text}, ("flops", "seconds"), notes=[
            f"Trials of a search, on {self._selected_on}; test data has no part in it."]),
        order=table.TableOrder(
            dataclasses.replace(self._file, params=[
                *self._file.params, f"{DEVELOPMENT}={development!r}"]),
            order.settings.replaced(workdir=str(self._table)), order.jobs, order.run_all,
            only=[self._name(number) for number in wave]))

  def results(self) -> list[dict[str, Any]]:
    """The trials so far: settings, score (None: it failed) and costs."""
    found = []
    for number, place in enumerate(self._places[:self._num_ran]):
      cell = self._table / self._name(number) / self._method.name / str(self._order.seed)
      runs = run_dir.load([cell]) if cell.is_dir() else []
      totals = runs[0].totals if runs else {}
      found.append({
          "trial": number, **{one.name: one.value(place[one.name]) for one, _ in self._space},
          "score": totals.get(self._measure.key) if runs and runs[0].is_finished else None,
          **{name: totals.get(name, 0) for name in _COSTS}})
    return found

  def choose(self, trials: Sequence[Mapping[str, Any]]) -> str:
    """Writes best.json; returns what it says."""
    sign = 1.0 if self._measure.better == descriptions.LOWER else -1.0
    best = min((trial for trial in trials if trial["score"] is not None),
               key=lambda trial: sign * trial["score"])
    settings = {one.name: best[one.name] for one, _ in self._space}
    cost = {name: None if any(trial[name] is None for trial in trials) else
            sum(trial[name] for trial in trials) for name in _COSTS}
    path = self._folder / chosen_settings.FILE
    snapshots.save_text(path, run_dir.sealed({
        **self._about, "settings": settings, schema.BEST_TRIAL: best["trial"],
        "measure": self._measure.key, "cost": cost, "trials": list(trials)}) + "\n")
    shown = ", ".join(f"{name}={value}" for name, value in settings.items())
    order = self._order
    command = ["suite", "run", order.run, "--methods", self._method.name, "--settings", str(path)]
    for flag, values in (("--gin_file", order.extra_files), ("--set", order.params)):
      command += [word for value in values for word in (flag, value)]
    return (f"{self._method.name}: {shown} ({self._name(best['trial'])}), {self._measure.text} "
            f"{best['score']:.4f} on {self._selected_on}.\n"
            f"To use it: {shlex.join(command)}")

  def _name(self, number: int) -> str:
    return f"trial_{number:03d}"
