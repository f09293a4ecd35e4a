# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`tfds.load("mini_imagenet")`: the one configuration, `mini_imagenet/images`."""

from __future__ import annotations

from tfds_builders import row_builder


class MiniImagenet(row_builder.RowBuilder):
  """MiniImageNet (Ravi and Larochelle, 2017): 100 classes with 600 images, divided by class."""

  BUILDER_CONFIGS = row_builder.configs("mini_imagenet")
