# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""TFDS builders of Lifelong Suite: importing this registers them, e.g. tfds.load("nevis/mnist")."""

from tfds_builders import mirror
from tfds_builders import status
from tfds_builders import timelines
from tfds_builders.building import build
from tfds_builders.catalog import names
from tfds_builders.cfsl_omniglot import cfsl_omniglot_dataset_builder as _omniglot  # noqa: F401
from tfds_builders.clear10 import clear10_dataset_builder as _clear10  # noqa: F401
from tfds_builders.clear100 import clear100_dataset_builder as _clear100  # noqa: F401
from tfds_builders.fluid import fluid_dataset_builder as _fluid_builder  # noqa: F401
from tfds_builders.lifelong_cifar10 import (  # noqa: F401
    lifelong_cifar10_dataset_builder as _lifelong_cifar10_builder,
)
from tfds_builders.lifelong_imagenet import (  # noqa: F401
    lifelong_imagenet_dataset_builder as _lifelong_imagenet_builder,
)
from tfds_builders.mini_imagenet import mini_imagenet_dataset_builder as _mini  # noqa: F401
from tfds_builders.nevis import nevis_dataset_builder as _nevis_dataset_builder  # noqa: F401
from tfds_builders.slimagenet64 import slimagenet64_dataset_builder as _slimagenet  # noqa: F401
from tfds_builders.timeline import timeline_dataset_builder as _timeline_builder  # noqa: F401

__all__ = ["build", "mirror", "names", "status", "timelines"]
