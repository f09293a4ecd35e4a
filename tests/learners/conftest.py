# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs of FLUID's protocol on digits that end where a test wants them to."""

import pytest

from suite.compute import distribution
from suite.data.digits import digits
from suite.protocols import fluid
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import records
from suite.reporting import run_writer


class Stop(Exception):
  pass


class Stopping(run_state.RunState):
  """Ends after so many events."""

  stop_after = 0

  def commit(self, *arguments):
    super().commit(*arguments)
    if self.done == self.stop_after:
      raise Stop


class DigitRuns:
  """`fluid.run` on a short sequence."""

  Stop = Stop

  def run(self, learner, folder, *, length, stop_after=0, **settings):
    writer = run_writer.RunWriter(folder, None, progress.Progress("x"))
    state = Stopping(folder, writer, name="x", seed=5, distribution=distribution.build())
    state.stop_after = stop_after
    return fluid.run(learner, state=state, sequence=digits.sequence(length),
                     base=digits.sequence_base(), **settings)

  def records(self, folder):
    return records.strip_times(records.read(folder / "records.jsonl"))


@pytest.fixture
def digit_runs():
  return DigitRuns()
