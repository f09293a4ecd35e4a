# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: KTH-TIPS materials."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import image_names
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "kth_tips",
    title="KTH-TIPS materials",
    layouts=(Layout(
        image_names,
        files=(File("kth_tips_col_200x200.tar",
                    "https://www.csc.kth.se/cvap/databases/kth-tips/kth_tips_col_200x200.tar",
                    ("md5:4f92fe540feb4f3c66938291e4516f6c",)),),
        args={"template": "{label}/{item}", "extensions": ("png",)},
        num_examples={splits.POOL: 810}),),
    splits=splits.POOLED,
    paper=paper_rules.POOLED,
    paper_size=554,
    num_classes=10,
    channels=3,
    version="2.0.0",
    homepage="https://www.csc.kth.se/cvap/databases/kth-tips/",
    notes="The reference declares a random crop but does not apply it.",
    citation="""@inproceedings{hayman2004significance,
  title={Class-specific material categorisation},
  author={Caputo, Barbara and Hayman, Eric and Mallikarjuna, P},
  booktitle={ICCV},
  year={2004}
}""")
