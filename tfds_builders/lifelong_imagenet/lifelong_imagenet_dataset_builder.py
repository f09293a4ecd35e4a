# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`tfds.load("lifelong_imagenet/imagenet_a")` and the others of its family."""

from __future__ import annotations

from tfds_builders import domain_builder
from tfds_builders import row_builder


class LifelongImagenet(domain_builder.DomainBuilder):
  """Lifelong-ImageNet (Prabhu et al., 2024), one configuration per source of its samples."""

  BUILDER_CONFIGS = row_builder.configs("lifelong_imagenet")
