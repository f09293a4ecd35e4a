# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Child processes: how many at a time, what an interrupt ends, what is running elsewhere."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from suite.system import processes

# Says when it ran; bad names fail with a reason, "endless" runs until it is ended.
_STAND_IN = """
import os, sys, time, pathlib
name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
(folder / f"{name}.began").write_text(str(time.time()))
time.sleep(60 if name == "endless" else 0.5)
if name.startswith("bad"):
  print("suite: dead link", file=sys.stderr)
  sys.exit(1)
if name.startswith("killed"):
  os.kill(os.getpid(), 9)
(folder / f"{name}.ended").write_text(str(time.time()))
(folder / f"{name}.gpus").write_text(os.environ.get("CUDA_VISIBLE_DEVICES", "unset") + " "
                                     + os.environ.get("TF_FORCE_GPU_ALLOW_GROWTH", "unset"))
"""


def _job(name, folder, is_finished=None, gpus=0):
  command = [sys.executable, "-c", _STAND_IN, name, str(folder)]
  return processes.Job(name, command, folder / f"{name}.log", is_finished, gpus)


def _run(names, at_once, folder):
  return processes.run_all([_job(name, folder) for name in names], at_once)


def test_outcomes_stand_in_the_order_of_jobs_with_reasons(tmp_path):
  found = _run(["a", "bad", "killed", "c"], 2, tmp_path)
  assert [(one.job.name, one.state, one.reason) for one in found] == [
      ("a", "finished", ""), ("bad", "failed", "dead link"),
      ("killed", "failed", "ended by signal 9"), ("c", "finished", "")]
  assert all(one.seconds > 0.4 for one in found)


def test_a_script_sees_on_stderr_what_begins_and_ends(tmp_path, monkeypatch, capsys):
  monkeypatch.setattr(processes.logging, "level_info", lambda: False)
  job = processes.Job("x", [sys.executable, "-c", ""], tmp_path / "x.log")
  told = []
  for say in ([], [told.append]):
    processes.run_all([job], 1, *say)
  lines = [f"x: begins ({tmp_path / 'x.log'}).", "x: finished; 0 of 1 to go."]
  assert told == lines and capsys.readouterr() == ("", "\n".join([*lines, ""]))


def test_an_unexpected_error_is_named_by_what_it_says(tmp_path):
  text = "Traceback\nValueError: other\nKeyError: 'size'\nsuite: unexpected KeyError, see above"
  job = processes.Job("x", [sys.executable, "-c", f"print({text!r}); raise SystemExit(1)"],
                      tmp_path / "x.log")
  assert processes.run_all([job], 1)[0].reason == "KeyError: 'size'"


def test_no_more_than_the_given_number_run_at_a_time(tmp_path):
  _run([f"n{i}" for i in range(4)], 2, tmp_path)
  spans = [tuple(float((tmp_path / f"n{i}.{end}").read_text()) for end in ("began", "ended"))
           for i in range(4)]
  for began, _ in spans:
    assert sum(b <= began < e for b, e in spans) <= 2


def test_an_interrupt_ends_the_processes(tmp_path, monkeypatch):
  def interrupted(seconds):
    while not (tmp_path / "endless.began").exists():
      os.sched_yield()
    raise KeyboardInterrupt

  began = time.monotonic()
  monkeypatch.setattr(processes.time, "sleep", interrupted)
  with pytest.raises(KeyboardInterrupt):
    _run(["endless", "later"], 1, tmp_path)
  assert time.monotonic() - began < 30
  assert not (tmp_path / "later.began").exists()


def test_an_error_after_a_swallowed_end_is_the_end():
  with pytest.raises(processes.Terminated), processes.ended_like_interrupted():
    try:  # As C++ does it that asks Python for a type.
      signal.raise_signal(signal.SIGTERM)
    except KeyboardInterrupt:
      pass
    raise AttributeError("'Readings' object has no attribute 'keys'")
  with pytest.raises(AttributeError), processes.ended_like_interrupted():
    raise AttributeError("of its own")


def test_a_job_with_a_result_is_not_run_and_one_without_a_result_has_failed(tmp_path):
  found = processes.run_all([_job("a", tmp_path, lambda: True), _job("b", tmp_path, lambda: False)],
                            1)
  assert [one.state for one in found] == ["finished", "failed"]
  assert not (tmp_path / "a.began").exists() and (tmp_path / "b.ended").exists()


