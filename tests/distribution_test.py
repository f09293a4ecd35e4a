# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""One device, two logical CPU devices and two worker processes give the same records."""

import json
import math
import os
import socket
import subprocess
import sys

import pytest

from suite.reporting import records as records_lib

# Two tasks of the quickstart with a start by kNN. Group norm: batch norm's statistics are per replica by nature.
ARGUMENTS = [
    "run", "quickstart", "--gin_param", "experiment.run.learners={'ft_d': %FT_D}",
    "--gin_param", "conv4.conv4.norm='group'", "--gin_param", "conv4.conv4.filters=8",
    "--gin_param", "digits.nevis_stream.max_train_images=64", "--gin_param", "STEPS=8",
    "--gin_param", "VALIDATE_EVERY=4", "--gin_param", "trainer.Trainer.save_every=4"]


def _start(workdir, *flags, environment=None):
  env = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "TF_NUM_INTRAOP_THREADS": "1", **(environment or {})}
  return subprocess.Popen(
      [sys.executable, "-m", "suite", *ARGUMENTS, "--workdir", str(workdir), *flags], env=env,
      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def _finish(*processes):
  outputs = [p.communicate(timeout=300)[0] for p in processes]
  for process, output in zip(processes, outputs):
    assert process.returncode == 0, output[-3000:]


def _records(workdir):
  return records_lib.strip_times(records_lib.read(workdir / "ft_d" / "records.jsonl"))


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
  workdir = tmp_path_factory.mktemp("one")
  _finish(_start(workdir))
  return _records(workdir)


def _assert_same(found, expected):
  """Floats within tolerance, everything else the same: names, counts, FLOPs, choices."""
  assert len(found) == len(expected)
  for a, b in zip(found, expected):
    assert {k: v for k, v in a.items() if k.startswith(("flops", "macs", "steps", "examples"))} == {
        k: v for k, v in b.items() if k.startswith(("flops", "macs", "steps", "examples"))}
    _assert_close(a, b, f"event {a['event']}")


def _assert_close(a, b, where):
  if isinstance(a, dict):
    assert list(a) == list(b), where
    for key in a:
      _assert_close(a[key], b[key], f"{where}.{key}")
  elif isinstance(a, list):
    assert len(a) == len(b), where
    for i, (x, y) in enumerate(zip(a, b)):
      _assert_close(x, y, f"{where}[{i}]")
  elif isinstance(a, float):
    # Errors are counts: one image of 250 may fall to the other side.
    assert math.isclose(a, b, rel_tol=1e-3, abs_tol=0.008), (where, a, b)
  elif where.endswith(".correct"):
    assert abs(a - b) <= 2, (where, a, b)
  elif not where.endswith("best_step"):
    assert a == b, (where, a, b)


def test_two_logical_devices_give_the_records_of_one(alone, tmp_path):
  _finish(_start(tmp_path, "--strategy", "mirrored", "--devices", "2"))
  assert "mirrored" in json.loads((tmp_path / "environment.json").read_text())["device"]
  _assert_same(_records(tmp_path), alone)


def test_two_worker_processes_give_the_records_of_one(alone, tmp_path):
  workers = [f"localhost:{port}" for port in _free_ports(2)]
  processes = []
  for index in (0, 1):
    config = {"cluster": {"worker": workers}, "task": {"type": "worker", "index": index}}
    processes.append(_start(tmp_path, "--strategy", "multi_worker",
                            environment={"TF_CONFIG": json.dumps(config)}))
  _finish(*processes)
  _assert_same(_records(tmp_path), alone)


def _free_ports(count):
  sockets = [socket.socket() for _ in range(count)]
  for one in sockets:
    one.bind(("localhost", 0))
  ports = [one.getsockname()[1] for one in sockets]
  for one in sockets:
    one.close()
  return ports


def test_a_batch_that_does_not_split_is_refused_before_any_training(tmp_path):
  process = _start(tmp_path, "--strategy", "mirrored", "--devices", "3")
  output = process.communicate(timeout=300)[0]
  assert process.returncode == 1
  assert "Batch size 32 cannot be split over 3 replicas" in output
