# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: TID2013 (image quality)."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import image_quality
from tfds_builders.rows.nevis.shared import tid
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_TID2013_COUNTS = {splits.TRAIN: 1680, splits.DEV: 360, splits.VALIDATION: 360,
                   splits.TEST: 600}

ROW = Row(
    "tid2013",
    title="TID2013 (image quality)",
    layouts=(
        Layout(image_quality,
               files=(File("tid2013.rar", "https://ponomarenko.info/tid2013/tid2013.rar",
                           ("md5:2c42bec2407adc49cf4d7858daf8f99b",)),),
               args=tid.ARGS, num_examples=_TID2013_COUNTS),
        Layout(image_quality, files=(File("tid2013.zip"),), args=tid.ARGS,
               num_examples=_TID2013_COUNTS, notes=tid.REPACKED)),
    splits=splits.GIVEN,
    compat=tid.COMPAT,
    paper_size=1973,
    num_classes=5,
    channels=3,
    version="2.0.0",
    homepage="https://ponomarenko.info/tid2013.htm",
    notes=tid.NOTES,
    citation="""@article{ponomarenko2015image,
  title={Image database {TID2013}: peculiarities, results and perspectives},
  author={Ponomarenko, Nikolay and Jin, Lina and Ieremeiev, Oleg and others},
  journal={Signal Processing: Image Communication},
  volume={30},
  year={2015}
}""")
