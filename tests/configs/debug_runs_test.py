# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""gin/debug.gin shrinks every shipped run to seconds, on the embedded digits in place of its data.

Every run file begins with each of its learners: it is parsed, makes them, and its protocol goes
with the first of them to its first event. What the user binds of a function that gin has called
until then is used. Every table plans its cells, reads the files of one or more of each row and
column, and parses the first.

To its end goes what tests/contracts/method_matrix_test.py lacks: a run of each protocol, with one
learner, and of all runs the learners that have a part which no method of that table has under this
protocol, nor a learner before them, nor one of `RUN_ELSEWHERE`. A run that ended left no binding of
its file unused.
"""

from __future__ import annotations

from collections.abc import Sequence
import functools
import json
import pathlib
from typing import Any

import pytest
import stopped_runs
import tensorflow as tf

from suite import experiment
from suite.configs import gin_bindings
from suite.configs import gin_files
from suite.configs import gin_parse
from suite.configs import methods
from suite.configs import run_files
from suite.configs import run_settings
from suite.tables import table
from suite.training.gradient import frozen_backbone

DEBUG = gin_files.root() / "gin" / "debug.gin"
FILES = run_files.shipped()
TABLES = [name for name, path in FILES.items() if table.is_table(path)]
RUNS = [name for name in FILES if name not in TABLES]
NEEDS_QUICKSTART = ("digits/lifelong", "leaderboard/lifelong", "lifelong/methods",
                    "lifelong/paper_figures")
# (Protocol, macro of the learner).
OF_MATRIX = {(protocol, method.macro) for method in methods.load() for protocol in methods.NAMED
             if methods.column(protocol) in method.protocols}
TASKS = {"digits/nevis_mt": 2}  # An auxiliary task is an earlier one.
# Of one block, since each step, and each task of NEVIS'22, traces the net.
CONV4 = ("quickstart", "digits/nevis_mt", "digits/nevis_pretrain", "digits/nevis_pt",
         "digits/nevis_transfer", "digits/incremental")
# Run to their end, and most stopped and resumed, by baselines_test, semi_supervised, pretrain_test,
# fluid_oracle_test and fluid_published_test of tests/learners and tests/protocols.
RUN_ELSEWHERE = {
    ("digits/nevis_mt", "mt"), ("digits/nevis_mt", "mt_prev_all"),
    ("digits/clear_unlabelled", "pseudo_finetune"),
    ("digits/clear_unlabelled", "continued_encoder"), ("cfsl/omniglot_pretrain_moco", "moco"),
    ("fluid/published", "ncm_crops")}
ENCODER_OF = {"digits/nevis_pt": "digits/nevis_pretrain", "nevis/pt": "nevis/pretrain_mt"}


def _learners(found: gin_files.Scan) -> dict[str, Any]:
  """The learners of a run file by name; as the references that make them."""
  value: Any = found.parameters["experiment.run.learners"].value
  while isinstance(value, str):
    value = found.macros[value[1:]].value
  return value


def _protocol(found: gin_files.Scan) -> str:
  reference = found.parameters["experiment.run.protocol"].value
  return reference.name.split(".")[-2]


def _parts(found: gin_files.Scan) -> dict[str, frozenset[str]]:
  """The learners, and functions and classes of suite/training, that each learner is made of."""
  last = {key: settings[-1:] for key, settings in found.history.items()}
  none = gin_bindings._Walk(last, ("no learner",)).names
  return {learner: frozenset(
      name for name in gin_bindings._Walk(last, (learner,)).names - none
      if name.startswith(("suite.learners.", "suite.training.", "suite.lifelong.")))
          for learner in _learners(found)}


@functools.cache
def _ending() -> dict[str, tuple[str, ...]]:
  """The learners that are run to their end, by run."""
  scans = {name: gin_files.scan([FILES[name]]) for name in sorted(
      RUNS, key=lambda name: (name != "quickstart", "digits/" not in name, name))}
  seen: dict[str, set[str]] = {_protocol(found): set() for found in scans.values()}
  left: list[tuple[str, str, frozenset[str]]] = []
  for name, found in scans.items():
    parts_of = _parts(found)
    for learner, made in _learners(found).items():
      if (_protocol(found), getattr(made, "scope", "")) in OF_MATRIX:
        seen[_protocol(found)] |= parts_of[learner]
      else:
        left.append((name, learner, parts_of[learner]))
  ending: dict[str, tuple[str, ...]] = {}
  for name, learner, of_learner in left:
    parts = of_learner - seen[_protocol(scans[name])]
    if parts and (name, learner) not in RUN_ELSEWHERE:
      ending[name] = *ending.get(name, ()), learner
    seen[_protocol(scans[name])] |= parts
  for protocol in sorted(seen.keys() - {_protocol(scans[name]) for name in ending}):
    name = next(name for name, found in scans.items() if _protocol(found) == protocol)
    learners = list(_learners(scans[name]))  # The matrix has all; class means trace no training.
    ending[name] = ("ncm" if "ncm" in learners else learners[0],)
  return ending


def _run(name: str, only: tuple[str, ...], workdir: pathlib.Path) -> list[str]:
  """Runs it in this process; returns the unused bindings."""
  tf.keras.backend.clear_session()
  params = [f"experiment.run.only={only!r}"]
  if _protocol(gin_files.scan([FILES[name]])) == "nevis":  # Building ResNet-34 and ViT is slow.
    params.append(f"digits.nevis_stream.num_tasks={TASKS.get(name, 1)}")
  if name in CONV4:
    params.append("conv4.conv4.blocks=1")
  found = gin_parse.parse([FILES[name], DEBUG], params)
  gin_parse.configured(experiment.run, {
      "settings": run_settings.RunSettings(workdir=str(workdir))})()
  return gin_parse.unused_bindings(found, (workdir / "operative_config.gin").read_text(), only)


@pytest.fixture(scope="module", name="home")
def _home(tmp_path_factory):
  return tmp_path_factory.mktemp("debug")


@pytest.fixture(name="quickstart")
def _quickstart(home):
  """The predictions that runs of lifelong evaluation read."""
  if not (home / "runs" / "quickstart").exists():
    _run("quickstart", (), home / "runs" / "quickstart")


@pytest.fixture(name="encoder")
def _encoder(home):
  """The encoder that another run starts from, by the name of that run."""
  def of(name):
    run = ENCODER_OF[name]
    if not (home / "runs" / run).exists():
      _run(run, (), home / "runs" / run)
  return of


@pytest.mark.parametrize("name", _ending())
def test_what_the_matrix_lacks_ends_within_seconds(name, home, monkeypatch, request):
  monkeypatch.chdir(home)
  learners = _ending()[name]
  if name in NEEDS_QUICKSTART or name == "quickstart":
    request.getfixturevalue("quickstart")
  if name in ENCODER_OF:
    request.getfixturevalue("encoder")(name)
  if not (home / "runs" / name).exists():
    unused = _run(name, learners, home / "runs" / name)
    assert not unused, "\n".join(unused)
  for learner in learners:
    summary = json.loads((home / "runs" / name / learner / "summary.json").read_text())
    assert summary["run"] == learner


def test_every_protocol_runs_to_its_end():
  assert {_protocol(gin_files.scan([FILES[name]])) for name in _ending()} == {
      _protocol(gin_files.scan([FILES[name]])) for name in RUNS} == {
          "nevis", "clear", "incremental", "cfsl", "fluid", "lifelong", "lifelong_figures",
          "pretrain"}


@pytest.fixture(name="shared_encoders")
def _shared_encoders(monkeypatch):
  """Learners of a run have one frozen net, if its settings are the same: nothing trains it."""
  first, make = {}, frozen_backbone.FrozenBackbone.__init__

  def init(self, *arguments, **named):
    key = gin_parse.gin.current_scope_str(), arguments, tuple(sorted(named.items()))
    if key not in first:
      make(self, *arguments, **named)
    self.model = first.setdefault(key, self.__dict__.get("model"))

  monkeypatch.setattr(frozen_backbone.FrozenBackbone, "__init__", init)
  return first


@pytest.mark.usefixtures("quickstart")
def test_every_run_begins_with_each_of_its_learners(home, monkeypatch, shared_encoders):
  monkeypatch.chdir(home)
  offenders = {}
  for number, name in enumerate(RUNS):
    shared_encoders.clear()
    try:
      unused = _begin(name, home / "begun" / str(number))
    except Exception as error:
      raise AssertionError(f"{name}: {error}") from error
    if unused:
      offenders[name] = unused
  assert not offenders


def _begin(name: str, folder: pathlib.Path) -> list[str]:
  """Goes to the first event of a run; returns bindings that calls until then did not use."""
  tf.keras.backend.clear_session()
  found = gin_parse.parse([FILES[name], DEBUG])
  bound = gin_parse.gin.get_bindings(experiment.run)
  learners = {learner: make() for learner, make in bound["learners"].items()}
  with stopped_runs.state(folder, stop_before=0) as state:
    try:
      bound["protocol"](next(iter(learners.values())), state=state)
    except stopped_runs.Stop:
      pass
    except FileNotFoundError as error:
      assert name in ENCODER_OF, error  # A run that another has not pretrained.
  used = set(gin_files.scan_text(gin_parse.operative_text()).history)
  history = {key: settings[-1:] for key, settings in found.history.items()}
  calls = {key[:2] for key in used}
  unused = gin_bindings.unread_at_the_end(history, used)
  return [setting.text for key, (setting,) in history.items() if setting in unused and any(
      name == key[1] and key in gin_bindings.inherited(scope, name, key[2])
      for scope, name in calls)]


def _covering(cells: Sequence[table.TableCell]) -> list[table.TableCell]:
  """Cells that have each row, and each column, of a table."""
  rows, columns = (list(dict.fromkeys(names)) for names in zip(*(
      (cell.row, cell.column) for cell in cells)))
  shortest = min(len(rows), len(columns))
  return [cell for cell in cells
          if (columns.index(cell.column) - rows.index(cell.row)) % shortest == 0]


def test_every_table_plans_its_cells_and_the_first_is_parsed(home, monkeypatch):
  settings_texts = table.settings_texts
  monkeypatch.setattr(
      table, "settings_texts", lambda cells, names: settings_texts(_covering(cells), names))
  for name in TABLES:
    cells = _cells(name, home / "tables" / name)
    gin_parse.parse(cells[0].file().paths(), cells[0].params)


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
