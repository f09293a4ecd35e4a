# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Stanford dogs."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.nevis.shared import tfds_splits
from tfds_builders.rows.row import Row
from tfds_builders.rows.row import TfdsSet

ROW = Row(
    "stanford_dogs",
    title="Stanford dogs",
    layouts=(),
    tfds=TfdsSet(("stanford_dogs:0.*.*",), tfds_splits.TRAIN_TEST,
                 key="image/filename"),
    splits=splits.TRAIN_TEST,
    paper=paper_rules.SLICED_TRAIN_TEST,
    paper_size=10200,
    num_classes=120,
    channels=3,
    version="2.0.0",
    homepage="http://vision.stanford.edu/aditya86/ImageNetDogs/",
    notes="Cut from ImageNet: its images are among those of imagenet2012.",
    citation="""@inproceedings{khosla2011novel,
  title={Novel dataset for fine-grained image categorization},
  author={Khosla, Aditya and Jayadevaprakash, Nityananda and Yao, Bangpeng and Li, Fei-Fei},
  booktitle={CVPR Workshop},
  year={2011}
}""")
