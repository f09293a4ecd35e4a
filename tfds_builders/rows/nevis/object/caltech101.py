# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Caltech 101."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.nevis.shared import tfds_splits
from tfds_builders.rows.row import Row
from tfds_builders.rows.row import TfdsSet

ROW = Row(
    "caltech101",
    title="Caltech 101",
    layouts=(),
    tfds=TfdsSet(("caltech101:3.*.*",), tfds_splits.TRAIN_TEST),
    splits=splits.TRAIN_TEST,
    paper=paper_rules.SLICED_TRAIN_TEST,
    paper_size=2601,
    num_classes=102,
    channels=3,
    version="2.0.0",
    homepage="https://doi.org/10.22002/D1.20086",
    notes="101 objects and background. TFDS's split: 30 training images a class.",
    citation="""@inproceedings{feifei2004learning,
  title={Learning generative visual models from few training examples},
  author={Fei-Fei, Li and Fergus, Rob and Perona, Pietro},
  booktitle={CVPR Workshop},
  year={2004}
}""")
