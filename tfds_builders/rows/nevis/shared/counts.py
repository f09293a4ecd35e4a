# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: data sets whose labels are bins of a count."""

TEST_BINS = ("The edges of the bins come from the counts of all images, as in the reference; in "
             "the row itself, they come from the training images.")