def test_a_job_whose_log_another_process_holds_is_left_to_it(tmp_path):
  program = ("import sys, time; from suite.system import file_lock\n"
             "with file_lock.held(sys.argv[1]):\n  print('held', flush=True)\n  time.sleep(60)")
  other = subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "a.log")],
                           stdout=subprocess.PIPE, text=True)
  try:
    assert other.stdout.readline() == "held\n"
    outcome, = processes.run_all([_job("a", tmp_path, lambda: False)], 1)
    assert outcome.state == processes.ELSEWHERE and not (tmp_path / "a.began").exists()
  finally:
    other.kill()
    other.communicate()


@pytest.mark.parametrize("given, names", [
    ("", []), ("-1", []), ("0", ["0"]), ("3, 1", ["3", "1"]), ("0,-1,1", ["0"]),
    ("GPU-7,MIG-8", ["GPU-7", "MIG-8"])])
def test_the_gpus_are_those_that_cuda_would_read(monkeypatch, given, names):
  monkeypatch.setenv("CUDA_VISIBLE_DEVICES", given)
  assert processes.visible_gpus() == names


@pytest.mark.parametrize("listed, names", [
    ("exit 9", []),
    ("echo 'GPU 0: NVIDIA H100 (UUID: GPU-a)'; echo 'GPU 1: NVIDIA H100 (UUID: GPU-b)'",
     ["GPU-a", "GPU-b"]),
    ("printf 'GPU 0: A (UUID: GPU-a)\n  MIG 1g Device 0: (UUID: MIG-c)\n"
     "  MIG 1g Device 1: (UUID: MIG-d)\nGPU 1: A (UUID: GPU-b)\n'", ["MIG-c", "MIG-d", "GPU-b"]),
])
def test_without_the_variable_they_are_those_of_the_driver(tmp_path, monkeypatch, listed, names):
  monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
  (tmp_path / "nvidia-smi").write_text(f"#!/bin/sh\n{listed}\n")
  (tmp_path / "nvidia-smi").chmod(0o755)
  monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
  assert processes.visible_gpus() == names


@pytest.mark.parametrize("told, size", [("81559", 81559 * 2**20), ("[N/A]", None)])
def test_the_memory_of_the_gpu_that_is_used(tmp_path, monkeypatch, told, size):
  (tmp_path / "nvidia-smi").write_text(f'#!/bin/sh\n[ "$2" = 3 ] && echo "{told}"\n')
  (tmp_path / "nvidia-smi").chmod(0o755)
  monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
  monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,1")
  assert processes.gpu_memory() == size
  monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
  assert processes.gpu_memory() is None


def test_a_job_gets_the_gpus_of_the_fewest_others():
  used = []
  for expected in ("0", "1", "0", "1"):
    used.append(processes.least_used(["0", "1"], used, 1))
    assert used[-1] == (expected,)
  del used[1]  # The first on GPU 1 has ended.
  assert processes.least_used(["0", "1"], used, 1) == ("1",)
  assert processes.least_used(["0", "1", "2"], [("0", "1")], 2) == ("0", "2")
  assert processes.least_used([], used, 1) == processes.least_used(["0"], used, 0) == ()


@pytest.mark.parametrize("at_once, gpus, seen", [
    (4, 1, ["0", "1", "0", "1"]), (2, 0, ["0,1"]), (1, 1, ["0,1"])])
def test_children_see_their_gpus_only_and_leave_memory_to_each_other(
    tmp_path, monkeypatch, at_once, gpus, seen):
  monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
  monkeypatch.delenv("TF_FORCE_GPU_ALLOW_GROWTH", raising=False)
  found = processes.run_all([_job(f"n{i}", tmp_path, gpus=gpus) for i in range(len(seen))], at_once)
  assert [one.state for one in found] == ["finished"] * len(seen)
  growth = "true" if at_once > 1 else "unset"
  assert [(tmp_path / f"n{i}.gpus").read_text() for i in range(len(seen))] == [
      f"{names} {growth}" for names in seen]


def test_more_gpus_than_there_are_are_refused_before_anything_starts(tmp_path, monkeypatch):
  monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
  with pytest.raises(ValueError, match=r"have 3 GPUs, and this machine has 2 \(0, 1\). Give fewer"):
    processes.run_all([_job("a", tmp_path, gpus=3)], 2)
  assert not (tmp_path / "a.began").exists()
