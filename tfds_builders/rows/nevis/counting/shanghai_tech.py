# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: ShanghaiTech (crowds counted)."""

from __future__ import annotations

from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders.parsers import counting
from tfds_builders.rows.nevis.shared import counts
from tfds_builders.rows.nevis.shared import notes
from tfds_builders.rows.row import SORTED
from tfds_builders.rows.row import Compat
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_SHANGHAI = r"^(?!.*shanghaitech_h5_empty)(?:.*/)?(part_[AB])/(train_data|test_data)/"

ROW = Row(
    "shanghai_tech",
    title="ShanghaiTech (crowds counted)",
    layouts=(Layout(
        counting,
        files=(File("shanghaitech.zip", "kaggle:tthien/shanghaitech",
                    ("md5:f547d65447063405ea78ab7fa9ae721b",)),),
        args={"image": _SHANGHAI + r"images/(IMG_\d+)\.jpg$",
              "counts": {"points": _SHANGHAI + r"ground[-_]truth/GT_(IMG_\d+)\.mat$"},
              "parts": {"folders": {"train_data": splits.TRAIN, "test_data": splits.TEST}},
              "num_bins": 10, "edges_from": (splits.TRAIN,)},
        num_examples={splits.TRAIN: 700, splits.TEST: 498},
        notes=notes.KAGGLE_REPACKED),),
    splits=splits.TRAIN_TEST,
    paper={splits.TRAIN: paper_draws.PERMUTED_TRAIN_ONLY, splits.TEST: paper_draws.whole("test")},
    paper_order=SORTED,
    compat=Compat(args={"edges_from": (splits.TRAIN, splits.TEST)}, notes=counts.TEST_BINS),
    paper_size=595,
    num_classes=10,
    channels=3,
    version="2.0.0",
    homepage="https://www.kaggle.com/datasets/tthien/shanghaitech",
    notes="Parts A and B in one. Labels are ten bins of the number of heads, about equally "
          "frequent in training. The reference draws in the order of Kaggle's archive, which is "
          "taken to be sorted by name.",
    citation="""@inproceedings{zhang2016single,
  title={Single-image crowd counting via multi-column convolutional neural network},
  author={Zhang, Yingying and Zhou, Desen and Chen, Siqin and Gao, Shenghua and Ma, Yi},
  booktitle={IEEE Conference on Computer Vision and Pattern Recognition},
  year={2016}
}""")
