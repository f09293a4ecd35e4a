# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Another line of dependencies gives the same records: LIFELONG_OTHER_PYTHON names its interpreter.

`tools/matrix.py --folder ENVS 3.13` makes such an environment: ENVS/py3.13/bin/python.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

from suite.reporting import records

ROOT = pathlib.Path(__file__).resolve().parents[1]
OTHER = os.environ.get("LIFELONG_OTHER_PYTHON", "")
SMALL = ["STEPS=20", "VALIDATE_EVERY=10"]  # All tasks, one of them multi-label.


def _records(python: str, folder: pathlib.Path) -> dict[str, list[dict]]:
  command = [python, "-m", "suite", "run", "quickstart", "--workdir", str(folder)]
  command += [part for param in SMALL for part in ("--gin_param", param)]
  done = subprocess.run(command, cwd=folder.parent, env={**os.environ, "PYTHONPATH": str(ROOT)},
                        capture_output=True, text=True, check=False)
  assert done.returncode == 0, done.stdout + done.stderr
  return {path.parent.name: [records.strip_times(r) for r in records.read(path)]
          for path in sorted(folder.glob("*/records.jsonl"))}


@pytest.mark.skipif(not OTHER, reason="LIFELONG_OTHER_PYTHON names no interpreter")
def test_records_of_another_line_are_the_same(tmp_path):
  here, there = (_records(python, tmp_path / name)
                 for name, python in (("here", sys.executable), ("there", OTHER)))
  assert sum(map(len, here.values())) >= 48
  assert there == here
