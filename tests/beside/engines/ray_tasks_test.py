# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Tasks of Ray: what is begun again, what a task's process gets; a lost node where Ray is there."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import time
import types

import pytest

import suite
from suite import cli
from suite.beside.engines import ray_tasks
from suite.configs import gin_files
from suite.system import file_lock
from suite.system import processes

ROOT = pathlib.Path(suite.__file__).parents[1]


class FakeRay(types.ModuleType):
  """A cluster whose tasks end at once, each as the next entry of `ends` by the job's name says."""

  def __init__(self, ends, nodes=({"CPU": 4.0},)):
    super().__init__("ray")
    error = type("RayError", (Exception,), {})
    self.exceptions = types.SimpleNamespace(
        RayError=error, RayTaskError=type("RayTaskError", (error,), {}))
    self.ends, self._nodes = {name: list(entries) for name, entries in ends.items()}, nodes
    self.begun, self.options, self.init_arguments, self.cancelled = [], {}, {}, []

  def is_initialized(self):
    return False

  def init(self, **arguments):
    self.init_arguments = arguments

  def shutdown(self):
    self.init_arguments["ended"] = True

  def nodes(self):
    return [{"Alive": True, "Resources": node} for node in self._nodes]

  def cluster_resources(self):
    return {name: sum(node.get(name, 0) for node in self._nodes) for name in ("CPU", "GPU")}

  available_resources = cluster_resources

  def remote(self, **options):
    self.options = options

    def begin(job, folder, given, patience, copies):
      self.begun.append((job.name, patience))
      return job.name, len(self.begun)

    return lambda function: types.SimpleNamespace(remote=begin)

  def wait(self, tasks, timeout, num_returns=1):
    return list(tasks[:num_returns]), []

  def cancel(self, task):
    self.cancelled.append(task[0])

  def get(self, task):
    end = self.ends[task[0]].pop(0)
    if isinstance(end, str):
      raise getattr(self.exceptions, end.split()[0])(end.partition(" ")[2])
    if isinstance(end, BaseException):
      raise end
    return end


@pytest.fixture(name="fake")
def _fake(monkeypatch):
  monkeypatch.delenv("RAY_ADDRESS", raising=False)

  def make(ends, **arguments):
    ray = FakeRay(ends, **arguments)
    monkeypatch.setitem(sys.modules, "ray", ray)
    return ray
  return make


def _jobs(*names, gpus=1):
  return [processes.Job(name, [], pathlib.Path(f"{name}.log"), gpus=gpus) for name in names]


DONE, FAILED = ("finished", "", 1.0), ("failed", "the data are missing", 1.0)


def test_lost_tasks_begin_again_and_failed_ones_do_not(fake, caplog):
  caplog.set_level("INFO", "absl")
  killed = ("failed", "ended by signal 9", 1.0)
  ray = fake({"a": [DONE], "b": [FAILED], "c": ["RayError the node is dead", killed, DONE],
              "d": ["RayTaskError no locks here"], "e": [("runs elsewhere", "", 0.0)],
              "f": ["RayError gone"] * 4})
  found = ray_tasks.RayEngine().run_all(_jobs(*"abcdef"))
  assert [(one.job.name, one.state, one.reason) for one in found] == [
      ("a", "finished", ""), ("b", "failed", "the data are missing"), ("c", "finished", ""),
      ("d", "failed", "no locks here"), ("e", "runs elsewhere", ""), ("f", "failed", "gone")]
  patience = {name: [p for n, p in ray.begun if n == name] for name in "bcf"}
  assert patience["b"] == [0.0] and patience["c"] == [0.0, 150.0, 150.0]
  assert len(patience["f"]) == 1 + ray_tasks.RETRIES
  assert ray.options == {"num_gpus": 0, "num_cpus": 1, "max_retries": 0}
  assert ray.init_arguments == {"address": "local", "include_dashboard": False, "ended": True,
                                "log_to_driver": False, "logging_level": "error"}
  assert "6 of 6 runs have ended, 3 of them failed; 5 lost and begun again" in caplog.text


def test_an_interrupt_cancels_what_runs(fake):
  ray = fake({"a": [KeyboardInterrupt()], "b": [DONE]})
  with pytest.raises(KeyboardInterrupt):
    ray_tasks.RayEngine().run_all(_jobs("a", "b"))
  assert ray.cancelled == ["b"] and ray.init_arguments["ended"]


