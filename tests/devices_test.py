# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""CLEAR's and FLUID's gradient learners on two logical CPU devices: the records of one device.

One process runs all cases. `tests/training/gradient/device_shares_test.py` has every objective,
`tests/cfsl_distribution_test.py` and `tests/distribution_test.py` CFSL and NEVIS.
"""

import json
import os
import pathlib

import close_records
import pytest

import suite

ROOT = pathlib.Path(suite.__file__).parents[1]
CASES = (("er_ace", "clear"), ("er", "fluid"))
SCRIPT = """
import json, pathlib, sys
from suite.compute import distribution
two = distribution.build("mirrored", 2)
import matrix_runs
from suite.configs import gin_parse, methods

folder, found = pathlib.Path(sys.argv[1]), {}
known = {method.name: method for method in methods.load()}
for name, protocol in json.loads(sys.argv[2]):
  gin_parse.gin.clear_config()
  cell = matrix_runs.CellRun(folder / name, known[name], protocol,
                             "EPOCHS = 2\\nconv4.conv4.norm = 'group'")
  found[name] = [cell.on(distribution.build(), "one"), cell.on(two, "two")]
(folder / "found.json").write_text(json.dumps(found))
"""


@pytest.fixture(name="found", scope="module")
def _found(python, tmp_path_factory):
  folder = tmp_path_factory.mktemp("devices")
  paths = os.pathsep.join([str(ROOT), str(ROOT / "tests" / "shared")])
  done = python.run(
      ["-c", SCRIPT, str(folder), json.dumps(CASES)], timeout=500,
      env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": paths})
  assert done.returncode == 0, done.stderr[-3000:]
  assert "learns on one device" not in done.stderr
  return json.loads((folder / "found.json").read_text())


@pytest.mark.parametrize("name, protocol", CASES)
def test_two_devices_give_the_records_of_one(found, name, protocol):
  one, two = found[name]
  assert len(one) > 1 and one[0]["protocol"] == protocol
  close_records.check(two, one, rel=1e-4)  # Counts, costs and choices are the same.
