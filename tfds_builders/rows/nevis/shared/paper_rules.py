# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: how the reference draws its splits from those of a source, for `Row.paper`."""

from __future__ import annotations

from tfds_builders import paper_draws
from tfds_builders import splits

POOLED = {splits.POOL: paper_draws.POOLED}
TRAIN_TEST = {splits.TRAIN: paper_draws.TRAIN_ONLY, splits.TEST: paper_draws.whole("test")}
OFFICIAL = {splits.TRAIN: paper_draws.TRAIN_DEV, splits.VALIDATION: paper_draws.whole("dev_test"),
            splits.TEST: paper_draws.whole("test")}

# Ranges of TFDS's store, in its order.
SLICED_TRAIN_TEST = {splits.TRAIN: paper_draws.SLICED_TRAIN_ONLY,
                     splits.TEST: paper_draws.whole("test")}
SLICED_OFFICIAL = {splits.TRAIN: paper_draws.SLICED_TRAIN_DEV,
                   splits.VALIDATION: paper_draws.whole("dev_test"),
                   splits.TEST: paper_draws.whole("test")}
