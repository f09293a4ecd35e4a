# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: TID2008 (image quality)."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import image_quality
from tfds_builders.rows.nevis.shared import tid
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_TID2008_COUNTS = {splits.TRAIN: 952, splits.DEV: 204, splits.VALIDATION: 204,
                   splits.TEST: 340}

ROW = Row(
    "tid2008",
    title="TID2008 (image quality)",
    layouts=(
        Layout(image_quality,
               files=(File("tid2008.rar", "https://ponomarenko.info/tid/tid2008.rar",
                           ("md5:732aeec405a57b589aeee4f1c58a4c1b",)),),
               args=tid.ARGS, num_examples=_TID2008_COUNTS),
        Layout(image_quality, files=(File("tid2008.zip"),), args=tid.ARGS,
               num_examples=_TID2008_COUNTS, notes=tid.REPACKED)),
    splits=splits.GIVEN,
    compat=tid.COMPAT,
    paper_size=1149,
    num_classes=5,
    channels=3,
    version="2.0.0",
    homepage="https://ponomarenko.info/tid2008.htm",
    notes=tid.NOTES,
    citation="""@article{ponomarenko2009tid2008,
  title={{TID2008}: a database for evaluation of full-reference visual quality assessment metrics},
  author={Ponomarenko, Nikolay and Lukin, Vladimir and Zelensky, Alexander and others},
  journal={Advances of Modern Radioelectronics},
  volume={10},
  year={2009}
}""")
