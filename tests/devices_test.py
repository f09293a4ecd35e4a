# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Learners of NEVIS, FLUID and CFSL on two logical CPU devices: the records of one device.

One process runs all cases. `tests/training/gradient/device_shares_test.py` has the objectives;
CLEAR takes the steps of FLUID.
"""

import json
import os
import pathlib

import close_records
import pytest

import suite

ROOT = pathlib.Path(suite.__file__).parents[1]
# Batch norm normalizes each device's share by itself.
GROUP_NORM = "conv4.conv4.norm = 'group'\n"
CASES = (("ft_d", "nevis", GROUP_NORM + "STEPS = 4\nVALIDATE_EVERY = 2\n"
          "digits.nevis_stream.max_train_images = 64\ndigits.nevis_stream.num_tasks = 1"),
         ("er", "fluid", GROUP_NORM + "EPOCHS = 1\ndigits.sequence.num_samples = 40"),
         ("protonet", "cfsl", "UPDATES = 3\ncfsl.run.updates_per_event = 3\n"
          "cfsl.run.tasks_per_update = 2\ncfsl.run.test_episodes = 2\nNUM_SUPPORT_SETS = 1"))
UNEVEN = "UPDATES = 3\ncfsl.run.updates_per_event = 3\ncfsl.run.tasks_per_update = 3"
SCRIPT = """
import json, pathlib, sys
from suite.compute import distribution
two = distribution.build("mirrored", 2)
import matrix_runs
from suite.configs import gin_parse, methods

folder, found = pathlib.Path(sys.argv[1]), {}
known = {method.name: method for method in methods.load()}
for name, protocol, extra in json.loads(sys.argv[2]):
  gin_parse.gin.clear_config()
  cell = matrix_runs.CellRun(folder / name, known[name], protocol, extra)
  found[name] = [cell.on(distribution.build(), "one"), cell.on(two, "two")]
gin_parse.gin.clear_config()
cell = matrix_runs.CellRun(folder / "uneven", known["protonet"], "cfsl", sys.argv[3])
try:
  cell.on(two, "two")
except ValueError as error:
  found["uneven"] = str(error), cell.records("two")
(folder / "found.json").write_text(json.dumps(found))
"""


@pytest.fixture(name="found", scope="module")
def _found(python, tmp_path_factory):
  folder = tmp_path_factory.mktemp("devices")
  paths = os.pathsep.join([str(ROOT), str(ROOT / "tests" / "shared")])
  done = python.run(
      ["-c", SCRIPT, str(folder), json.dumps(CASES), UNEVEN], timeout=500,
      env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": paths})
  assert done.returncode == 0, done.stderr[-3000:]
  assert "learns on one device" not in done.stderr
  return json.loads((folder / "found.json").read_text())


@pytest.mark.parametrize("name, protocol", [case[:2] for case in CASES])
def test_two_devices_give_the_records_of_one(found, name, protocol):
  one, two = found[name]
  assert len(one) > 1 and one[0]["protocol"] == protocol
  close_records.check(two, one, rel=1e-4)  # Counts, costs and choices are the same.


def test_episodes_that_do_not_split_are_refused(found):
  message, records = found["uneven"]
  assert "Batch size 3 cannot be split over 2 replicas" in message and not records