@pytest.mark.parametrize("engine, nodes, gpus, expected", [
    ({}, [{"CPU": 4.0}], 1, 0),
    ({}, [{"CPU": 4.0, "GPU": 2.0}], 1, 1),
    ({}, [{"CPU": 4.0, "GPU": 2.0}], 2, 2),
    ({"gpus_per_task": 0.5}, [{"CPU": 4.0, "GPU": 2.0}], 2, 0.5),
    ({"gpus_per_task": 3.0}, [{"CPU": 4.0, "GPU": 2.0}] * 2, 1, "No node of Ray has 3 GPUs and 1 "),
    ({"cpus_per_task": 8}, [{"CPU": 4.0}] * 2, 1, "the most are 0 and 4. Give less to"),
    ({}, [{"CPU": 4.0, "GPU": 2.0}], 0, "several devices a run has to know how many: give --dev")])
def test_a_task_reserves_what_its_job_needs_and_a_node_has(fake, engine, nodes, gpus, expected):
  ray = fake({"a": [DONE]}, nodes=nodes)
  if isinstance(expected, str):
    with pytest.raises(gin_files.ConfigError, match=expected):
      ray_tasks.RayEngine(**engine).run_all(_jobs("a", gpus=gpus))
    assert not ray.begun
  else:
    ray_tasks.RayEngine(**engine).run_all(_jobs("a", gpus=gpus))
    assert ray.options["num_gpus"] == expected


SHOW = """
import json, os, sys
names = ("CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "TF_FORCE_GPU_ALLOW_GROWTH",
         "LIFELONG_DATA_DIR")
with open("seen.json", "w") as file:
  json.dump([os.getcwd(), *map(os.environ.get, names)], file)
sys.exit(int(sys.argv[1]))
"""


@pytest.mark.parametrize("code, state", [(0, "finished"), (3, "failed")])
def test_a_task_starts_the_process_in_the_folder_of_the_command(
    tmp_path, monkeypatch, code, state):
  monkeypatch.chdir(tmp_path)
  monkeypatch.chdir("/")  # Of Ray's worker.
  for name, value in (("CUDA_VISIBLE_DEVICES", "2"), ("OMP_NUM_THREADS", "1"),
                      ("LIFELONG_DATA_DIR", "/node")):
    monkeypatch.setenv(name, value)
  monkeypatch.delenv("TF_FORCE_GPU_ALLOW_GROWTH", raising=False)
  job = processes.Job("a", [sys.executable, "-c", SHOW, str(code)], pathlib.Path("a.log"))
  found = ray_tasks.run_on_node(job, str(tmp_path), {"LIFELONG_DATA_DIR": "/shared"}, 0.0)
  assert found[0] == state and found[1] == ("ended with 3" if code else "")
  assert json.loads((tmp_path / "seen.json").read_text()) == [
      str(tmp_path), "2", None, "true", "/shared"]
  assert ray_tasks.run_on_node(job, str(tmp_path / "none"), {}, 0.0)[1].startswith(
      f"node {os.uname().nodename} cannot open {tmp_path / 'none'} (No such file or directory). Gi")


def test_a_second_attempt_waits_for_the_lock_of_the_first(tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)
  job = processes.Job("a", [sys.executable, "-c", SHOW, "0"], tmp_path / "a.log")
  with open(job.log, "ab") as log:
    assert file_lock.try_lock(log)
    assert processes.run_one(job, os.environ).state == processes.ELSEWHERE
    naps = []
    monkeypatch.setattr(processes.time, "sleep", lambda s: (naps.append(s), log.close()))
    assert processes.run_one(job, os.environ, patience=5.0).state == processes.FINISHED
  assert naps == [1.0]


def test_the_process_of_a_killed_worker_ends_with_it(tmp_path):
  program = ("import os, pathlib, sys; from suite.system import processes; processes.run_one("
             "processes.Job('a', [sys.executable, '-c', 'import os, time; print(os.getpid(), "
             "flush=True); time.sleep(60)'], pathlib.Path('a.log')), os.environ)")
  worker = subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path,
                            env={**os.environ, "PYTHONPATH": str(ROOT)})
  log, deadline = tmp_path / "a.log", time.monotonic() + 60
  while not (log.exists() and log.read_text().count("\n") > 1) and time.monotonic() < deadline:
    time.sleep(0.05)
  worker.kill()
  worker.wait()
  with file_lock.held(log):  # Which its process holds as long as it lives.
    pass


