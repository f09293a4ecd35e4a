# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Labeled faces in the wild, aligned."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import last_of_class
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "lfwa",
    title="Labeled faces in the wild, aligned",
    layouts=(Layout(
        last_of_class,
        files=(File("lfwa.zip",
                    "https://drive.google.com/u/0/uc?id=1p1wjaqpTh_5RHfJu4vUh8JJCdKwYMHCp&e"
                   "xport=download&confirm=y",
                    ("md5:96313a4780499f939bc4a06d5bebaf7d",)),),
        args={"min_images": 5, "last": ((splits.TEST, 2), (splits.VALIDATION, 1),
                                       (splits.DEV, 1))}),),
    splits=splits.GIVEN,
    paper_size=4716,
    num_classes=423,
    channels=3,
    version="2.0.0",
    homepage="https://talhassner.github.io/home/projects/lfwa/",
    notes="The 423 people with five images or more (5,985 images); the last two of each person "
          "by name are test, the one before them validation, the one before dev.",
    citation="""@article{wolf2011effective,
  title={Effective unconstrained face recognition by combining multiple descriptors},
  author={Wolf, Lior and Hassner, Tal and Taigman, Yaniv},
  journal={IEEE Transactions on Pattern Analysis and Machine Intelligence},
  year={2011}
}""")
