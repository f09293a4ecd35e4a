# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The episodes of a meta-update shared out over two devices give what one device gives."""

import os
import pathlib

import numpy as np
import pytest

import suite
from suite.reporting import records

ROOT = pathlib.Path(suite.__file__).parents[1]
RUN_FILE = """
from __gin__ import dynamic_registration
from suite import experiment
from suite.learners import protonet
from suite.models.episodic import embedding
from suite.models.episodic import proto_conv4
from suite.protocols import cfsl
include 'gin/runs/digits/cfsl.gin'
protonet.ProtoNet.embedding = @embedding.Embedding()
embedding.Embedding.net = @proto_conv4.ProtoConv4()
proto_conv4.ProtoConv4.filters = 4
proto_conv4.ProtoConv4.blocks = 2
cfsl.run.updates = 6
cfsl.run.updates_per_event = 3
cfsl.run.tasks_per_update = 4
cfsl.run.test_episodes = 20
"""


def _run(python, folder, *flags, fresh=False):
  folder.mkdir()
  (folder / "run.gin").write_text(RUN_FILE)
  env = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(ROOT)}
  return python.run(["-m", "suite", "run", str(folder / "run.gin"), "--workdir",
                     str(folder / "out"), *flags], env=env, timeout=300, fresh=fresh)


def _records(folder):
  return records.strip_times(
      records.read(folder / "out" / "protonet" / "records.jsonl"))


def test_two_devices_give_the_records_of_one(python, tmp_path):
  for name, flags in (("one", []), ("two", ["--strategy", "mirrored", "--devices", "2"])):
    done = _run(python, tmp_path / name, *flags, fresh=name == "one")
    assert done.returncode == 0, done.stderr[-3000:]
  one, two = _records(tmp_path / "one"), _records(tmp_path / "two")
  assert [r["kind"] for r in one] == [r["kind"] for r in two] == ["train", "train", "predict"]
  for a, b in zip(one, two):
    assert list(a) == list(b)
    for name in a:
      if name.startswith(("flops", "macs", "examples", "steps")):
        assert a[name] == b[name], name
    if a["kind"] == "train":
      np.testing.assert_allclose(a["loss"], b["loss"], rtol=1e-3)
  # 20 episodes of 40 targets; a few may fall to the other side.
  assert one[-1]["accuracy"] == pytest.approx(two[-1]["accuracy"], abs=0.02)


def test_episodes_that_do_not_split_are_refused(python, tmp_path):
  done = _run(python, tmp_path / "three", "--strategy", "mirrored", "--devices", "3")
  assert done.returncode == 1
  assert "Batch size 4 cannot be split over 3 replicas" in done.stderr
