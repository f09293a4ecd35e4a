# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Semeion handwritten digits."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import pixel_table
from tfds_builders.rows.nevis.shared import digits
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.nevis.shared import uci
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "semeion",
    title="Semeion handwritten digits",
    layouts=(Layout(
        pixel_table,
        files=(File(
            "semeion.data",
            uci.URL + "semeion/semeion.data",
            ("md5:cb545d371d2ce14ec121470795a77432",
             # The same table, written again from integers.
             "sha256:09a2151e239fa261aaed8197af90464da91ad6e8ee8e4bcf9013edef0d53623a")),),
        args={"height": 16, "width": 16, "num_classes": 10, "maximum": 1.0},
        num_examples={splits.POOL: 1593},
        built_from_real=True),),
    splits=splits.POOLED,
    paper=paper_rules.POOLED,
    paper_size=1074,
    num_classes=10,
    class_names=digits.CLASS_NAMES,
    channels=1,
    version="2.0.0",
    homepage="https://archive.ics.uci.edu/dataset/178/semeion+handwritten+digit",
    notes="Pixels are 0 or 1 in the source, 0 or 255 here.",
    citation="""@misc{semeion1994,
  title={Semeion Handwritten Digit},
  author={{Semeion Research Center of Sciences of Communication} and Tattile},
  howpublished={UCI Machine Learning Repository},
  year={1994},
  doi={10.24432/C5SC8V}
}""")
