# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A work directory belongs to one configuration; what is finished is only reported."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import platform
import re
import subprocess
import sys

import pytest
import tensorflow as tf

import suite
from suite import cli
from suite import experiment
from suite.compute import arithmetic
from suite.compute import distribution
from suite.configs import run_settings
from suite.models import precision
from suite.protocols import run_state
from suite.reporting import records
from suite.reporting import run_dir
from suite.system import file_lock
from suite.system import folders

RUN_FILE = """# A protocol of two events, without data.
from __gin__ import dynamic_registration
from suite import experiment
import two_events

experiment.run.protocol = @two_events.run
experiment.run.learners = {'ada': %ADA, 'bob': @two_events.Learner}
two_events.run.scale = %SCALE
ada/two_events.Learner.skill = 3
ADA = @ada/two_events.Learner
SCALE = 2
"""

MODULE = """
import tensorflow as tf

calls = []


class Learner(tf.Module):
  def __init__(self, skill=1):
    super().__init__()
    self.skill = skill


def run(learner, *, state, scale):
  calls.append(state.name)
  state.resume(learner)
  for event in range(state.done, 2):
    context = state.context()
    context.ledger.charge("train", flops=10 * learner.skill, macs=1)
    state.commit({"protocol": "two", "kind": "train", "task_key": f"t{event}",
                  "score": scale * learner.skill, "draw": context.seeds.integer("draw")})
  return {"protocol": "two", "total": sum(r["score"] for r in state.records)}
"""


@pytest.fixture(name="runs", autouse=True)
def _runs(tmp_path, monkeypatch):
  """A folder with the run file two.gin and the module it imports; the module."""
  (tmp_path / "two.gin").write_text(RUN_FILE)
  (tmp_path / "two_events.py").write_text(MODULE)
  monkeypatch.chdir(tmp_path)
  monkeypatch.syspath_prepend(str(tmp_path))
  # It would hold for all tests that follow in this process.
  monkeypatch.setattr(tf.config.experimental, "enable_op_determinism", lambda: None)
  monkeypatch.delitem(sys.modules, "two_events", raising=False)
  import two_events  # pylint: disable=import-outside-toplevel
  return two_events


def _files(folder):
  """Every file below a folder with its content, but TensorBoard's."""
  return {
      str(p.relative_to(folder)): p.read_bytes() for p in sorted(pathlib.Path(folder).rglob("*"))
      if p.is_file() and "tensorboard" not in p.parts
  }


def test_a_run_leaves_all_that_its_numbers_depend_on(capsys):
  assert cli.main(["run", "two.gin", "--workdir", "w"]) == 0
  assert "ada" in capsys.readouterr().out
  work = pathlib.Path("w")
  config = (work / "config.gin").read_text()
  assert "SCALE = 2" in config and "ada/two_events.Learner.skill = 3" in config
  operative = (work / "operative_config.gin").read_text()
  assert "two_events.run.scale = %SCALE" in operative
  environment = json.loads((work / "environment.json").read_text())
  assert environment["command"] == "suite run two.gin --workdir w"
  assert environment["seed"] == 0 and environment["device"].startswith("one_device: ")
  assert environment["packages"]["tensorflow"] == tf.__version__
  assert {"suite", "python", "platform", "git_revision"} <= set(environment)
  assert (work / "report.txt").read_text()
  found = records.read(work / "ada" / "records.jsonl")
  assert [(r["event"], r["run"], r["score"], r["flops"]) for r in found] == [(0, "ada", 6, 30),
                                                                             (1, "ada", 6, 60)]
  summary = json.loads((work / "bob" / "summary.json").read_text())
  assert (summary["total"], summary["run"]) == (4, "bob")
  assert list((work / "tensorboard" / "ada").glob("events.*"))


