# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`tfds.load("nevis/mnist")` and the other data sets of NEVIS'22."""

from __future__ import annotations

from tfds_builders import row_builder


class Nevis(row_builder.RowBuilder):
  """NEVIS'22 (Bornschein et al., 2023), one configuration per data set; facts in rows/nevis/."""

  BUILDER_CONFIGS = row_builder.configs("nevis")
