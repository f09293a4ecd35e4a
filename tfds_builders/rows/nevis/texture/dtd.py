# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Describable textures."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.nevis.shared import tfds_splits
from tfds_builders.rows.row import Row
from tfds_builders.rows.row import TfdsSet

ROW = Row(
    "dtd",
    title="Describable textures",
    layouts=(),
    tfds=TfdsSet(("dtd:3.*.*",), tfds_splits.OFFICIAL,
                 key="file_name"),
    splits=splits.OFFICIAL,
    paper=paper_rules.SLICED_OFFICIAL,
    paper_size=1880,
    num_classes=47,
    channels=3,
    version="2.0.0",
    homepage="https://www.robots.ox.ac.uk/~vgg/data/dtd/",
    citation="""@inproceedings{cimpoi2014describing,
  title={Describing textures in the wild},
  author={Cimpoi, Mircea and Maji, Subhransu and Kokkinos, Iasonas and Mohamed, Sammy and
    Vedaldi, Andrea},
  booktitle={CVPR},
  year={2014}
}""")
