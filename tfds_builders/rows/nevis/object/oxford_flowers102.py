# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Oxford flowers 102."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.nevis.shared import tfds_splits
from tfds_builders.rows.row import Row
from tfds_builders.rows.row import TfdsSet

ROW = Row(
    "oxford_flowers102",
    title="Oxford flowers 102",
    layouts=(),
    tfds=TfdsSet(("oxford_flowers102:2.*.*",), tfds_splits.OFFICIAL,
                 key="file_name"),
    splits=splits.OFFICIAL,
    paper=paper_rules.SLICED_OFFICIAL,
    paper_size=1020,
    num_classes=102,
    channels=3,
    version="2.0.0",
    homepage="https://www.robots.ox.ac.uk/~vgg/data/flowers/102/",
    citation="""@inproceedings{nilsback2008automated,
  title={Automated flower classification over a large number of classes},
  author={Nilsback, Maria-Elena and Zisserman, Andrew},
  booktitle={ICVGIP},
  year={2008}
}""")
