# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Fashion-MNIST."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.nevis.shared import tfds_splits
from tfds_builders.rows.row import Row
from tfds_builders.rows.row import TfdsSet

ROW = Row(
    "fashion_mnist",
    title="Fashion-MNIST",
    layouts=(),
    tfds=TfdsSet(("fashion_mnist:3.*.*",), tfds_splits.TRAIN_TEST),
    splits=splits.TRAIN_TEST,
    paper=paper_rules.SLICED_TRAIN_TEST,
    paper_size=51000,
    num_classes=10,
    channels=1,
    version="2.0.0",
    homepage="https://github.com/zalandoresearch/fashion-mnist",
    citation="""@article{xiao2017fashion,
  title={Fashion-MNIST: a novel image dataset for benchmarking machine learning algorithms},
  author={Xiao, Han and Rasul, Kashif and Vollgraf, Roland},
  journal={arXiv:1708.07747},
  year={2017}
}""")