WRITE = """
import pathlib, sys
folder, more = pathlib.Path("w/row/0/er"), int(sys.argv[1])
(folder / "state" / "events").mkdir(parents=True, exist_ok=True)
done = len(list((folder / "state" / "events").iterdir()))
for event in range(done, done + more):
  with open(folder / "records.jsonl", "a") as file:
    file.write(f"{event}\\n")
  (folder / "state" / "events" / f"{event:08d}.json").write_text(str(event))
print("has", done, flush=True)
sys.exit(0 if done + more >= 4 else 7)
"""


def test_without_a_common_folder_a_run_goes_on_from_its_copy(tmp_path, monkeypatch, fake):
  monkeypatch.chdir(tmp_path)
  url = f"memory://{tmp_path.name}"
  folder = pathlib.Path("w/row/0")

  def job(more):
    return processes.Job("row/0", [sys.executable, "-c", WRITE, str(more)],
                         folder.with_name("0.log"), (folder / "end").exists, folder=folder)

  def run(node, more):
    return ray_tasks.run_on_node(
        job(more)._replace(is_finished=None), str(tmp_path / node), {}, 0.0, url)[:2]

  assert run("a", 2) == ("failed", "has 0")
  assert run("b", 1) == ("failed", "has 2")
  copies = ray_tasks.Copies(url)
  files = copies._files
  (newest,) = [path for path in files.find(url) if path.endswith("00000001.tar")]
  torn = newest.replace("00000001", "00000002")
  with files.open(newest, "rb") as whole, files.open(torn, "wb") as file:
    file.write(whole.read()[:-10_000])  # Its node was lost.
  assert run("c", 1) == ("finished", "")
  assert len(files.find(url)) == 2  # The last two are kept.
  # The process that asked has all of it, and so it is what one process would have left.
  fake({"row/0": [DONE]})
  monkeypatch.chdir(tmp_path)
  (outcome,) = ray_tasks.RayEngine(copies=url).run_all([job(1)])
  assert outcome.state == "finished"
  assert (folder / "er" / "records.jsonl").read_text() == "0\n1\n2\n3\n"
  assert len(list((folder / "er" / "state" / "events").iterdir())) == 4
  lines = folder.with_name("0.log").read_text().splitlines()
  assert [line for line in lines if line.startswith("has")] == ["has 0", "has 2", "has 3"]


def _commit(learner, event):
  """Commits an event as a run does: its record, then the state, in place of the one before."""
  (learner / "state" / "events").mkdir(parents=True, exist_ok=True)
  with open(learner / "records.jsonl", "a", encoding="utf-8") as file:
    file.write(f"{event}\n")
  (learner / "state" / "events" / f"{event:08d}.json").write_text(str(event))
  for old in sorted((learner / "state" / "events").iterdir())[:-2]:
    old.unlink()


@pytest.mark.parametrize("after", range(6))
def test_a_copy_is_whole_only_with_the_state_that_its_records_need(tmp_path, monkeypatch, after):
  """A commit comes after any file of the first attempt: that copy is given up."""
  learner, log = tmp_path / "row" / "er", tmp_path / "row.log"
  copies = ray_tasks.Copies(f"memory://{tmp_path.name}")
  job = processes.Job("row", [], log, None, folder=learner.parent)
  learner.mkdir(parents=True)
  (learner / "records.jsonl").write_text("0\n")  # Its state is not saved yet.
  log.write_text("")
  copies.put(job)
  assert not copies._files.find(copies._root)
  for event in range(1, 3):
    _commit(learner, event)
  (learner / "environment.json").write_text("{}")
  add, added = tarfile.TarFile.add, []

  def adding(self, name, *args, **named):
    if len(added) == after:
      _commit(learner, 3)
    added.append(name)
    add(self, name, *args, **named)

  monkeypatch.setattr(tarfile.TarFile, "add", adding)
  copies.put(job)
  shutil.rmtree(learner.parent)
  copies.fetch(job)
  events = [int(path.stem) for path in sorted((learner / "state" / "events").iterdir())]
  records = (learner / "records.jsonl").read_text().split()
  committed = 3 if after < 5 else 2  # Two states, the environment, the records, the log.
  assert events[-1] == committed and str(committed) in records
  (learner / "state").rename(tmp_path / "gone")
  (learner / "summary.json").write_text("{}")  # A protocol without a state has ended.
  copies.put(job)
  assert len(copies._files.find(copies._root)) == 2


