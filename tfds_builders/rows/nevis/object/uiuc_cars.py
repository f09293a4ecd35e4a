# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: UIUC cars, patches with a car or without."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import image_names
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.nevis.shared import pascal
from tfds_builders.rows.row import Compat
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "uiuc_cars",
    title="UIUC cars, patches with a car or without",
    layouts=(Layout(
        image_names,
        files=(File("uiuc.tar.gz", pascal.DOWNLOAD_URL + "uiuc.tar.gz",
                    ("md5:716c6078f57839bb440967fa74116da3",)),),
        args={"template": "{label}{rest}", "extensions": ("pgm", "png", "jpg"),
              "labels": {"neg": "neg", "pos": "pos"}, "ignore": "TestImages"},
        num_examples={splits.POOL: 1050}),),
    splits=splits.POOLED,
    compat=Compat(
        args={"labels": {"neg": "neg", "pos": "pos", "test-": "neg"},
              "ignore": "TestImages_Scale"},
        paper=paper_rules.POOLED,
        notes="170 street scenes of the detection test, with 200 cars in them, are further "
              "examples of `neg`."),
    paper_size=823,
    num_classes=2,
    class_names=("neg", "pos"),
    channels=1,
    version="2.0.0",
    homepage="http://host.robots.ox.ac.uk/pascal/VOC/databases.html#UIUC",
    notes="The 1,050 training patches only (550 with a car). The paper's size counts 170 street "
          "scenes too, which the reference takes for images without a car.",
    citation="""@inproceedings{agarwal2002learning,
  title={Learning a sparse representation for object detection},
  author={Agarwal, Shivani and Roth, Dan},
  booktitle={European Conference on Computer Vision},
  year={2002}
}""")
