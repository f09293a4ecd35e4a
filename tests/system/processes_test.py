# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Child processes: how many at a time, what an interrupt ends, what is running elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from suite.system import processes

# Says when it ran; bad names fail with a reason, "endless" runs until it is ended.
_STAND_IN = """
import sys, time, pathlib
name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
(folder / f"{name}.began").write_text(str(time.time()))
time.sleep(60 if name == "endless" else 0.5)
if name.startswith("bad"):
  print("suite: dead link", file=sys.stderr)
  sys.exit(1)
if name.startswith("killed"):
  import os
  os.kill(os.getpid(), 9)
(folder / f"{name}.ended").write_text(str(time.time()))
"""


def _job(name, folder, is_finished=None):
  command = [sys.executable, "-c", _STAND_IN, name, str(folder)]
  return processes.Job(name, command, folder / f"{name}.log", is_finished)


def _run(names, at_once, folder):
  return processes.run_all([_job(name, folder) for name in names], at_once)


def test_outcomes_stand_in_the_order_of_jobs_with_reasons(tmp_path):
  found = _run(["a", "bad", "killed", "c"], 2, tmp_path)
  assert [(one.job.name, one.state, one.reason) for one in found] == [
      ("a", "finished", ""), ("bad", "failed", "dead link"),
      ("killed", "failed", "ended by signal 9"), ("c", "finished", "")]
  assert all(one.seconds > 0.4 for one in found)


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
