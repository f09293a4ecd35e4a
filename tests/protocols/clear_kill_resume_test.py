# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`kill -9` while CLEAR's learners train, then the same command: the same matrix, bit for bit.

The long version, all rows: python tools/kill_resume.py digits/clear_table.
"""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import time

import suite

ROOT = pathlib.Path(suite.__file__).parents[1]
BUCKETS = 3
EVENTS = BUCKETS * (BUCKETS + 1)
SMALLER = [
    "experiment.run.learners={'er': %ER, 'cumulative': %CUMULATIVE}", f"NUM_BUCKETS={BUCKETS}",
    "EPOCHS=8", "MEMORY=60", "conv4.conv4.filters=4"]


def _tool():
  spec = importlib.util.spec_from_file_location("kill_resume", ROOT / "tools" / "kill_resume.py")
  module = importlib.util.module_from_spec(spec)
  spec.loader.exec_module(module)
  return module


def _start(workdir):
  command = [sys.executable, "-m", "suite", "run", "digits/clear_table", "--workdir", str(workdir)]
  command += [part for param in SMALLER for part in ("--gin_param", param)]
  return subprocess.Popen(
      command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
      env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})


def _finish(process):
  output, _ = process.communicate(timeout=600)
  assert process.returncode == 0, output[-3000:]


def _kill_when(process, is_time):
  deadline = time.monotonic() + 600
  while not is_time():
    assert process.poll() is None, process.communicate()[0][-3000:]
    assert time.monotonic() < deadline
    time.sleep(0.002)
  process.kill()
  process.communicate()


def _num_records(folder):
  path = folder / "records.jsonl"
  return path.read_bytes().count(b"\n") if path.exists() else 0


def test_killed_in_the_middle_of_trainings_and_resumed_gives_the_same_matrix(tmp_path):
  whole, killed = tmp_path / "whole", tmp_path / "killed"
  _finish(_start(whole))
  er, cumulative, second = killed / "er", killed / "cumulative", BUCKETS + 1
  places = (
      # The second bucket is being trained on, with rows of the memory that the first one filled.
      (er, lambda: _num_records(er) == second),
      # The second bucket's images are kept, its training is not finished.
      (cumulative, lambda: any(path.name.startswith(f"{second:06d}.") for path in
                               (cumulative / "weights").glob("*.npz"))))
  for folder, is_time in places:
    _kill_when(_start(killed), is_time)
    assert _num_records(folder) == second and not (folder / "summary.json").exists()
  _finish(_start(killed))
  assert _tool().compare(whole, killed) == []
  for name in ("er", "cumulative"):
    texts = [(d / name / "summary.json").read_text() for d in (whole, killed)]
    assert texts[0] == texts[1] and len(json.loads(texts[0])["matrix"]) == BUCKETS
    files = sorted((whole / name / "predictions").iterdir())
    assert len(files) == EVENTS - BUCKETS
    for path in files:
      assert (killed / name / "predictions" / path.name).read_bytes() == path.read_bytes()
