# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The cells of a table in the process of a test, where `run_all` is put in place of `processes`'.

Each cell's own process would import TensorFlow; tests/tables/table_test.py has those.
"""

from __future__ import annotations

from collections.abc import Sequence

from suite import cli
from suite.system import processes


def run_all(jobs: Sequence[processes.Job], at_once: int, say=processes.say
            ) -> list[processes.Outcome]:
  """As `processes.run_all`, one job after the other; a job that fails ends the test."""
  del at_once, say
  for job in jobs:
    assert cli.main(list(job.command[3:])) == 0  # After python -m suite.
  return [processes.Outcome(job, processes.FINISHED) for job in jobs]
