# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: data sets whose labels are bins of a count."""

TEST_BINS = ("The reference cuts counts into bins by those of all images; without this, those of "
             "the training images tell the cuts.")
