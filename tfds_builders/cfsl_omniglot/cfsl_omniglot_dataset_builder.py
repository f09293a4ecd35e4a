# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`tfds.load("cfsl_omniglot")`, which is `cfsl_omniglot/images`."""

from __future__ import annotations

from tfds_builders import row_builder


class CfslOmniglot(row_builder.RowBuilder):
  """Omniglot as continual few-shot learning divides it: 1,200, 211 and 212 characters."""

  BUILDER_CONFIGS = row_builder.configs("cfsl_omniglot")
