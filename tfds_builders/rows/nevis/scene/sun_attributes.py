# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: SUN Attributes."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import attribute_table
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import MULTI_LABEL
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "sun_attributes",
    title="SUN Attributes",
    layouts=(Layout(
        attribute_table,
        files=(File("SUNAttributeDB_Images.tar.gz",
                    "https://cs.brown.edu/~gmpatter/Attributes/SUNAttributeDB_Images.tar.gz",
                    ("md5:5966725c7306df6e05cd3ada7f45a18b",)),
               File("SUNAttributeDB.tar.gz",
                    "https://cs.brown.edu/~gmpatter/Attributes/SUNAttributeDB.tar.gz",
                    ("md5:883293e5b645822f6ae0046c6df54183",))),
        args={"names": ("images.mat", "images"), "num_attributes": 102, "folder": "images",
              "values": ("attributeLabels_continuous.mat", "labels_cv")},
        num_examples={splits.POOL: 14340}),),
    splits=splits.POOLED,
    paper=paper_rules.POOLED,
    paper_size=9692,
    num_classes=102,
    channels=3,
    kind=MULTI_LABEL,
    version="2.0.0",
    homepage="https://cs.brown.edu/~gmpatter/sunattributes.html",
    notes="An attribute is a label where at least one of three annotators saw it, as in the "
          "reference; it is more usual to ask for two.",
    citation="""@article{patterson2014sun,
  title={The {SUN} attribute database: beyond categories for deeper scene understanding},
  author={Patterson, Genevieve and Xu, Chen and Su, Hang and Hays, James},
  journal={International Journal of Computer Vision},
  volume={108},
  year={2014}
}""")
