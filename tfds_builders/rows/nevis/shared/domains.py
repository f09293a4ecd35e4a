# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: data sets that test on another domain than they train on."""

from __future__ import annotations

from tfds_builders import splits

# The domain that is tested on is halved; the others are trained on.
NEW_DOMAIN = {splits.TRAIN: {splits.TRAIN: 1.0},
              splits.TEST: {splits.VALIDATION: 0.5, splits.TEST: 0.5}}
