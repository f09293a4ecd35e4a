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
SECONDS = int(os.environ.get("LIFELONG_FAULT_SECONDS", "0"))


def _campaign(python, *, faults, seed, seconds, **flags):
  """A few faults of a seed, or as many as fit."""
  given = {"faults": 1_000_000, "seed": SECONDS, "seconds": seconds} if SECONDS else {
      "faults": faults, "seed": seed}
  done = python.run([ROOT / "tools" / "faults", *(
      part for name, value in {**given, **flags}.items() for part in (f"--{name}", str(value)))],
      timeout=3600)
  assert done.returncode == 0, done.stdout + done.stderr[-3000:]
  return done.stdout


def test_faults_of_data_are_survived_or_refused(python):
  out = _campaign(python, faults=80, seed=8, seconds=SECONDS / 2, share_of_runs=0)
  for kind in ("damaged file of a cache", "changed archive", "changed image", "changed array file",
               "changed gin file", "random command line"):
    assert f"| {kind} |" in out


def test_faults_of_runs_are_survived_or_refused(python):
  # This seed's first ones are of one run, so that one is made without a fault.
  out = _campaign(python, faults=2, seed=52, seconds=10 * SECONDS, share_of_runs=1)
  for kind in () if SECONDS else ("damaged file of a finished run", "asked to end"):
    assert f"| {kind} | 1 |" in out