def test_learners_of_one_run_draw_the_same(capsys):
  cli.main(["run", "two.gin", "--workdir", "w"])
  draws = [[r["draw"] for r in records.read(pathlib.Path("w", name, "records.jsonl"))]
           for name in ("ada", "bob")]
  assert draws[0] == draws[1] and draws[0][0] != draws[0][1]
  cli.main(["run", "two.gin", "--workdir", "v", "--gin_param", "experiment.run.seed=1"])
  assert [r["draw"] for r in records.read("v/ada/records.jsonl")] != draws[0]


def test_a_second_run_of_a_finished_directory_only_reports(runs, capsys):
  assert cli.main(["run", "two.gin", "--workdir", "w"]) == 0
  report, files = capsys.readouterr().out, _files("w")
  assert runs.calls == ["ada", "bob"]
  assert cli.main(["run", "two.gin", "--workdir", "w"]) == 0
  assert runs.calls == ["ada", "bob"]
  assert capsys.readouterr().out == report
  assert _files("w") == files


def test_what_one_learner_finished_stays_when_the_next_one_failed(runs, monkeypatch, capsys):
  resume = run_state.RunState.resume

  def failing(state, *arguments, **options):
    if state.name == "bob":
      raise RuntimeError("bob fell")
    resume(state, *arguments, **options)

  with monkeypatch.context() as patch:
    patch.setattr(run_state.RunState, "resume", failing)
    assert cli.main(["run", "two.gin", "--workdir", "w"]) == 1
  assert "bob fell" in capsys.readouterr().err
  before = pathlib.Path("w/ada/records.jsonl").read_bytes()
  assert cli.main(["run", "two.gin", "--workdir", "w"]) == 0
  assert runs.calls == ["ada", "bob", "bob"]
  assert pathlib.Path("w/ada/records.jsonl").read_bytes() == before


def test_another_configuration_is_computed_beside_the_first(runs, capsys, caplog):
  assert cli.main(["run", "two.gin", "--workdir", "w"]) == 0
  files = {name: data for name, data in _files("w").items() if "/" in name}
  capsys.readouterr()
  assert cli.main(["run", "two.gin", "--workdir", "w", "--gin_param", "SCALE=5"]) == 0
  shown = capsys.readouterr()
  folder, = pathlib.Path("w").glob("ada~*")
  assert (f"ada: computed in {folder}, beside w/ada: two_events.run.scale was 2 and is 5."
          ) in caplog.text
  assert re.search(r"total +30 +10\n", shown.out)
  assert "Earlier runs, of other settings, data or code (--all shows them): w/ada, w/bob" in (
      shown.out)
  assert {name: data for name, data in _files("w").items() if name in files} == files
  assert cli.main(["report", "w", "--all"]) == 0
  assert re.search(rf"ada +{folder.name} +bob", capsys.readouterr().out)
  # The first configuration again: its run is read, and is the latest one.
  assert cli.main(["run", "two.gin", "--workdir", "w"]) == 0
  assert "ada: finished earlier; read from w/ada." in caplog.text
  assert re.search(r"total +12 +4\n", capsys.readouterr().out)
  assert runs.calls == ["ada", "bob", "ada", "bob"]
  for one in run_dir.load(["w"], every=True):  # Each has its own configuration.
    assert ("SCALE = 5" in (one.home / run_dir.CONFIG).read_text()) == ("~" in one.folder.name)


def test_a_setting_of_one_learner_is_no_difference_for_another(runs, caplog):
  command = ["run", "two.gin", "--workdir", "w", "--gin_param",
             "experiment.run.learners={'ada': %ADA, 'bob': @bob/two_events.Learner}"]
  assert cli.main(command) == 0
  assert cli.main([*command, "--gin_param", "ada/two_events.Learner.skill=4"]) == 0
  assert runs.calls == ["ada", "bob", "ada"]
  assert "bob: finished earlier; read from w/bob." in caplog.text
  assert "ada/two_events.Learner.skill was 3 and is 4" in caplog.text


