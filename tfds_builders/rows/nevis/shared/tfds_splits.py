# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: split in TFDS -> source split, for `TfdsSet.splits`."""

from __future__ import annotations

from tfds_builders import splits

TRAIN_TEST = {"train": splits.TRAIN, "test": splits.TEST}
OFFICIAL = {"train": splits.TRAIN, "validation": splits.VALIDATION, "test": splits.TEST}
