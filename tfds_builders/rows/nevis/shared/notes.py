# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: notes that several rows have."""

KAGGLE_REPACKED = "Kaggle packs its archive again when it changes, and the sum changes with it."
KAGGLE_REPACKED_IT = "Kaggle packs it again when it changes, and the sum changes with it."
FOLDER_ORDER = (
    "The reference's draw depends on how the system lists a folder, and is not reproduced. "
    "The random crop that it declares is never applied there, nor here.")
NEW_TFDS_VERSION = (
    "The reference's draw, ranges of TFDS's store, is not reproduced: the set has "
    "another major version in TFDS by now, which does not promise the old order.")
