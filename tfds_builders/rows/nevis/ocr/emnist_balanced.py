# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: EMNIST, balanced."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.nevis.shared import tfds_splits
from tfds_builders.rows.row import Row
from tfds_builders.rows.row import TfdsSet

ROW = Row(
    "emnist_balanced",
    title="EMNIST, balanced",
    layouts=(),
    tfds=TfdsSet(("emnist/balanced:3.*.*",), tfds_splits.TRAIN_TEST),
    splits=splits.TRAIN_TEST,
    paper=paper_rules.SLICED_TRAIN_TEST,
    paper_size=95880,
    num_classes=47,
    channels=1,
    version="2.0.0",
    homepage="https://www.nist.gov/itl/products-and-services/emnist-dataset",
    notes="Images lie on their side and mirrored, as published.",
    citation="""@inproceedings{cohen2017emnist,
  title={EMNIST: extending MNIST to handwritten letters},
  author={Cohen, Gregory and Afshar, Saeed and Tapson, Jonathan and van Schaik, Andr{\\'e}},
  booktitle={IJCNN},
  year={2017}
}""")
