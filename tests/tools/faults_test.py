# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A part of the campaign of faults: nothing is lost, nothing is silent.

`LIFELONG_FAULT_SECONDS=600` makes it ten minutes; the seed changes with it, so that each length
draws other faults.
"""

from __future__ import annotations

import os
import pathlib

import suite

ROOT = pathlib.Path(suite.__file__).parents[1]
SECONDS = int(os.environ.get("LIFELONG_FAULT_SECONDS", "8"))


def _campaign(python, *flags):
  done = python.run(
      [ROOT / "tools" / "faults", "--seed", str(SECONDS), *flags], timeout=3600)
  assert done.returncode == 0, done.stdout + done.stderr[-3000:]
  return done.stdout


def test_faults_of_data_are_survived_or_refused(python):
  out = _campaign(
      python, "--faults", "100000", "--seconds", str(SECONDS / 2), "--share_of_runs", "0")
  assert "| damaged file of a cache |" in out and "| changed archive |" in out


def test_faults_of_runs_are_survived_or_refused(python):
  # The first ones at least: a busy machine makes few of them in this time.
  _campaign(python, "--faults", "100000" if SECONDS > 60 else "2", "--seconds", str(10 * SECONDS),
            "--share_of_runs", "1")
