# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: COIL-20, processed."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import image_names
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import SORTED
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "coil20",
    title="COIL-20, processed",
    layouts=(Layout(
        image_names,
        files=(File("coil-20-proc.zip",
                    "http://www.cs.columbia.edu/CAVE/databases/SLAM_coil-20_coil-100/coil-2"
                   "0/coil-20-proc.zip",
                    ("md5:464dec76a6abfcd00e8de6cf1e7d0acc",)),),
        args={"template": "obj{label}__{item}", "extensions": ("png",)},
        num_examples={splits.POOL: 1440}),),
    splits=splits.POOLED,
    paper=paper_rules.POOLED,
    paper_order=SORTED,
    paper_size=973,
    num_classes=20,
    channels=3,
    class_names=tuple(str(number) for number in range(1, 21)),
    version="2.0.0",
    homepage="http://www.cs.columbia.edu/CAVE/software/softlib/coil-20.php",
    notes="Views of one object, five degrees apart, fall into all splits, as in the "
          "reference.",
    citation="""@techreport{nene1996coil20,
  title={Columbia object image library (COIL-20)},
  author={Nene, Sameer A and Nayar, Shree K and Murase, Hiroshi},
  institution={Columbia University},
  year={1996}
}""")
