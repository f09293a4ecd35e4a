# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: notes that several rows have."""

KAGGLE_REPACKED = "Kaggle repacks its archives from time to time, which changes their checksums."
FOLDER_ORDER = (
    "The reference's draw depends on the order of a folder listing and is not reproduced. The "
    "random crop that it declares is not applied.")
NEW_TFDS_VERSION = (
    "The reference's draw, ranges of TFDS's store, is not reproduced: the set has "
    "another major version in TFDS by now, which does not promise the old order.")
