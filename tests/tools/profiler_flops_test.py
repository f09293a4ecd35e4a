# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The table of our FLOPs beside the profiler's."""

from __future__ import annotations

from suite.models import conv4


def test_totals_differ_by_the_named_ops_alone(load_tool):
  profiler_flops = load_tool("profiler_flops")
  graphs = profiler_flops.graphs(lambda: conv4.conv4((8, 8, 1), filters=4, blocks=1), (8, 8, 1))
  ours, theirs, far = profiler_flops.compare(graphs["forward"])
  # 32 x 8 x 8 x 4 values, 4 channels: 2 for a value and 6 for a channel of the norm, 1 of ReLU.
  assert far == {"FusedBatchNormV3": (2 * 8192 + 6 * 4, 0), "Relu": (8192, 0)}
  assert ours - theirs == 3 * 8192 + 24
  assert set(graphs) == {"forward", "step"}
