# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs of FLUID's protocol on digits that end where a test wants them to."""

import pytest
import stopped_runs

from suite.data.digits import digits
from suite.protocols import fluid


class DigitRuns:
  """`fluid.run` on a short sequence."""

  Stop = stopped_runs.Stop

  def run(self, learner, folder, *, length, stop_after=0, **settings):
    blocks = fluid.Blocks(**{name: settings.pop(name) for name in ("record_every", "block_size")
                             if name in settings})
    with stopped_runs.state(folder, stop_after=stop_after) as state:
      return fluid.run(learner, state=state, sequence=digits.sequence(length),
                       base=digits.sequence_base(), blocks=blocks, **settings)

  def records(self, folder):
    return stopped_runs.records(folder)


@pytest.fixture
def digit_runs():
  return DigitRuns()
