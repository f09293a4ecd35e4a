# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Two logical CPU devices and two worker processes, killed and resumed, give the same records.

One of the processes is fresh. tests/devices_test.py compares two devices with one.
"""

import json
import math
import os
import pathlib
import socket
import time

import pytest

import suite
from suite.reporting import records

ROOT = pathlib.Path(suite.__file__).parents[1]

# The quickstart on two of its tasks, of one shape; the second starts by kNN. Batch norm normalizes
# each replica's share by itself, in processes as on devices.
RUN_FILE = """
from __gin__ import dynamic_registration
from suite import experiment
from suite.models import conv4
from suite.protocols import nevis
from suite.training.gradient import trainer
import two_tasks
include 'gin/runs/quickstart.gin'
experiment.run.learners = {'ft_d': %FT_D}
nevis.run.stream = @two_tasks.stream()
conv4.conv4.filters = 4
conv4.conv4.blocks = 1
trainer.Trainer.save_every = 4
STEPS = 8
VALIDATE_EVERY = 4
"""
MODULE = """
from suite.data.digits import digits
from suite.data.streams import streams


def stream():
  return streams.Stream("two", digits.nevis_stream(max_train_images=64).entries[1:3])
"""


@pytest.fixture(name="start", scope="module")
def start(python, tmp_path_factory):
  """start(workdir, *flags) starts the run in a process; of two that are compared, one is fresh."""
  folder = tmp_path_factory.mktemp("run")
  (folder / "two.gin").write_text(RUN_FILE)
  (folder / "two_tasks.py").write_text(MODULE)

  def start(workdir, *flags, environment=None, fresh=False):
    env = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "TF_NUM_INTRAOP_THREADS": "1",
           "PYTHONPATH": os.pathsep.join([str(ROOT), str(folder)]), **(environment or {})}
    command = ["-m", "suite", "run", str(folder / "two.gin"), "--workdir", str(workdir), *flags]
    return python.start(command, env=env, fresh=fresh)

  return start


def _finish(*processes):
  try:
    outputs = [p.communicate(timeout=200)[0] for p in processes]
  finally:
    for process in processes:
      process.kill()  # A worker waits for ever for another one that failed.
  for process, output in zip(processes, outputs):
    assert process.returncode == 0, output[-3000:]
  return outputs


def _records(workdir):
  return records.strip_times(records.read(workdir / "ft_d" / "records.jsonl"))


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


def _two_workers(start, workdir, *flags, fresh=False):
  return [start(workdir, "--strategy", "multi_worker", *flags, environment={"TF_CONFIG": config},
                fresh=fresh and index > 0)
          for index, config in enumerate(_configs())]


def _configs():
  """TF_CONFIG of each of two processes."""
  workers = [f"localhost:{port}" for port in _free_ports(2)]
  return [json.dumps({"cluster": {"worker": workers}, "task": {"type": "worker", "index": index}})
          for index in (0, 1)]


def _slurm_tasks():
  """What srun sets for each of two tasks of one node; TF_CONFIG has no part in it."""
  step = {"SLURM_JOB_ID": str(os.getpid()), "SLURM_STEP_NUM_TASKS": "2",
          "SLURM_STEP_NODELIST": "localhost", "SLURM_STEP_TASKS_PER_NODE": "2",
          "SLURMD_NODENAME": "localhost", "TF_CONFIG": ""}
  return [{**step, "SLURM_PROCID": str(i), "SLURM_LOCALID": str(i)} for i in (0, 1)]


def test_workers_of_which_one_was_killed_resume_and_are_those_of_two_devices(start, tmp_path):
  killed, devices = tmp_path / "killed", tmp_path / "devices"
  chief, second = _two_workers(start, killed, fresh=True)
  try:
    deadline = time.monotonic() + 200
    while not list(killed.glob("ft_d/state/progress/0*.bin")):  # In the first training.
      assert chief.poll() is None and time.monotonic() < deadline
      time.sleep(0.01)
    second.kill()
    output = chief.communicate(timeout=200)[0]
  finally:
    chief.kill()
    second.kill()
    second.communicate()
  assert chief.returncode == 1 and "Traceback" not in output
  assert output.splitlines()[-1].startswith(
      "suite: another of the 2 processes of this run has ended or cannot be reached any more")
  _finish(*_two_workers(start, killed))
  _finish(start(devices, "--strategy", "mirrored", "--devices", "2"))
  assert "mirrored" in json.loads((devices / "environment.json").read_text())["device"]
  found = _records(killed)
  assert list(found[2]["start"]["candidates"]) == ["digits_rotated"]  # A start by kNN.
  _assert_same(_records(devices), found)


# Every process has values of its own.
SCRIPT = """
import json
import os
from suite.compute import distribution
import tensorflow as tf

one = distribution.build("slurm")
index = int(os.environ["SLURM_PROCID"])
agreed = [one.agreed({"error": 0.1 + index, "chief": one.is_chief}), len(one.agreed("x" * 40000))]
with one.scope():
  norm = tf.keras.layers.BatchNormalization()
  norm.build([None, 1])
update = lambda: norm.moving_mean.assign([[1.0, 4.0][index]])
tf.function(lambda: one.run(update))()
before = float(norm.moving_mean.numpy()[0])  # Read in one process only, this would wait for ever.
tf.function(lambda: one.average(norm.variables))()
print("found", json.dumps([agreed, before, float(norm.moving_mean.numpy()[0])]))
"""


def test_slurm_tasks_take_the_values_of_the_chief_and_the_mean_of_their_statistics(
    python):
  processes = [python.start(
      ["-c", SCRIPT],
      env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(ROOT), **task})
               for task in _slurm_tasks()]
  outputs = _finish(*processes)
  for output, own in zip(outputs, (1.0, 4.0)):
    found = json.loads(output[output.index("found") + len("found"):].splitlines()[0])
    assert found == [[{"error": 0.1, "chief": True}, 40000], own, 2.5]


def _free_ports(count):
  sockets = [socket.socket() for _ in range(count)]
  for one in sockets:
    one.bind(("localhost", 0))
  ports = [one.getsockname()[1] for one in sockets]
  for one in sockets:
    one.close()
  return ports


def test_a_batch_that_does_not_split_is_refused_before_any_training(start, tmp_path):
  process = start(tmp_path, "--strategy", "mirrored", "--devices", "3")
  output = process.communicate(timeout=300)[0]
  assert process.returncode == 2
  assert "Batch size 32 cannot be split over 3 replicas" in output
