# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Oxford-IIIT pets."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.rows.nevis.shared import notes
from tfds_builders.rows.nevis.shared import tfds_splits
from tfds_builders.rows.row import Row
from tfds_builders.rows.row import TfdsSet

ROW = Row(
    "oxford_iiit_pet",
    title="Oxford-IIIT pets",
    layouts=(),
    tfds=TfdsSet(("oxford_iiit_pet",), tfds_splits.TRAIN_TEST,
                 key="file_name"),
    splits=splits.TRAIN_TEST,
    paper_size=3128,
    num_classes=37,
    channels=3,
    version="2.0.0",
    homepage="https://www.robots.ox.ac.uk/~vgg/data/pets/",
    notes=notes.NEW_TFDS_VERSION,
    citation="""@inproceedings{parkhi2012cats,
  title={Cats and dogs},
  author={Parkhi, Omkar M and Vedaldi, Andrea and Zisserman, Andrew and Jawahar, C V},
  booktitle={CVPR},
  year={2012}
}""")
