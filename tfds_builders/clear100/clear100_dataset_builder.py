# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`tfds.load("clear100")`: the first configuration, `clear100/images`, and the others."""

from __future__ import annotations

from tfds_builders import row_builder


class Clear100(row_builder.RowBuilder):
  """CLEAR-100 (Lin et al., 2022): 100 classes in ten time buckets."""

  BUILDER_CONFIGS = row_builder.configs("clear100")
