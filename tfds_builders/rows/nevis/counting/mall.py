# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Mall (people counted)."""

from __future__ import annotations

from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders.parsers import counting
from tfds_builders.rows.nevis.shared import counts
from tfds_builders.rows.row import SORTED
from tfds_builders.rows.row import Compat
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "mall",
    title="Mall (people counted)",
    layouts=(Layout(
        counting,
        files=(File("mall_dataset.zip",
                    "https://personal.ie.cuhk.edu.hk/~ccloy/files/datasets/mall_dataset.zip",
                    ("md5:48a772b5e55e8e9a66a3c8f98598fc3b",)),),
        args={"image": r"(?:^|/)frames/seq_(\d{6})\.jpg$",
              "counts": {"array": "mall_gt.mat", "variable": "count", "key": "{:06d}"},
              "parts": {"first": (800, splits.TRAIN, splits.TEST)},
              "num_bins": 10, "edges_from": (splits.TRAIN,)},
        num_examples={splits.TRAIN: 800, splits.TEST: 1200}),),
    splits=splits.TRAIN_TEST,
    paper={splits.TRAIN: paper_draws.PERMUTED_TRAIN_ONLY, splits.TEST: paper_draws.whole("test")},
    paper_order=SORTED,
    compat=Compat(args={"edges_from": (splits.TRAIN, splits.TEST)}, notes=counts.TEST_BINS),
    paper_size=680,
    num_classes=10,
    channels=3,
    version="2.0.0",
    homepage="https://personal.ie.cuhk.edu.hk/~ccloy/downloads_mall_dataset.html",
    notes="Labels are ten bins of the number of people, about equally frequent in training. The "
          "images are frames of one film: validation frames are drawn among the first 800, as in "
          "the reference, and are similar to their neighbors.",
    citation="""@inproceedings{chen2012feature,
  title={Feature mining for localised crowd counting},
  author={Chen, Ke and Loy, Chen Change and Gong, Shaogang and Xiang, Tony},
  booktitle={British Machine Vision Conference},
  year={2012}
}""")
