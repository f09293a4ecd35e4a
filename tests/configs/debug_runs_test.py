# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""gin/debug.gin shrinks every shipped run to seconds, on the embedded digits in place of its data.

Each run file is run with one learner at least, and one cell of each table. Each learner of a
benchmark is run in one run file at least, unless it is a method that
tests/contracts/method_matrix_test.py runs under that protocol, by the same gin file. What the user
binds is used: a run that leaves a binding of its run file unused fails.

On the digits, several runs and cells read the same values of the same bindings. One of these is
run, and what it used is compared with the bindings of each.
"""

from __future__ import annotations

import ast
import functools
import json
import pathlib
from typing import Any

import pytest
import tensorflow as tf

from suite import experiment
from suite.configs import gin_bindings
from suite.configs import gin_files
from suite.configs import gin_parse
from suite.configs import methods
from suite.configs import run_settings
from suite.reporting import table_dir
from suite.tables import table

DEBUG = gin_files.root() / "gin" / "debug.gin"
FILES = gin_files.run_files()
TABLES = [name for name, path in FILES.items() if table.is_table(path)]
RUNS = [name for name in FILES if name not in TABLES]
NEEDS_QUICKSTART = ("digits/lifelong", "leaderboard/lifelong", "lifelong/methods")
# (Protocol, macro of the learner).
OF_MATRIX = {(protocol, method.macro) for method in methods.load()
             for protocol in method.protocols}
ENCODER_OF = {"digits/nevis_pt": "digits/nevis_pretrain", "nevis/pt": "nevis/pretrain_mt"}


def _learners(name: str) -> dict[str, str]:
  """The names of a run file's learners, and their macros; "" for one that is not a macro."""
  found = gin_files.scan([FILES[name]])
  value: Any = found.parameters["experiment.run.learners"].value
  while isinstance(value, str):
    value = found.macros[value[1:]].value
  return {learner: getattr(made, "scope", "") for learner, made in value.items()}


@functools.cache
def _chosen() -> dict[str, tuple[str, ...]]:
  """By run: the learners that neither a run before it of its benchmark nor the matrix has.

  The first if there is none.
  """
  seen: set[tuple[str, str]] = set()
  chosen = {}
  for name in ["quickstart", *(name for name in RUNS if name != "quickstart")]:
    benchmark = name.replace("quickstart", "nevis/").replace("digits/", "").replace("_", "/")
    benchmark, names = benchmark.split("/")[0], _learners(name)
    new = () if benchmark == "leaderboard" else tuple(
        n for n, macro in names.items()
        if (benchmark, n) not in seen and (benchmark, macro) not in OF_MATRIX)
    chosen[name] = new or (next(iter(names)),)
    seen |= {(benchmark, n) for n in names}
  return chosen


def _run(paths: list[pathlib.Path], params: list[str], only: tuple[str, ...],
         workdir: pathlib.Path) -> list[str]:
  """Runs it in this process; returns the unused bindings.

  If an equal run has ended, the work directory becomes a link to the one of that run.
  """
  tf.keras.backend.clear_session()
  pretrains = workdir.name.startswith("pretrain")
  if workdir.name not in ("quickstart", "cheap") and "nevis" in workdir.parts and not pretrains:
    params = [*params, "digits.nevis_stream.num_tasks=1"]  # Building ResNet-34 and ViT is slow.
  elif workdir.name == "nevis_mt":
    params = [*params, "digits.nevis_stream.num_tasks=2"]  # Six learners.
  found = gin_parse.parse([*paths, DEBUG], [*params, f"experiment.run.only={only!r}"])
  read = _values_read(found.history, only)
  if read in _finished:
    workdir.parent.mkdir(parents=True, exist_ok=True)
    workdir.symlink_to(_finished[read])
  else:
    gin_parse.configured(experiment.run, {
        "settings": run_settings.RunSettings(workdir=str(workdir))})()
    _finished[read] = workdir
  used = (workdir / "operative_config.gin").read_text()
  return gin_parse.unused_bindings(found, used, only)


_finished: dict[frozenset[tuple[gin_bindings.Key, str]], pathlib.Path] = {}


