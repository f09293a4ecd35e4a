# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`tfds.load("lifelong_cifar10/cifar10")` and the others of its family."""

from __future__ import annotations

from tfds_builders import domain_builder
from tfds_builders import row_builder


class LifelongCifar10(domain_builder.DomainBuilder):
  """Lifelong-CIFAR10 (Prabhu et al., 2024), one configuration per source of its samples."""

  BUILDER_CONFIGS = row_builder.configs("lifelong_cifar10")
