# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Small NORB."""

from __future__ import annotations

from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders.rows.nevis.shared import tfds_splits
from tfds_builders.rows.row import Row
from tfds_builders.rows.row import TfdsSet

ROW = Row(
    "smallnorb",
    title="Small NORB",
    layouts=(),
    tfds=TfdsSet(("smallnorb:2.*.*",), tfds_splits.TRAIN_TEST,
                 label="label_category", split_by="instance",
                 split_values={splits.TRAIN: {splits.DEV: (4,), splits.VALIDATION: (6,)}}),
    splits=splits.GIVEN,
    paper={splits.TRAIN: paper_draws.whole("train"), splits.DEV: paper_draws.whole("dev"),
           splits.VALIDATION: paper_draws.whole("dev_test"),
           splits.TEST: paper_draws.whole("test")},
    paper_size=20655,
    num_classes=5,
    channels=1,
    version="2.0.0",
    homepage="https://cs.nyu.edu/~ylclab/data/norb-v1.0-small/",
    notes="The left image of each pair. Split by toy: instance 4 is dev, 6 validation; 7, 8 and 9 "
          "are train; the five of the official test split are test. The paper's size is 20,655, "
          "but its code uses 19,440 images.",
    citation="""@inproceedings{lecun2004learning,
  title={Learning methods for generic object recognition with invariance to pose and lighting},
  author={LeCun, Yann and Huang, Fu Jie and Bottou, L{\\'e}on},
  booktitle={CVPR},
  year={2004}
}""")
