# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Aberdeen faces."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import image_names
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "aberdeen",
    title="Aberdeen faces",
    layouts=(Layout(
        image_names,
        files=(File("Aberdeen.zip",
                    "http://pics.stir.ac.uk/zips/Aberdeen.zip",
                    ("md5:1f7044bd5f0bed01286263aa580a7a87",)),),
        args={"template": "{label}{rest}", "extensions": ("jpg",),
              "fields": {"label": "[A-Za-z_]+", "rest": "[^A-Za-z_/][^/]*|"},
              "renamed": {"marieg": "marie", "heatherg": "heather", "kayg": "kay",
                          "neilg": "neil", "graemeg": "graeme", "dhawleyg": "dhawley",
                          "clean_adrian": "adrian", "jsheenang": "jsheenan"}}),),
    splits=splits.POOLED,
    paper=paper_rules.POOLED,
    paper_size=468,
    num_classes=91,
    channels=3,
    version="2.0.0",
    homepage="http://pics.stir.ac.uk/",
    notes="The label is the person's name, with which the file's begins; eight people have "
          "two names in the source and one here. The reference lists 92 people, of whom 91 "
          "have images.",
    citation="""@misc{aberdeen1992,
  title={The Aberdeen face database},
  author={Hancock, Peter},
  howpublished={Psychological Image Collection at Stirling (PICS)},
  year={1992}
}""")
