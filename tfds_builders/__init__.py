# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""TFDS builders of Lifelong Suite: importing this registers them, e.g. tfds.load("nevis/mnist")."""

from tfds_builders import mirror
from tfds_builders import status
from tfds_builders.building import build
from tfds_builders.catalog import names
from tfds_builders.fluid import fluid_dataset_builder as _fluid_builder  # noqa: F401
from tfds_builders.lifelong_cifar10 import (  # noqa: F401
    lifelong_cifar10_dataset_builder as _lifelong_cifar10_builder,
)
from tfds_builders.lifelong_imagenet import (  # noqa: F401
    lifelong_imagenet_dataset_builder as _lifelong_imagenet_builder,
)
from tfds_builders.nevis import nevis_dataset_builder as _nevis_dataset_builder  # noqa: F401

__all__ = ["build", "mirror", "names", "status"]
