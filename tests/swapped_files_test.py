# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Files of another seed in a run's folder: verify and report refuse each, and no run goes on."""

import json
import pathlib
import re
import shutil

import pytest
import tensorflow as tf

from suite import cli
from suite.reporting import run_dir

ADA = "ada/"
PROTOCOL = '''
"""Two events, each with a draw and predictions; the second ends with an error if asked."""
import pathlib
import tensorflow as tf
from suite.state import journal

class Learner(tf.Module):
  def learn(self, *unused):
    pass
  def predict(self, *unused):
    pass

def run(learner, *, state):
  state.resume(learner)
  while state.done < 3:
    context = state.context()
    draw = context.journal.once("draw", lambda: context.seeds.integer("draw"))
    if state.done == 1 and pathlib.Path("stop").exists():
      state.flush()
      raise RuntimeError("stopped")
    state.commit({"protocol": "swaps", "draw": draw}, predictions=dict(
        ids=["a"], labels=[0], top1=[draw % 2], true_class_probability=[1.0], correct=[True]))
  return {"protocol": "swaps", "draw": state.records[-1]["draw"]}
'''
CONFIG = """from __gin__ import dynamic_registration
from suite import experiment
import swaps

experiment.run.protocol = @swaps.run
experiment.run.learners = {'ada': @swaps.Learner}
experiment.run.seed = 0
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
  """Work directories: a of seed 0, b of seed 1, part of seed 0 and stopped."""
  folder = tmp_path_factory.mktemp("runs")
  with pytest.MonkeyPatch.context() as patch:
    patch.chdir(folder)
    # It would hold for all tests that follow in this process.
    patch.setattr(tf.config.experimental, "enable_op_determinism", lambda: None)
    patch.syspath_prepend(folder)
    pathlib.Path("swaps.py").write_text(PROTOCOL)
    pathlib.Path("swaps.gin").write_text(CONFIG)
    for name, seed in (("a", 0), ("b", 1)):
      assert _run(name, seed) == 0
    pathlib.Path("stop").touch()
    assert _run("part", 0) != 0
    pathlib.Path("stop").unlink()
    yield folder


def _run(workdir, seed):
  return cli.main(["run", "swaps.gin", "--workdir", workdir, "--gin_param",
                   f"experiment.run.seed={seed}"])


@pytest.fixture()
def work(runs):
  """A copy of b, to be spoiled."""
  shutil.copytree(runs / "b", runs / "d")
  yield runs / "d"
  shutil.rmtree(runs / "d")


def _is_refused(work, capsys):
  capsys.readouterr()
  codes = [cli.main([command, str(work)]) for command in ("verify", "report")]
  said = capsys.readouterr()
  assert 0 not in codes and "Traceback" not in said.out + said.err
  assert all(len(line) < 400 for line in said.err.splitlines())
  return True


@pytest.mark.parametrize("files", [
    (ADA + "summary.json",), (ADA + "records.jsonl",),
    (ADA + "records.jsonl", ADA + "summary.json"), (ADA,), ("environment.json",),
    ("config.gin",), ("report.txt",), ("SHA256SUMS",)], ids=str)
def test_files_of_another_seed_are_refused(runs, work, capsys, files):
  for name in files:
    source, target = runs / "a" / name, work / name
    if source.is_dir():
      shutil.rmtree(target)
      shutil.copytree(source, target)
    else:
      shutil.copy(source, target)
  assert _is_refused(work, capsys)


@pytest.mark.parametrize("part", ["state", "predictions"])
def test_state_and_predictions_of_another_seed_are_refused(runs, work, capsys, part):
  shutil.rmtree(work / ADA / part)
  shutil.copytree(runs / "a" / ADA / part, work / ADA / part)
  assert _is_refused(work, capsys)


def test_predictions_of_another_event_are_found(work, capsys):
  folder = work / ADA / "predictions"
  shutil.copy(folder / "0000.parquet", folder / "0001.parquet")
  assert cli.main(["verify", str(work)]) == 1
  assert "belongs to another event" in capsys.readouterr().out


@pytest.mark.parametrize("names", [
    ["../../a/ada"], ["/etc"], [".."], [""], ["a\\b"], ["a\n"], [7], [["ada"]], {"ada": 1}, 7,
    "ada"], ids=str)
def test_an_environment_names_no_folder_elsewhere(work, capsys, names):
  found = json.loads((work / "environment.json").read_text())
  del found["digest"]  # As whoever makes such a file would.
  (work / "environment.json").write_text(json.dumps({**found, "learners": names}))
  (work / "SHA256SUMS").unlink()
  assert cli.main(["report", str(work)]) == 1
  said = capsys.readouterr()
  assert "in place of a learner's name" in said.err and "Traceback" not in said.err


@pytest.mark.parametrize("name, before, after", [
    ("config.gin", "seed = 1", "seed = 7"), ("environment.json", '"seed": 1', '"seed": 7'),
    ("report.txt", "swaps", "swabs"), (ADA + "summary.json", "swaps", "swabs"),
    (ADA + "records.jsonl", "swaps", "swabs")])
def test_changed_texts_are_refused(work, capsys, name, before, after):
  text = (work / name).read_text()
  assert before in text
  (work / name).write_text(text.replace(before, after, 1))
  assert _is_refused(work, capsys)


def test_a_stopped_run_of_another_seed_does_not_go_on(runs, work, capsys):
  shutil.rmtree(work / ADA)
  shutil.copytree(runs / "part" / ADA, work / ADA)
  assert _run("d", 1) != 0
  assert "belongs to another run" in capsys.readouterr().err
  assert cli.main(["verify", str(work)]) == 1


def test_steps_of_another_seed_are_not_taken_over(runs, work):
  """An event of which only finished steps were saved begins again."""
  shutil.rmtree(work / ADA)
  shutil.copytree(runs / "part" / ADA / "state" / "progress", work / ADA / "state" / "progress")
  for path in (work / ADA / "state" / "progress").glob("*.json"):  # Of event 1; as if of event 0.
    body = json.loads(path.read_text().splitlines()[0])
    assert body["values"]["event"] == 1 and body["values"]["run"]
  assert _run("d", 1) == 0
  assert run_dir.read_json(work / ADA / "summary.json") == run_dir.read_json(
      runs / "b" / ADA / "summary.json")


def test_a_renamed_learner_is_refused(work, capsys):
  (work / ADA).rename(work / "bob")
  assert _is_refused(work, capsys)


def test_a_moved_work_directory_and_a_run_of_an_earlier_version_are_read(runs, work, capsys):
  assert cli.main(["verify", str(work)]) == 0 and cli.main(["report", str(work)]) == 0
  for name in ("SHA256SUMS", "environment.json", ADA + "summary.json"):
    (work / name).unlink()
  path = work / ADA / "records.jsonl"
  path.write_text(re.sub(r'(, "run_digest": "\w+")?, "digest": "\w+"', "", path.read_text()))
  assert [run.records[-1]["draw"] for run in run_dir.load([work])] == [
      run.records[-1]["draw"] for run in run_dir.load([runs / "b"])]
