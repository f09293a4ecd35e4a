# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: KTH-TIPS2-a materials."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import image_names
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "kth_tips_2a",
    title="KTH-TIPS2-a materials",
    layouts=(Layout(
        image_names,
        files=(File("kth-tips2-a_col_200x200.tar",
                    "https://www.csc.kth.se/cvap/databases/kth-tips/kth-tips2-a_col_200x200.tar",
                    ("md5:911eb17220748fa36e6524aea71db7d7",)),),
        args={"template": "{label}/sample_{sample}/{item}", "extensions": ("png",)}),),
    splits=splits.POOLED,
    paper=paper_rules.POOLED,
    paper_size=3097,
    num_classes=11,
    channels=3,
    version="2.0.0",
    homepage="https://www.csc.kth.se/cvap/databases/kth-tips/",
    notes="Images of one sample of a material fall into all splits, as in the reference.",
    citation="""@inproceedings{caputo2005class2a,
  title={Class-specific material categorisation},
  author={Caputo, Barbara and Hayman, Eric and Mallikarjuna, P},
  booktitle={ICCV},
  year={2005}
}""")
