# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`tfds.load("fluid/sequence5")` and the others of its family."""

from __future__ import annotations

from tfds_builders import row_builder


class Fluid(row_builder.RowBuilder):
  """FLUID (Wallingford et al., 2023), one configuration per published sequence."""

  BUILDER_CONFIGS = row_builder.configs("fluid")
