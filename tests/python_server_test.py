# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A process of the server is what an interpreter would be."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest

STATE = """
import json, os, random, sys
import numpy as np
import tensorflow as tf
import beside

class Pickled: pass

import atexit, pickle
atexit.register(print, "ended")
assert type(pickle.loads(pickle.dumps(Pickled()))) is Pickled
tf.config.set_logical_device_configuration(  # Refused once TensorFlow has run an operation.
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2)
print(json.dumps([sys.argv, __name__, os.getcwd(), os.environ["GIVEN"], os.environ.get("OTHER"),
                  beside.NAME, len(tf.config.list_logical_devices("CPU")), os.getpid(),
                  random.random(), float(np.random.rand()), float(tf.reduce_sum(tf.ones([3])))]))
print("warned", file=sys.stderr)
sys.exit(3)
"""


@pytest.mark.parametrize("kind", ["-c", "-m", "file"])
def test_a_process_has_what_an_interpreter_gives_it(kind, python, monkeypatch, tmp_path):
  (tmp_path / "beside.py").write_text("NAME = 'found'")
  (tmp_path / "state.py").write_text(STATE)
  monkeypatch.setenv("OTHER", "x")
  env = {**os.environ, "GIVEN": "y", "PYTHONPATH": str(tmp_path)}
  del env["OTHER"]
  first = {"-c": ["-c", STATE], "-m": ["-m", "state"], "file": [tmp_path / "state.py"]}[kind]
  found = []
  for _ in range(2):
    process = python.start([*first, "a", "b"], cwd=tmp_path, env=env, stderr=subprocess.PIPE)
    out, err = process.communicate(timeout=100)
    assert process.returncode == process.poll() == 3 and err.endswith("warned\n")
    line, end = out.splitlines()
    assert end == "ended"
    argv, *state = json.loads(line)
    assert argv[1:] == ["a", "b"]
    assert state[:6] == ["__main__", str(tmp_path), "y", None, "found", 2]
    assert state[6] == process.pid and state[9] == 3.0
    found.append(state[6:9])
  # No pid and no global random number is another's.
  assert not set(found[0]) & set(found[1])


def test_a_process_is_killed_and_an_error_is_an_exit_code(python, tmp_path):
  asleep = python.start(["-c", "import time; print('x', flush=True); time.sleep(100)"])
  failed = python.start(["-c", "raise ValueError('reason')"])
  output, nothing = failed.communicate(timeout=100)
  assert failed.returncode == 1 and "ValueError: reason" in output and nothing is None
  assert asleep.poll() is None
  with pytest.raises(subprocess.TimeoutExpired):
    asleep.wait(timeout=0.05)
  asleep.kill()
  asleep.communicate(timeout=100)
  assert asleep.returncode == -signal.SIGKILL
  asleep.kill()  # Nothing is left to be killed.


def test_what_is_read_at_import_needs_a_fresh_interpreter(python):
  code = ["-c", "import sys; print('tensorflow' in sys.modules, hash('x'))"]
  assert python.run(code).stdout.split()[0] == "True"
  assert python.start(code, fresh=True).communicate()[0].split()[0] == "False"
  outputs = {python.run(code, env={**os.environ, "PYTHONHASHSEED": "1"}).stdout for _ in range(2)}
  assert len(outputs) == 1 and outputs.pop().split()[0] == "False"
