# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`tfds.load("slimagenet64")`: the first configuration, `slimagenet64/images`, and the others."""

from __future__ import annotations

from tfds_builders import row_builder


class Slimagenet64(row_builder.RowBuilder):
  """SlimageNet64 (Antoniou et al., 2020): 1,000 classes with 200 images each, divided by class."""

  BUILDER_CONFIGS = row_builder.configs("slimagenet64")