def test_a_folder_of_an_earlier_version_is_read_or_left_as_it_is(runs, caplog):
  assert cli.main(["run", "two.gin", "--workdir", "w"]) == 0
  for folder in ("w/ada", "w/bob"):
    pathlib.Path(folder, "identity.json").unlink()
  files = _files("w")
  assert cli.main(["run", "two.gin", "--workdir", "w", "--gin_param", "SCALE=5"]) == 0
  assert ("beside w/ada: an earlier version of the suite made that run, and did not note its "
          "identity") in caplog.text
  assert {name: data for name, data in _files("w").items() if name in files and "/" in name} == {
      name: data for name, data in files.items() if "/" in name}
  assert cli.main(["run", "two.gin", "--workdir", "w"]) == 0  # Its configuration is the same text.
  assert runs.calls == ["ada", "bob"] * 2
  assert "ada: finished earlier; read from w/ada" in caplog.text
  assert pathlib.Path("w/ada/identity.json").exists()


def test_a_run_of_another_configuration_is_verified_and_found_when_it_was_changed(runs, capsys):
  assert cli.main(["run", "two.gin", "--workdir", "w"]) == 0
  assert cli.main(["run", "two.gin", "--workdir", "w", "--gin_param", "SCALE=5"]) == 0
  assert cli.main(["verify", "w"]) == 0
  folder, = pathlib.Path("w").glob("ada~*")
  config = folder / "config.gin"
  config.write_text(config.read_text().replace("SCALE = 5", "SCALE = 6"))
  assert cli.main(["verify", "w"]) == 1
  assert str(config) in capsys.readouterr().out


def test_an_edit_of_a_users_module_is_a_difference_and_a_comment_is_none(runs, tmp_path, capsys):
  def run(text):
    (tmp_path / "two_events.py").write_text(text)
    done = subprocess.run([sys.executable, "-m", "suite", "run", "two.gin", "--workdir", "w"],
                          capture_output=True, text=True, check=False, env=env)
    assert not done.returncode, done.stderr
    return done.stderr

  env = {**os.environ, "PYTHONPATH": os.pathsep.join([
      str(tmp_path), str(pathlib.Path(suite.__file__).parents[1])])}
  run(MODULE)
  assert "ada: finished earlier" in run(
      MODULE.replace("  calls.append", "  # Told.\n\n  calls.append"))
  assert "code two_events.run has changed" in run(MODULE.replace("flops=10", "flops=11"))


def test_a_directory_that_holds_something_else_is_refused(runs, capsys):
  (pathlib.Path("w")).mkdir()
  pathlib.Path("w/thesis.tex").write_text("all of it")
  assert cli.main(["run", "two.gin", "--workdir", "w"]) == 2
  assert "w is not empty and holds no run; give another --workdir" in capsys.readouterr().err
  assert _files("w") == {"thesis.tex": b"all of it"} and not runs.calls


def test_an_empty_directory_is_taken(runs):
  pathlib.Path("w").mkdir()
  assert cli.main(["run", "two.gin", "--workdir", "w"]) == 0


@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_a_process_killed_while_it_claims_a_directory_can_be_started_again(
    runs, monkeypatch, after):
  """Before any of its first renames, that of config.gin and of environment.json among them."""
  class Killed(BaseException):
    pass

  replace, done = os.replace, []

  def stop(source, target):
    if len(done) == after:
      raise Killed
    done.append(target)
    replace(source, target)

  with monkeypatch.context() as patch:
    patch.setattr(os, "replace", stop)
    with pytest.raises(Killed):
      cli.main(["run", "two.gin", "--workdir", "w"])
  pathlib.Path("w/tmp-1-config.gin").write_text("SCA")  # A dead process leaves what it was writing.
  assert cli.main(["run", "two.gin", "--workdir", "w"]) == 0
  assert [r["score"] for r in records.read("w/ada/records.jsonl")] == [6, 6]
  assert json.loads(pathlib.Path("w/environment.json").read_text())["seed"] == 0