def _values_read(history: gin_bindings.History, only: tuple[str, ...]
                 ) -> frozenset[tuple[gin_bindings.Key, str]]:
  """All that a run with these learners can read: runs that read the same do the same."""
  last = {key: settings[-1:] for key, settings in history.items()}
  found = {("", "suite.experiment.run", "seed"): "0"}
  for key in gin_bindings._Walk(last, only).read - {("", "suite.experiment.run", "only")}:
    value = last[key][0].value if key in last else None
    if only and isinstance(value, dict) and value.keys() >= set(only):  # The run file's learners.
      value = {name: value[name] for name in only}
    found[key] = repr(value)
  return frozenset(found.items())


@pytest.fixture(scope="module", name="home")
def _home(tmp_path_factory):
  return tmp_path_factory.mktemp("debug")


@pytest.fixture(name="quickstart")
def _quickstart(home):
  """The predictions that runs of lifelong evaluation read."""
  if not (home / "runs" / "quickstart").exists():
    _run([FILES["quickstart"]], [], (), home / "runs" / "quickstart")


@pytest.fixture(name="encoder")
def _encoder(home):
  """The encoder that another run starts from, by the name of that run."""
  def of(name):
    run = ENCODER_OF[name]
    if not (home / "runs" / run).exists():
      _run([FILES[run]], [], (), home / "runs" / run)
  return of


@pytest.mark.parametrize("name", RUNS)
def test_every_run_ends_within_seconds(name, home, monkeypatch, request):
  monkeypatch.chdir(home)
  if name in NEEDS_QUICKSTART or name == "quickstart":
    request.getfixturevalue("quickstart")
  if name in ENCODER_OF:
    request.getfixturevalue("encoder")(name)
  learners = _chosen()[name]
  if name != "quickstart":
    unused = _run([FILES[name]], [], learners, home / "runs" / name)
    assert not unused, "\n".join(unused)
  for learner in learners:
    summary = json.loads((home / "runs" / name / learner / "summary.json").read_text())
    assert summary["run"] == learner


@pytest.mark.parametrize("name", TABLES)
def test_a_cell_of_every_table_ends_within_seconds_and_all_others_fit(name, home, monkeypatch):
  monkeypatch.chdir(home)
  cells = _cells(name, home / "tables" / name)
  table.settings_texts(cells)  # Raises where bindings of a row or column fit no macro or parameter.
  cell = cells[0]
  only = [p.partition("=")[2] for p in cell.params if p.startswith("experiment.run.only=")]
  learners = ast.literal_eval(only[0]) if only else _learners(cell.run)
  learner = learners if isinstance(learners, str) else next(iter(learners))
  _run([FILES[cell.run]], cell.params, (learner,), cell.folder)
  assert table_dir.is_finished(cell.folder)


def _cells(name: str, folder: pathlib.Path) -> list[table.TableCell]:
  """The cells that `suite run NAME --gin_file gin/debug.gin` runs."""
  gin_parse.parse([FILES[name]])
  seen: list[table.TableCell] = []

  def keep(chosen, waiting):
    del waiting
    seen.extend(chosen)

  gin_parse.configured(table.run, {
      "report": gin_parse.group(table.Report), "order": table.TableOrder(
          run_settings.RunFile(name, FILES[name], extra_files=[str(DEBUG)]),
          run_settings.RunSettings(workdir=str(folder)), instead=keep)})()
  return seen


def test_debug_gin_shrinks_on_the_runs_own_data_too():
  """gin/debug/short.gin binds lengths only: no stream, buckets, episodes, sequence or images."""
  bound = gin_files.scan([DEBUG.parent / "debug" / "short.gin"]).history
  data = {"stream", "buckets", "episodes_train", "episodes_test", "sequence", "base", "images"}
  assert bound and not data & {argument for _, _, argument in bound}


@pytest.mark.parametrize("param", ["cfsl.run.updates=7", "UPDATES=7"])
def test_the_command_line_goes_before_debug_gin(param):
  found = gin_files.scan([FILES["digits/cfsl"], DEBUG], [param])
  assert {**found.macros, **found.parameters}[param.split("=")[0]].value == 7
