# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Settings of a process that does nothing but a run: short tasks are mostly tracing of graphs."""

from __future__ import annotations

import gc

from suite.compute import private_tensorflow

# Of new objects. Graphs are many objects that stay: Python's 700 would have them looked at again
# and again, a twentieth of the time of a run of short tasks.
_COLLECT_AFTER = 20_000


def settle(*, debug: bool = False) -> None:
  """Makes garbage collection rarer, and operations keep no Python stack unless `debug` is set."""
  gc.collect()
  gc.freeze()  # What was imported stays.
  gc.set_threshold(_COLLECT_AFTER, 10, 10)
  private_tensorflow.keep_stacks(debug)