def test_without_gin_it_is_plain_python(runs, tmp_path):
  settings = run_settings.RunSettings(workdir=str(tmp_path / "plain"))
  report = experiment.run(
      protocol=lambda learner, state: runs.run(learner, state=state, scale=1),
      learners={"x": runs.Learner}, settings=settings, origin=run_settings.RunOrigin("a"))
  assert "x" in report
  experiment.run(
      protocol=lambda learner, state: runs.run(learner, state=state, scale=1),
      learners={"x": runs.Learner}, settings=settings, origin=run_settings.RunOrigin("b"))
  assert len(list((tmp_path / "plain").glob("x~*/records.jsonl"))) == 1


def test_a_run_goes_on_with_as_many_threads_as_it_began_with_or_not_at_all(runs, monkeypatch,
                                                                           capsys):
  assert cli.main(["run", "two.gin", "--workdir", "w"]) == 0
  path = pathlib.Path("w/environment.json")
  stored = run_dir.read_json(path)
  assert stored["arithmetic"] == dataclasses.asdict(arithmetic.of_this_process())
  asked = []
  monkeypatch.setattr(arithmetic, "limit_op_threads", asked.append)  # None: it has started.
  assert cli.main(["run", "two.gin", "--workdir", "w"]) == 0
  assert not asked  # As many as TensorFlow takes by itself.
  more = stored["arithmetic"]["op_threads"] + 1
  stored["arithmetic"]["op_threads"] = more
  path.write_text(run_dir.sealed(stored))
  assert cli.main(["run", "two.gin", "--workdir", "w"]) == 0  # It has finished, and only reports.
  assert "ada" in capsys.readouterr().out and asked == [more]
  pathlib.Path("w/bob/summary.json").unlink()
  assert cli.main(["run", "two.gin", "--workdir", "w"]) != 0
  said = capsys.readouterr().err
  assert asked == [more, more] and "w/bob holds a run that computed otherwise" in said
  assert f"op_threads was {more} and is {more - 1}" in said
  assert f"Set TF_NUM_INTRAOP_THREADS={more} and TF_ENABLE_ONEDNN_OPTS=" in said
  stored.pop("arithmetic")  # A run of an earlier version.
  path.write_text(run_dir.sealed(stored))
  assert cli.main(["run", "two.gin", "--workdir", "w"]) == 0


def test_some_of_the_learners(capsys):
  only = ["--gin_param", "experiment.run.only=('bob',)"]
  assert cli.main(["run", "two.gin", "--workdir", "w", *only]) == 0
  assert sorted(p.parent.name for p in pathlib.Path("w").glob("*/summary.json")) == ["bob"]
  assert cli.main(["run", "two.gin", "--workdir", "v", "--gin_param",
                   "experiment.run.only=('eve', 'bob')"]) == 2
  assert "has 'eve'; the learners of this run are ada, bob" in capsys.readouterr().err


def test_a_second_process_is_kept_out_of_a_work_directory(capsys):
  assert cli.main(["run", "two.gin", "--workdir", "w"]) == 0
  files = _files("w")
  with file_lock.held(pathlib.Path("w/.lock")):
    assert cli.main(["run", "two.gin", "--workdir", "w"]) == 2
    said = capsys.readouterr().err
    assert f"runs in w: process {os.getpid()} on {platform.node()}" in said
    assert "Wait until it has ended, or end it, then repeat the command; or give another" in said
  assert _files("w") == files


def test_a_process_that_computes_otherwise_than_the_chief_is_refused(runs, monkeypatch, capsys):
  one, own = distribution.build(), arithmetic.of_this_process()
  one.agreed = lambda value: {**value, "op_threads": own.op_threads + 1}
  monkeypatch.setattr(distribution, "build", lambda *unused: one)
  assert cli.main(["run", "two.gin", "--workdir", "w"]) == 2
  said = capsys.readouterr().err
  assert f"than the chief: op_threads was {own.op_threads + 1} and is {own.op_threads}" in said
  assert not runs.calls


