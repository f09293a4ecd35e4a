# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Labeled faces in the wild."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import last_of_class
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "lfw",
    title="Labeled faces in the wild",
    layouts=(Layout(
        last_of_class,
        files=(File("lfw.tgz",
                    "https://ndownloader.figshare.com/files/5976018",
                    ("md5:a17d05bd522c52d84eca14327a23d494",
                     "sha256:055f7d9c632d7370e6fb4afc7468d40f970c34a80d4c6f50ffec63f5a8d536c0"),
                    size=180566744),),
        args={"min_images": 5, "last": ((splits.TEST, 2), (splits.VALIDATION, 1),
                                       (splits.DEV, 1))}),),
    splits=splits.GIVEN,
    paper_size=11248,
    num_classes=423,
    channels=3,
    version="2.0.0",
    homepage="http://vis-www.cs.umass.edu/lfw/",
    notes="The 423 people with five images or more (5,985 images); the last two of each person "
          "by name are test, the one before them validation, the one before dev. The paper's "
          "size, 11,248, is .85 of all 13,233 images, which its code does not use. The "
          "publisher's host is gone; the link is that of scikit-learn and TFDS.",
    citation="""@techreport{huang2007labeled,
  title={Labeled faces in the wild: a database for studying face recognition},
  author={Huang, Gary B and Ramesh, Manu and Berg, Tamara and Learned-Miller, Erik},
  institution={University of Massachusetts, Amherst},
  year={2007}
}""")
