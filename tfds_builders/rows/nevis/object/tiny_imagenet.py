# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Tiny ImageNet."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import tiny_imagenet
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import SORTED
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "tiny_imagenet",
    title="Tiny ImageNet",
    layouts=(
        Layout(
            tiny_imagenet,
            files=(File("tiny-imagenet-200.zip", "http://cs231n.stanford.edu/tiny-imagenet-200.zip",
                        ("md5:90528d7ca1a48142e341f4ef8d21d0de",), size=248100043),),
            num_examples={splits.TRAIN: 100000, splits.TEST: 10000}),
        Layout(
            tiny_imagenet,
            files=(File(
                "tiny-imagenet-200-slim.tar.xz", None,
                ("sha256:42d7eddb21e1f34c51d39a5d20ff8e19b963701d7486f0eb960c81477363a29e",),
                size=68946544),),
            num_examples={splits.TRAIN: 40000, splits.TEST: 10000},
        built_from_real=True,
            notes="The first 200 of the 500 training images of each class.")),
    splits=splits.TRAIN_TEST,
    paper=paper_rules.TRAIN_TEST,
    paper_order=SORTED,
    paper_size=85099,
    num_classes=200,
    channels=3,
    version="2.0.0",
    homepage="http://cs231n.stanford.edu/",
    notes="The labeled validation images are `test`, as in the reference; the test images have no "
          "public labels. Some images are gray; they decode to three equal channels.",
    citation="""@misc{le2015tiny,
  title={Tiny {ImageNet} visual recognition challenge},
  author={Le, Ya and Yang, Xuan},
  howpublished={CS 231N course, Stanford University},
  year={2015}
}""")
