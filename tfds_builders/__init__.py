# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""TFDS builders of Lifelong Suite: importing this registers them, e.g. tfds.load("nevis/mnist")."""

from tfds_builders import mirror
from tfds_builders import status
from tfds_builders.building import build
from tfds_builders.catalog import names
from tfds_builders.nevis import nevis_dataset_builder as _nevis_dataset_builder  # noqa: F401

__all__ = ["build", "mirror", "names", "status"]
