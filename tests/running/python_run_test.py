# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite.run` from Python: the command line's records, objects, results, and what is refused."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

import suite
from suite import cli
from suite import experiment
from suite.data.digits import digits
from suite.reporting import progress
from suite.reporting import records
from suite.running import python_run

RUN_FILE = """# A protocol of two events, without data.
from __gin__ import dynamic_registration
from suite import experiment
import two_steps

experiment.run.protocol = @two_steps.run
experiment.run.learners = {'ada': @two_steps.Learner}
two_steps.run.scale = %SCALE
SCALE = 2
"""
MODULE = """
import numpy as np
import tensorflow as tf
from suite.training.scoring import evaluation
from suite.training.scoring import scoring


class Learner(tf.Module):
  pass


def run(learner, *, state, scale=1.0):
  state.resume(learner)
  for event in range(state.done, 2):
    context = state.context()
    context.ledger.charge("train", flops=10, macs=1)
    outputs = scoring.Outputs(np.array(["a", "b"]), np.array([0, 1]), np.eye(2) * scale)
    record, predictions = evaluation.score(outputs, "single_label", state.metrics)
    state.commit({"protocol": "two", "kind": "predict", "task_key": f"t{event}", "score": scale,
                  **record}, predictions)
  return {"protocol": "two", "total": sum(r["score"] for r in state.records)}
"""


@pytest.fixture(name="module", autouse=True)
def _module(tmp_path, monkeypatch):
  (tmp_path / "two.gin").write_text(RUN_FILE)
  (tmp_path / "two_steps.py").write_text(MODULE)
  monkeypatch.chdir(tmp_path)
  monkeypatch.syspath_prepend(str(tmp_path))
  # It would hold for all tests that follow in this process.
  monkeypatch.setattr(tf.config.experimental, "enable_op_determinism", lambda: None)
  monkeypatch.delitem(sys.modules, "two_steps", raising=False)
  import two_steps  # pylint: disable=import-outside-toplevel
  return two_steps


def test_a_run_file_gives_the_records_of_the_command_line(capsys):
  result = suite.run("two.gin", workdir="python", params={"SCALE": 3})
  assert cli.main(["run", "two.gin", "--workdir", "command", "--gin_param", "SCALE=3"]) == 0
  ours, theirs = (records.strip_times(records.read(pathlib.Path(d, "ada/records.jsonl")))
                  for d in ("python", "command"))
  assert json.dumps(ours) == json.dumps(theirs)
  for name in ("config.gin", "operative_config.gin", "report.txt"):
    assert pathlib.Path("python", name).read_text() == pathlib.Path("command", name).read_text()
  assert [r["score"] for r in result.records] == [3, 3]
  assert f"{result}\n" == capsys.readouterr().out
  assert result.summaries["ada"]["total"] == 6


def test_objects_metrics_and_the_table(module):
  pandas = pytest.importorskip("pandas")
  metrics = {"half": lambda labels, logits: 0.5, "events": len}
  result = suite.run(protocol=module.run, scale=4.0, learners={"ada": module.Learner},
                     workdir="w", metrics=metrics, seed=3)
  table = result.table()
  assert isinstance(table, pandas.DataFrame) and list(table.index) == ["ada"]
  assert table.loc["ada", "total"] == 8.0
  assert table.loc["ada", ["own_metrics.half", "own_metrics.events"]].tolist() == [0.5, 2.0]
  assert [(r["half"], r["events"]) for r in result.records] == [(0.5, 1), (0.5, 2)]
  assert "half" in str(suite.report("w")) and list(result.figures()) == ["compute"]
  again = suite.run(protocol=module.run, scale=4.0, learners={"ada": module.Learner},
                    workdir="w", metrics=metrics, seed=3)
  assert again.records == result.records
  other = suite.run(protocol=module.run, scale=5.0, learners={"ada": module.Learner}, workdir="w",
                    metrics=metrics, seed=3)
  assert other.table().loc["ada", "total"] == 10.0  # The latest run of the learner.


def test_learners_are_added_one_by_one(module, monkeypatch):
  said: list[str] = []
  monkeypatch.setattr(experiment, "_say", lambda distribution, line: said.append(line))

  def run(**learners):
    return suite.run(protocol=module.run, learners=learners, workdir="w")

  first = run(ada=module.Learner).records
  both = run(ada=module.Learner, bob=module.Learner)
  assert said[1:] == [f"ada: finished earlier; read from {pathlib.Path('w', 'ada')}.",
                      f"bob: computed in {pathlib.Path('w', 'bob')}."]
  assert {r["run"] for r in both.records} == {"ada", "bob"} and first == both.records[:2]
  assert sorted(path.name for path in pathlib.Path("w").glob("*~*")) == []
  assert cli.main(["verify", "w"]) == 0


