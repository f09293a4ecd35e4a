# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Animals with Attributes 2."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import class_attributes
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import MULTI_LABEL
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "awa2",
    title="Animals with Attributes 2",
    layouts=(Layout(
        class_attributes,
        files=(File("AwA2-data.zip", "https://cvml.ist.ac.at/AwA2/AwA2-data.zip",
                    ("md5:eaa27cf799d5cf55af372356d7281b5e",)),),
        args={"num_attributes": 85},
        num_examples={splits.TRAIN: 30337, splits.TEST: 6985}),),
    splits=splits.TRAIN_TEST,
    paper=paper_rules.TRAIN_TEST,
    paper_size=25827,
    kind=MULTI_LABEL,
    num_classes=85,
    channels=3,
    version="2.0.0",
    homepage="https://cvml.ist.ac.at/AwA2",
    license="licenses of the single images, which all allow research",
    notes="A zero-shot task: the ten test classes are not among the forty training classes, and "
          "all images of a class share one set of attributes.",
    citation="""@article{xian2018zero,
  title={Zero-shot learning: a comprehensive evaluation of the good, the bad and the ugly},
  author={Xian, Yongqin and Lampert, Christoph H. and Schiele, Bernt and Akata, Zeynep},
  journal={IEEE Transactions on Pattern Analysis and Machine Intelligence},
  year={2018}
}""")
