# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: data sets whose training and test domains differ."""

from __future__ import annotations

from tfds_builders import splits

# The learner's dev is of the training domain; one half of the test domain is validation.
NEW_DOMAIN = {splits.TRAIN: splits.OFFICIAL[splits.TRAIN],
              splits.TEST: {splits.VALIDATION: 0.5, splits.TEST: 0.5}}
