# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: SUN 397."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.nevis.shared import tfds_splits
from tfds_builders.rows.row import Row
from tfds_builders.rows.row import TfdsSet

ROW = Row(
    "sun397",
    title="SUN 397",
    layouts=(),
    tfds=TfdsSet(("sun397/tfds:4.*.*",), tfds_splits.OFFICIAL,
                 key="file_name"),
    splits=splits.OFFICIAL,
    paper=paper_rules.SLICED_OFFICIAL,
    paper_size=76128,
    num_classes=397,
    channels=3,
    version="2.0.0",
    homepage="https://vision.princeton.edu/projects/2010/SUN/",
    notes="Multi-label in the paper's table, single-label in its code and here.",
    citation="""@inproceedings{xiao2010sun,
  title={SUN database: large-scale scene recognition from abbey to zoo},
  author={Xiao, Jianxiong and Hays, James and Ehinger, Krista A and Oliva, Aude and Torralba,
    Antonio},
  booktitle={CVPR},
  year={2010}
}""")
