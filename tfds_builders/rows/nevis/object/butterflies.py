# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Butterflies."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import image_names
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_TEST_BUTTERFLIES = {
    "admiral": (6, 9, 14, 41, 53, 55, 66, 86, 92, 103),
    "black_swallowtail": (2, 4, 15, 22, 25, 27, 28, 31, 35, 41),
    "machaon": (12, 14, 20, 24, 25, 29, 52, 53, 82, 83),
    "monarch_closed": (9, 23, 27, 28, 29, 36, 44, 58, 67, 72),
    "monarch_open": (8, 15, 21, 34, 35, 46, 58, 76, 78, 83),
    "peacock": (1, 20, 22, 52, 59, 86, 96, 124, 126, 131),
    "zebra": (6, 18, 21, 26, 31, 43, 57, 75, 78, 90),
}

ROW = Row(
    "butterflies",
    title="Butterflies",
    layouts=(Layout(
        image_names,
        files=(File("butterflies.zip",
                    "https://web.archive.org/web/20070829035029/http://www-cvr.ai.uiuc.edu/"
                   "ponce_grp/data/butterflies/butterflies.zip",
                    ("md5:cc9bfe5e22f9001262b785ff33221581",)),),
        args={"template": "{label}/{prefix}{number}", "extensions": ("jpg",),
              "fields": {"label": "|".join(_TEST_BUTTERFLIES), "prefix": "[A-Za-z_]*",
                         "number": r"\d+"},
              "test_numbers": _TEST_BUTTERFLIES}),),
    splits=splits.TRAIN_TEST,
    paper=paper_rules.TRAIN_TEST,
    paper_size=460,
    num_classes=7,
    channels=3,
    class_names=tuple(_TEST_BUTTERFLIES),
    version="2.0.0",
    homepage="https://web.archive.org/web/20070829035029/http://www-cvr.ai.uiuc.edu/ponce_grp/data/",
    notes="Ten listed images of each class are the test split. Class ids of the reference "
          "follow the order of a Python set; here they follow the names.",
    citation="""@inproceedings{lazebnik2004semi,
  title={Semi-local affine parts for object recognition},
  author={Lazebnik, Svetlana and Schmid, Cordelia and Ponce, Jean},
  booktitle={BMVC},
  year={2004}
}""")
