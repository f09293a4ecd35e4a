# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: TID2008 and TID2013."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.rows.row import Compat

# Both sets distort the same 25 images, which are divided alike: 14, 3, 3 and 5 of them, which is
# .56, .12, .12 and .20.
ARGS = {"num_bins": 5, "scores": "mos_with_names.txt",
        "held_out": {splits.DEV: (4, 12, 20), splits.VALIDATION: (6, 14, 22),
                     splits.TEST: (3, 8, 13, 18, 23)}}
NOTES = ("Labels are five bins of the mean score that people gave (0: the worst), equally "
         "frequent in train and dev. Copies of one reference image are in one split, the same in "
         "TID2008 and TID2013. The reference's draw depends on the order of a folder listing and "
         "is not reproduced.")
COMPAT = Compat(
    args={"scores": "mssim.txt", "named": False, "held_out": {}}, splits=splits.POOLED,
    notes="The reference learns the bin of a computed metric (MSSIM) in place of people's scores, "
          "cuts the bins with test images, and has copies of each reference image in all splits.")
REPACKED = "The content of the rar archive, packed again; nothing that unpacks rar is needed."
