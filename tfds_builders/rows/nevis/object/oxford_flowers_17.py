# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Oxford Flowers, 17 categories."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import mat_labels
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_FLOWERS_URL = "https://www.robots.ox.ac.uk/~vgg/data/flowers/17/"

ROW = Row(
    "oxford_flowers_17",
    title="Oxford Flowers, 17 categories",
    layouts=(Layout(
        mat_labels,
        files=(File("17flowers.tgz", _FLOWERS_URL + "17flowers.tgz",
                    ("md5:b59a65d8d1a99cd66944d474e1289eab",)),
               File("datasplits.mat", _FLOWERS_URL + "datasplits.mat",
                    ("md5:4828cddfd0d803c5abbdebcb1e148a1e",))),
        args={"table": "datasplits.mat", "image": "jpg/{item}.jpg",
              "number_format": "image_{:04d}", "images_per_class": 80,
              "numbers": {"trn1": splits.TRAIN, "val1": splits.VALIDATION, "tst1": splits.TEST}},
        num_examples={splits.TRAIN: 680, splits.VALIDATION: 340, splits.TEST: 340}),),
    splits=splits.OFFICIAL,
    paper=paper_rules.OFFICIAL,
    paper_size=680,
    num_classes=17,
    class_names=("daffodil", "snowdrop", "lily of the valley", "bluebell", "crocus", "iris",
                 "tigerlily", "tulip", "fritillary", "sunflower", "daisy", "coltsfoot",
                 "dandelion", "cowslip", "buttercup", "windflower", "pansy"),
    channels=3,
    version="2.0.0",
    homepage="https://www.robots.ox.ac.uk/~vgg/data/flowers/17/",
    notes="The first of the three published splits. The archive numbers its images and does not "
          "name the classes; their names are those of the publisher's page, in its order.",
    citation="""@inproceedings{nilsback2006visual,
  title={A visual vocabulary for flower classification},
  author={Nilsback, Maria-Elena and Zisserman, Andrew},
  booktitle={Conference on Computer Vision and Pattern Recognition},
  year={2006}
}""")
