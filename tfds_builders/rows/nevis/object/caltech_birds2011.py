# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Caltech-UCSD Birds 200-2011."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.nevis.shared import tfds_splits
from tfds_builders.rows.row import Row
from tfds_builders.rows.row import TfdsSet

ROW = Row(
    "caltech_birds2011",
    title="Caltech-UCSD Birds 200-2011",
    layouts=(),
    tfds=TfdsSet(("caltech_birds2011:0.*.*",), tfds_splits.TRAIN_TEST,
                 key="image/filename"),
    splits=splits.TRAIN_TEST,
    paper=paper_rules.SLICED_TRAIN_TEST,
    paper_size=5094,
    num_classes=200,
    channels=3,
    version="2.0.0",
    homepage="http://www.vision.caltech.edu/datasets/cub_200_2011/",
    citation="""@techreport{wah2011caltech,
  title={The Caltech-UCSD Birds-200-2011 dataset},
  author={Wah, Catherine and Branson, Steve and Welinder, Peter and Perona, Pietro and
    Belongie, Serge},
  institution={California Institute of Technology},
  year={2011}
}""")
