# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Food-101."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import listed_images
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "food101",
    title="Food-101",
    layouts=(Layout(
        listed_images,
        files=(File(
            "food-101.tar.gz", "http://data.vision.ee.ethz.ch/cvl/food-101.tar.gz",
            ("md5:85eeb15f3717b99a5da872d97d918f87",
             "sha256:d97d15e438b7f4498f96086a4f7e2fa42a32f2712e87d3295441b2b6314053a4"),
            size=4996278331),),
        args={"lists": {"meta/train.txt": splits.TRAIN, "meta/test.txt": splits.TEST},
              "line": "{label}/{item}", "image": "images/{label}/{item}.jpg"},
        num_examples={splits.TRAIN: 75750, splits.TEST: 25250}),),
    splits=splits.TRAIN_TEST,
    paper=paper_rules.TRAIN_TEST,
    paper_size=75750,
    num_classes=101,
    channels=3,
    version="2.0.0",
    homepage="https://data.vision.ee.ethz.ch/cvl/datasets_extra/food-101/",
    license="scientific fair use; the images are foodspotting.com's",
    notes="The training images were never cleaned; the test images were. The size that the paper "
          "gives is the whole official training split, of which the reference keeps 85 %.",
    citation="""@inproceedings{bossard2014food,
  title={Food-101 -- Mining discriminative components with random forests},
  author={Bossard, Lukas and Guillaumin, Matthieu and Van Gool, Luc},
  booktitle={European Conference on Computer Vision},
  year={2014}
}""")
