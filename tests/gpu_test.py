# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Where a GPU is at hand, a method of each protocol gives the CPU's records within tolerance."""

import json
import os
import pathlib
import subprocess
import sys

import close_records
import pytest
import tensorflow as tf

import suite

ROOT = pathlib.Path(suite.__file__).parents[1]
CASES = (("ft_d", "nevis"), ("er_ace", "clear"), ("er", "fluid"), ("maml_plus_plus", "cfsl"))
SCRIPT = """
import json, pathlib, sys
from suite.compute import distribution
import matrix_runs
from suite.configs import gin_parse, methods
from suite.models import precision
import tensorflow as tf

tf.config.experimental.enable_op_determinism()
precision.use("float32")
folder, found = pathlib.Path(sys.argv[1]), {"device": distribution.build().devices[0]}
known = {method.name: method for method in methods.load()}
for name, protocol in json.loads(sys.argv[2]):
  gin_parse.gin.clear_config()
  extra = "UPDATES = 15" if protocol == "cfsl" else "EPOCHS = 1"
  cell = matrix_runs.CellRun(folder / name, known[name], protocol, extra)
  found[name] = cell.on(distribution.build(), "run")
(folder / "found.json").write_text(json.dumps(found))
"""

pytestmark = pytest.mark.skipif(
    not tf.config.list_physical_devices("GPU"), reason="TensorFlow sees no GPU here")


def _found(folder, **environment):
  folder.mkdir()
  paths = os.pathsep.join([str(ROOT), str(ROOT / "tests" / "shared"), *sys.path])
  done = subprocess.run(
      [sys.executable, "-c", SCRIPT, str(folder), json.dumps(CASES)], capture_output=True,
      text=True, timeout=550, env={**os.environ, "PYTHONPATH": paths, **environment})
  assert done.returncode == 0, done.stderr[-3000:]
  return json.loads((folder / "found.json").read_text())


@pytest.fixture(name="runs", scope="module")
def _runs(tmp_path_factory):
  folder = tmp_path_factory.mktemp("gpu")
  return _found(folder / "cpu", CUDA_VISIBLE_DEVICES=""), _found(folder / "gpu")


def test_one_ran_on_the_cpu_and_one_on_the_gpu(runs):
  assert "CPU" in runs[0]["device"] and "GPU" in runs[1]["device"]


@pytest.mark.parametrize("name, protocol", CASES)
def test_records_are_those_of_the_cpu(runs, name, protocol):
  cpu, gpu = (run[name] for run in runs)
  assert cpu and cpu[0]["protocol"] == protocol
  close_records.check(gpu, cpu, rel=0.02, images=3)