def test_copies_need_a_folder_for_each_run_and_a_known_kind_of_path(fake):
  fake({"a": [DONE]})
  with pytest.raises(gin_files.ConfigError, match="--copies none://y cannot be opened: .*none"):
    ray_tasks.RayEngine(copies="none://y").run_all(_jobs("a"))
  with pytest.raises(gin_files.ConfigError, match="those of --share have one"):
    ray_tasks.RayEngine(copies="memory://y").run_all(_jobs("a"))


@pytest.mark.parametrize("flags, message", [
    (["--copies", "memory://x"], "--copies is a flag of --engine ray: add that, or leave it out."),
    (["--address", "auto"], "--address is a flag of --engine ray: add that, or leave it out."),
    (["--gpus_per_task", "0.5"], "--gpus_per_task is a flag of --engine ray"),
    (["--engine", "ray", "--gpus_per_task", "1.5"], "got '1.5', allowed are a part of a GPU such"),
    (["--engine", "ray", "--gpus_per_task", "-1"], "got '-1', allowed are a part of a GPU"),
    (["--engine", "spark"], "has 'spark' among its engines; known are ray."),
    (["--engine", "ray", "--jobs", "2"], "--jobs and --only are flags of tables"),
    (["--engine", "ray"], 'needs Ray, which is not installed here (import of ray halted; None in '
     'sys.modules). Install it with pip install ".[cluster]"'),
])
def test_mistakes_are_one_line(flags, message, capsys, monkeypatch, tmp_path):
  monkeypatch.setitem(sys.modules, "ray", None)  # As if it were not installed.
  assert cli.main(["run", "quickstart", "--workdir", str(tmp_path / "w"), *flags]) == 2
  assert message in capsys.readouterr().err
  assert not (tmp_path / "w").exists()


def test_one_run_is_a_task_and_with_share_several(fake, monkeypatch, tmp_path):
  seen = []

  def run_all(self, jobs, at_once=0):
    seen.extend(jobs)
    return [processes.Outcome(job, processes.FINISHED) for job in jobs]

  monkeypatch.setattr(ray_tasks.RayEngine, "run_all", run_all)
  flags = ["run", "quickstart", "--workdir", str(tmp_path / "w"), "--engine", "ray"]
  assert cli.main([*flags, "--gin_param", "STEPS=2"]) == 0
  assert cli.main([*flags, "--share", "--jobs", "2"]) == 0
  where = ["-m", "suite", "run", "quickstart", "--workdir", str(tmp_path / "w")]
  assert [list(job.command[1:]) for job in seen] == [
      [*where, "--gin_param", "STEPS=2"], [*where, "--share"], [*where, "--share"]]
  assert [job.log.name for job in seen] == ["w.0.log", "w.0.log", "w.1.log"]


CELL = """
import os, pathlib, sys, time
# The first attempt saves half, then waits to be killed; another one resumes from there.
half, done = pathlib.Path("half"), pathlib.Path("done")
if not half.exists():
  half.write_text(os.environ["RAY_RAYLET_PID"])
  time.sleep(100)
done.write_text(half.read_text())
"""


def test_a_run_resumes_on_another_node_when_its_own_is_lost(tmp_path, monkeypatch):
  ray = pytest.importorskip("ray", reason="Ray is not installed (the extra cluster)")
  from ray import cluster_utils
  monkeypatch.chdir(tmp_path)
  cluster = cluster_utils.Cluster(initialize_head=True, head_node_args={
      "num_cpus": 0, "include_dashboard": False})
  try:
    nodes = {str(node.all_processes["raylet"][0].process.pid): node
             for node in (cluster.add_node(num_cpus=1) for _ in range(2))}
    wait = ray.wait  # Called once a second; the node is lost when half of its run is done.

    def losing(*args, **named):
      half = tmp_path / "half"
      if half.exists() and half.read_text() in nodes:
        cluster.remove_node(nodes.pop(half.read_text()), allow_graceful=False)
      return wait(*args, **named)

    monkeypatch.setattr(ray, "wait", losing)
    job = processes.Job("a", [sys.executable, "-c", CELL], tmp_path / "a.log")
    found, = ray_tasks.RayEngine(address=cluster.address).run_all([job])
    assert found.state == processes.FINISHED and len(nodes) == 1
    assert (tmp_path / "done").read_text() == (tmp_path / "half").read_text() not in nodes
    assert (tmp_path / "a.log").read_text().count("$ ") == 2  # Attempts.
  finally:
    ray.shutdown()
    cluster.shutdown()
