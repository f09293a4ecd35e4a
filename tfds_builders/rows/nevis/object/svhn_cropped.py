# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Street view house numbers."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.nevis.shared import tfds_splits
from tfds_builders.rows.row import Row
from tfds_builders.rows.row import TfdsSet

ROW = Row(
    "svhn_cropped",
    title="Street view house numbers",
    layouts=(),
    tfds=TfdsSet(("svhn_cropped:3.*.*",), tfds_splits.TRAIN_TEST),
    splits=splits.TRAIN_TEST,
    paper=paper_rules.SLICED_TRAIN_TEST,
    paper_size=62268,
    num_classes=10,
    channels=3,
    license="non-commercial use",
    version="2.0.0",
    homepage="http://ufldl.stanford.edu/housenumbers/",
    citation="""@inproceedings{netzer2011reading,
  title={Reading digits in natural images with unsupervised feature learning},
  author={Netzer, Yuval and Wang, Tao and Coates, Adam and Bissacco, Alessandro and Wu, Bo and
    Ng, Andrew Y},
  booktitle={NIPS Workshop},
  year={2011}
}""")
