# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`tfds.load("nevis/mnist")` and the other data sets of NEVIS'22."""

from __future__ import annotations

from tfds_builders import row_builder


class Nevis(row_builder.RowBuilder):
  """NEVIS'22 (Bornschein et al., 2023), one configuration per data set; facts in rows/nevis/."""

  BUILDER_CONFIGS = row_builder.configs("nevis")
  RELEASE_NOTES = {
      **row_builder.RowBuilder.RELEASE_NOTES,
      "2.0.0": "Four splits, train, dev, validation and test, drawn by class; NAME_paper has them "
               "under these names, too. Images of one patient of nih_chest_xray are in one split."}
