# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`tfds.load("clear10")`: the first configuration, `clear10/images`, and the others."""

from __future__ import annotations

from tfds_builders import row_builder


class Clear10(row_builder.RowBuilder):
  """CLEAR-10 (Lin et al., 2021): 11 classes in ten time buckets."""

  BUILDER_CONFIGS = row_builder.configs("clear10")
