# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Processes share the trials of a run; `kill -9` of any, and the records are those of one."""

import re
import time

RUN_FILE = """
from __gin__ import dynamic_registration
from suite.protocols import nevis
import one_task
include 'gin/runs/quickstart.gin'
nevis.run.stream = @one_task.stream()
"""
MODULE = """
from suite.data.digits import digits
from suite.data.streams import streams


def stream():
  entries = digits.nevis_stream(max_train_images=64).entries
  return streams.Stream("one", entries[1:2])
"""
SMALLER = [
    "experiment.run.learners={'indep': %INDEP}", "conv4.conv4.filters=4",
    "conv4.conv4.blocks=1", "STEPS=160", "VALIDATE_EVERY=80", "trainer.Trainer.save_every=20",
    "LEARNING_RATE=(1e-3, 1e-1)", "search.Search.num_trials=6"]


def test_killed_processes_that_share_trials_leave_the_records_of_one(processes, tmp_path):
  (tmp_path / "one.gin").write_text(RUN_FILE)
  (tmp_path / "one_task.py").write_text(MODULE)
  whole, shared = tmp_path / "whole", tmp_path / "shared"

  def start():
    return processes.start(
        tmp_path / "one.gin", shared, params=SMALLER, path=tmp_path, flags=["--share"])

  def in_progress():
    trials = list((shared / "indep" / "state" / "search").glob("0*/*"))
    return sum((t / "progress").is_dir() and not (t / "done.json").exists() for t in trials) >= 2

  def chief():
    return int(re.match(r"process (\d+) ", (shared / ".lock").read_text())[1])

  running = [start() for _ in range(3)]
  # A helper is killed, then the chief; the third process ends the run.
  for kills_chief in (False, True):
    while not in_progress():
      assert running[0].poll() is None, running[0].communicate()[0][-3000:]
      time.sleep(0.02)
    killed = next(p for p in running if (p.pid == chief()) == kills_chief)
    processes.kill_when(killed, lambda: True)
    running.remove(killed)
  processes.finish(running[0])
  processes.finish_here(tmp_path / "one.gin", whole, params=SMALLER, path=tmp_path)
  assert processes.num_records(shared / "indep") == 2
  assert not (shared / "indep" / "state" / "search").exists()
  processes.assert_same(whole, shared, ["indep"])