def test_a_work_directory_that_cannot_be_made_or_locked_is_named(runs, capsys):
  pathlib.Path("v").write_text("a file")
  pathlib.Path("w/.lock").mkdir(parents=True)
  for folder, code, reason in (
      ("v", 2, "v is a file. Give --workdir a folder."),
      ("v/w", 2, "v/w lies under v, which is a file. Give --workdir a folder."),
      ("/proc/no/w", 2, "/proc/no/w cannot be made: "),
      ("w", 1, "Could not save anything in w: Is a directory.")):
    assert cli.main(["run", "two.gin", "--workdir", folder]) == code
    said = capsys.readouterr().err
    assert reason in said and "Traceback" not in said
  assert not runs.calls


@pytest.mark.parametrize("name", ["bfloat16", "tf32"])
def test_a_run_keeps_the_precision_it_began_with(runs, monkeypatch, caplog, name):
  seen = []
  monkeypatch.setattr(precision, "use", seen.append)
  assert cli.main(["run", "two.gin", "--workdir", "w", "--precision", name]) == 0
  stored = json.loads(pathlib.Path("w/environment.json").read_text())["arithmetic"]
  assert stored["precision"] == name and stored["deterministic"] and not stored["xla"]
  pathlib.Path("w/bob/summary.json").unlink()
  assert cli.main(["run", "two.gin", "--workdir", "w"]) == 0
  assert f"settings.precision was '{name}' and is 'float32'" in caplog.text
  assert cli.main(["run", "two.gin", "--workdir", "w", "--precision", name]) == 0
  assert "bob: resumed at event 2 in w/bob." in caplog.text
  assert seen == [name, "float32", name]


def test_processes_that_share_trials_share_the_memory_of_a_gpu(runs, monkeypatch, caplog):
  monkeypatch.setitem(os.environ, "TF_FORCE_GPU_ALLOW_GROWTH", "")  # Is taken back at the end.
  monkeypatch.delenv("TF_FORCE_GPU_ALLOW_GROWTH")
  monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-7")  # One that is not there.
  seen = []
  monkeypatch.setattr(runs, "run", lambda *_, **__: seen.append(
      os.environ.get("TF_FORCE_GPU_ALLOW_GROWTH")) or {"protocol": "two"})
  assert cli.main(["run", "two.gin", "--workdir", "v"]) == 0
  assert cli.main(["run", "two.gin", "--workdir", "w", "--share"]) == 0
  assert seen == [None, None, "true", "true"]
  assert "sees no GPU here, although there is GPU-7: this process computes on" in caplog.text


def test_a_second_start_beside_a_damaged_summary_makes_it_again(runs, caplog):
  assert cli.main(["run", "two.gin", "--workdir", "w"]) == 0
  path = pathlib.Path("w/ada/summary.json")
  whole = path.read_text()
  for damaged in ("", whole[:-9], whole.replace("12", "13")):
    path.write_text(damaged)
    assert cli.main(["run", "two.gin", "--workdir", "w"]) == 0
    assert path.read_text() == whole
  assert "summary.json is not JSON as it was written" in caplog.text
  assert runs.calls == ["ada", "bob", "ada", "ada", "ada"]


@pytest.mark.parametrize("name", ["../escape", "records.jsonl", "a\nb", "x" * 121])
def test_a_learners_name_is_no_path(tmp_path, name):
  settings = run_settings.RunSettings(workdir=str(tmp_path / "w" / "run"))
  with pytest.raises(folders.FolderError, match="The learner"):
    experiment.run(protocol=lambda *_, **__: pytest.fail("it ran"),
                   learners={"er": object, name: object}, settings=settings)
  assert not (tmp_path / "w").exists()
