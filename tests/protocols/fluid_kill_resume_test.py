# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`kill -9` in the middle of a sequence, then the same command: the same records, byte for byte.

Two learners of the digits, one whose centroids move with every label and one that trains a whole
net on what is stored; offline phases come by new classes, records have 20 steps.
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
from suite.reporting import records as records_lib

ROOT = pathlib.Path(suite.__file__).parents[1]
RUN_FILE = """
from __gin__ import dynamic_registration
from suite import experiment
from suite.data import digits
from suite.data import image_ops
from suite.learners import nearest_mean
from suite.learners import stream_tuner
from suite.models import conv4
from suite.protocols import fluid
from suite.training import frozen_backbone
from suite.training import stream_nets
from suite.training import update_strategies
include 'gin/learners/fluid_exemplar_tuning.gin'

experiment.run.protocol = @fluid.run
experiment.run.learners = {'et': %EXEMPLAR_TUNING, 'standard': @stream_tuner.StreamTuner}
fluid.run.sequence = @digits.sequence()
fluid.run.base = @digits.sequence_base()
fluid.run.update = @update_strategies.OnNewClasses()
fluid.run.record_every = 20
update_strategies.OnNewClasses.count = 2
digits.sequence.num_samples = 120
stream_tuner.StreamTuner.transform = %TRANSFORM
stream_tuner.StreamTuner.network = @stream_nets.Whole()
stream_tuner.StreamTuner.batch_size = 32
stream_nets.Whole.backbone = @frozen_backbone.FrozenBackbone
frozen_backbone.FrozenBackbone.backbone = @conv4.conv4
frozen_backbone.FrozenBackbone.size = 8
conv4.conv4.filters = 4
conv4.conv4.blocks = 2
image_ops.Plain.size = 8
FEATURES = @nearest_mean.pixels
TRANSFORM = @image_ops.Plain()
RATE = 0.01
"""


def _tool():
  spec = importlib.util.spec_from_file_location("kill_resume", ROOT / "tools" / "kill_resume.py")
  module = importlib.util.module_from_spec(spec)
  spec.loader.exec_module(module)
  return module


def _start(folder, workdir):
  command = [sys.executable, "-m", "suite", "run", str(folder / "digits.gin"), "--workdir",
             str(workdir)]
  return subprocess.Popen(
      command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
      env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})


def _finish(process):
  output, _ = process.communicate(timeout=600)
  assert process.returncode == 0, output[-3000:]


def _num_records(folder):
  path = folder / "records.jsonl"
  return path.read_bytes().count(b"\n") if path.exists() else 0


def _kill_after(process, folder, num_records):
  """A SIGKILL as soon as there are so many records: in the event after them, or in the commit."""
  deadline = time.monotonic() + 600
  while _num_records(folder) < num_records:
    assert process.poll() is None, process.communicate()[0][-3000:]
    assert time.monotonic() < deadline
    time.sleep(0.002)
  process.kill()
  process.communicate()


def _lines(folder):
  return [json.dumps(records_lib.strip_times(record))
          for record in records_lib.read(folder / "records.jsonl")]


def test_killed_between_samples_and_in_phases_and_resumed_gives_the_same_records(tmp_path):
  (tmp_path / "digits.gin").write_text(RUN_FILE)
  whole, killed = tmp_path / "whole", tmp_path / "killed"
  _finish(_start(tmp_path, whole))
  kinds = ["phase" if "phase" in r else "steps" if "first_step" in r else "base"
           for r in records_lib.read(whole / "standard" / "records.jsonl")]
  assert kinds[0] == "base" and kinds.count("phase") == 3
  # After the base classes; when an offline phase begins; in the steps that follow one.
  places = [("et", 1), ("standard", kinds.index("phase")),
            ("standard", len(kinds) - kinds[::-1].index("phase"))]
  for name, num_records in places:
    _kill_after(_start(tmp_path, killed), killed / name, num_records)
    assert num_records <= _num_records(killed / name) < len(kinds)
    assert not (killed / name / "summary.json").exists()
  _finish(_start(tmp_path, killed))
  assert _tool().compare(whole, killed) == []
  for name in ("et", "standard"):
    assert _lines(whole / name) == _lines(killed / name)
    assert (whole / name / "summary.json").read_text() == (
        killed / name / "summary.json").read_text()
    files = sorted((whole / name / "predictions").iterdir())
    assert len(files) == kinds.count("steps")
    for path in files:
      assert (killed / name / "predictions" / path.name).read_bytes() == path.read_bytes()
