# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: COIL-100."""

from __future__ import annotations

from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders.rows.row import Row
from tfds_builders.rows.row import TfdsSet

_COIL = {splits.TRAIN: splits.whole(splits.TRAIN), splits.DEV: splits.whole(splits.DEV),
         splits.VALIDATION: splits.whole(splits.VALIDATION), "rest": splits.whole(splits.TEST)}

ROW = Row(
    "coil100",
    title="COIL-100",
    layouts=(),
    tfds=TfdsSet(("coil100:2.*.*",), {"train": "rest"},
                 label="object_id", split_by="angle_label", split_values={"rest": {
                     "train": (0, 1, 2, 70, 71), "dev": (16, 17, 18, 19, 20),
                     "validation": (50, 51, 52, 53, 54)}}),
    splits=_COIL,
    paper={"train": paper_draws.whole("train"), "dev": paper_draws.whole("dev"),
           "validation": paper_draws.whole("dev_test"), "rest": paper_draws.whole("test")},
    paper_size=6120,
    num_classes=100,
    channels=3,
    version="2.0.0",
    homepage="http://www.cs.columbia.edu/CAVE/software/softlib/coil-100.php",
    notes="Split by angle of view (72 views, 5 degrees apart): five views are train, five dev, "
          "five validation, 57 test. The paper's size is 6,120, but its code uses 1,000 images.",
    citation="""@techreport{nene1996columbia,
  title={Columbia object image library (COIL-100)},
  author={Nene, Sameer A and Nayar, Shree K and Murase, Hiroshi},
  institution={Columbia University},
  year={1996}
}""")