def test_a_class_that_changes_itself_while_it_runs_is_read_again(module, monkeypatch):
  monkeypatch.setattr(module.Learner, "count", [0], raising=False)

  def protocol(learner, *, state):
    learner.count[0] += 1
    return module.run(learner, state=state, scale=2.0)

  first = suite.run(protocol=protocol, learners=module.Learner, workdir="w")
  assert suite.run(protocol=protocol, learners=module.Learner, workdir="w").records == first.records
  assert module.Learner.count == [1]
  module.Learner.count[0] = 7  # Its user changes it.
  suite.run(protocol=protocol, learners=module.Learner, workdir="w")
  assert module.Learner.count == [8] and len(list(pathlib.Path("w").glob("mine~*"))) == 1


def test_a_learner_that_was_refused_may_be_given_again(module):
  learner = module.Learner()
  with pytest.raises(ValueError, match="returned an array of shape"):
    suite.run(protocol=module.run, learners=learner, workdir="w",
              metrics={"each": lambda labels, logits: logits})
  assert len(suite.run(protocol=module.run, learners=learner, workdir="w").records) == 2


def test_a_learner_that_has_learned_is_read_again_with_the_same_data(module):
  learner = module.Learner()
  first = suite.run(protocol=module.run, learners=learner, workdir="a")
  assert suite.run(protocol=module.run, learners=learner, workdir="a").records == first.records


def test_a_learner_that_has_learned_is_not_run_again(module):
  learner = module.Learner()
  suite.run(protocol=module.run, learners=learner, workdir="a")
  with pytest.raises(ValueError, match="'mine' has learned in an earlier run.*Give a function"):
    suite.run(protocol=module.run, learners=learner, workdir="b")


@pytest.mark.parametrize("settings, message", [
    ({}, "takes the name of a run file or a protocol, one of the two"),
    ({"run": "two.gin", "protocol": "clear"}, "one of the two"),
    ({"run": "two.gin", "learners": {}}, "its learners may be replaced by methods"),
    ({"run": "two.gin", "params": "SCALE=3"}, "params is 'SCALE=3'; give a mapping"),
    ({"run": "two.gin", "params": {"SCALLE": 3}}, "Nearest: SCALE"),
    ({"run": "two.gin", "params": {"SCALE": object()}}, "which gin cannot write down"),
    ({"run": "two.gin", "jobs": 2}, "jobs and only are for tables"),
    ({"run": "tow"}, "Unknown run 'tow'"),
    ({"protocol": "claer", "learners": 1}, "Unknown protocol 'claer'. Nearest: clear"),
    ({"protocol": 3, "learners": 1}, "protocol is 3; give one of nevis"),
    ({"protocol": "clear", "learners": 1}, "'clear' needs buckets; give suite.run"),
    ({"protocol": "clear", "bucket": 1, "learners": 1}, "no argument 'bucket'.*Nearest: buckets"),
    ({"protocol": "clear", "buckets": [1, 2], "learners": 1},
     r"buckets is list of 2; give buckets=suite.buckets.of\(\[...\]\) of a list with"),
    ({"protocol": "nevis", "stream": {"train": 1, "test": 2}, "learners": 1},
     r"stream is dict of train, test; give stream=suite.streams.of"),
    ({"protocol": "fluid", "sequence": digits.sequence_base(), "learners": 1},
     "sequence is ImageSet; give sequence=suite.sequences.of"),
    ({"protocol": "pretrain", "images": {"train": 1}, "learners": 1},
     "images is dict of train; give images=one image set, made by suite.images.from_arrays"),
    ({"protocol": "clear", "buckets": 1}, "needs learners: {'name': learner}"),
    ({"protocol": "clear", "buckets": 1, "params": {"A": 1}}, "belong to run files"),
])
def test_mistakes_are_said_before_anything_is_written(settings, message):
  with pytest.raises(ValueError, match=message):
    suite.run(**settings, workdir="w")
  assert not pathlib.Path("w").exists()


def test_what_was_refused_before_its_first_event_may_be_corrected_in_place(module):
  def refuse(learner, *, state, scale=1.0):
    raise ValueError("does not fit")

  for _ in range(2):
    with pytest.raises(ValueError, match="does not fit"):
      suite.run(protocol=refuse, learners=module.Learner, workdir="w")
  result = suite.run(protocol=module.run, learners=module.Learner, workdir="w")
  assert len(result.records) == 2
  with pytest.raises(ValueError, match="does not fit"):
    suite.run(protocol=refuse, learners=module.Learner, workdir="w")
  again = suite.run(protocol=module.run, learners=module.Learner, workdir="w")
  assert again.records == result.records


