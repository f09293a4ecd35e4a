# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: people with several photographs."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import last_of_class
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

LFW = Row(
    "lfw",
    title="Labeled faces in the wild",
    layouts=(Layout(
        last_of_class,
        files=(File("lfw.tgz",
                    "http://vis-www.cs.umass.edu/lfw/lfw.tgz",
                    ("md5:a17d05bd522c52d84eca14327a23d494",)),),
        args={"min_images": 5, "last": ((splits.TEST, 2), (splits.VALIDATION, 1))}),),
    splits={splits.TRAIN: {splits.TRAIN: 1.0}, splits.VALIDATION: {splits.VALIDATION: 1.0},
            splits.TEST: {splits.TEST: 1.0}},
    paper_size=11248,
    num_classes=423,
    channels=3,
    homepage="http://vis-www.cs.umass.edu/lfw/",
    notes="The 423 people with five images or more (5,985 images); of each the last two test "
          "and the one before them validates, by name. The paper's size, 11,248, is .85 of "
          "all 13,233 images, which its code does not use. The publisher's link is reported "
          "dead: look for a copy of lfw.tgz.",
    citation="""@techreport{huang2007labeled,
  title={Labeled faces in the wild: a database for studying face recognition},
  author={Huang, Gary B and Ramesh, Manu and Berg, Tamara and Learned-Miller, Erik},
  institution={University of Massachusetts, Amherst},
  year={2007}
}""")

LFWA = Row(
    "lfwa",
    title="Labeled faces in the wild, aligned",
    layouts=(Layout(
        last_of_class,
        files=(File("lfwa.zip",
                    "https://drive.google.com/u/0/uc?id=1p1wjaqpTh_5RHfJu4vUh8JJCdKwYMHCp&e"
                   "xport=download&confirm=y",
                    ("md5:96313a4780499f939bc4a06d5bebaf7d",)),),
        args={"min_images": 5, "last": ((splits.TEST, 2), (splits.VALIDATION, 1))}),),
    splits={splits.TRAIN: {splits.TRAIN: 1.0}, splits.VALIDATION: {splits.VALIDATION: 1.0},
            splits.TEST: {splits.TEST: 1.0}},
    paper_size=4716,
    num_classes=423,
    channels=3,
    homepage="https://talhassner.github.io/home/projects/lfwa/",
    notes="The 423 people with five images or more (5,985 images); of each the last two test "
          "and the one before them validates, by name.",
    citation="""@article{wolf2011effective,
  title={Effective unconstrained face recognition by combining multiple descriptors},
  author={Wolf, Lior and Hassner, Tal and Taigman, Yaniv},
  journal={IEEE Transactions on Pattern Analysis and Machine Intelligence},
  year={2011}
}""")

ROWS = (LFW, LFWA)
