# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The kinds of events, as records name them."""

from __future__ import annotations

TRAIN = "train"
PREDICT = "predict"