def test_a_metric_that_returns_an_array_is_refused_before_training(module):
  with pytest.raises(ValueError, match="returned an array of shape"):
    suite.run(protocol=module.run, learners=module.Learner(), workdir="w",
              metrics={"each": lambda labels, logits: logits})
  assert not pathlib.Path("w").exists()


def test_bindings():
  given = {"A": 1, "B": "text", "C": "%NAME", "D": "@fn()", "E": (1, 2.5), "F": np.int64(3)}
  assert python_run.bindings(given) == [
      "A=1", "B='text'", "C=%NAME", "D=@fn()", "E=(1, 2.5)", "F=3"]
  assert python_run.bindings(["X=1"]) == ["X=1"]


def test_list_runs_and_report():
  assert suite.list_runs()["quickstart"].startswith("A lifelong stream")
  with pytest.raises(FileNotFoundError, match="No such directory: nowhere"):
    suite.report("nowhere")
  with pytest.raises(ValueError, match="takes the work directories"):
    suite.report()
  with pytest.raises(AttributeError, match="no attribute 'rum'"):
    suite.rum  # noqa: B018


def test_importing_suite_is_light_and_a_run_is_quiet(tmp_path):
  program = ("import sys, suite; heavy = {'tensorflow', 'pandas', 'matplotlib'} & set(sys.modules);"
             "assert not heavy, heavy; suite.run('two.gin', workdir='quiet', progress=False)")
  path = os.pathsep.join([str(pathlib.Path(suite.__file__).parents[1]), str(tmp_path),
                          os.environ.get("PYTHONPATH", "")])
  env = {**os.environ, "PYTHONPATH": path}
  env.pop("TF_CPP_MIN_LOG_LEVEL", None)  # The tests' own setting shows errors about CUDA.
  done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True,
                        text=True, env=env, check=False)
  assert (done.returncode, done.stdout) == (0, ""), done.stderr
  assert done.stderr == f"ada: computed in {pathlib.Path('quiet', 'ada')}.\n"


def test_what_a_program_prints_is_short():
  names = [f"a class of many words, number {number}" for number in range(8)]
  pixels = np.random.default_rng(0).integers(0, 255, [128, 8, 8, 3], np.uint8)
  images, other = (suite.images.from_arrays(
      half, np.arange(64) % 8, class_names=names, name=name)
                   for half, name in zip(np.split(pixels, 2), ("toy" * 20, "other")))
  buckets = suite.buckets.of_classes((images, other), num_tasks=4)
  learner = suite.learner(tf.keras.Sequential, "er", memory_size=100, epochs=1)
  result = suite.run("two.gin", workdir="deep/" * 30, progress=False)
  stream = suite.streams.of([images, other])
  printed = list(map(repr, (
      buckets, stream, learner, result, buckets[0], result.runs[0], suite.sequences.of(images),
      suite.episodes.of(images, way=2, shot=1))))
  assert max(map(len, printed)) <= 200
  assert printed[0] == (
      "Buckets('split toytoy...ytoytoytoytoy', 4: 'task_01', ..., 'task_04', 64 training and "
      "64 test images, 8 classes)")
  assert printed[1].endswith(", 2 tasks: 'toytoytoytoy...ytoytoytoytoy', 'other')")
  assert printed[2] == "OwnLearner(er, {'epochs': 1, 'memory_size': 100})"
  assert printed[3].endswith(", 1 run, 1 finished; print shows the report)")


def test_a_notebook_has_a_bar(monkeypatch, capsys):
  shell = type("ZMQInteractiveShell", (), {})()
  fake = type(sys)("IPython")
  fake.get_ipython = lambda: shell
  monkeypatch.setitem(sys.modules, "IPython", fake)
  bar = progress.of_process("mine")
  assert isinstance(bar, progress.NotebookProgress)
  bar.point({"key": "t0", "step": 3, "steps": 4, "loss": 0.5})
  bar.event({"event": 0, "error": 0.25})
  assert (bar._bar.n, bar._bar.total) == (3, 4)
  bar.point({"key": "t1", "step": 1, "steps": 9})
  assert (bar._bar.n, bar._bar.total) == (1, 9)
  bar.close()
  assert "mine: t0" in capsys.readouterr().err
