# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: the UCI machine learning repository."""

URL = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
