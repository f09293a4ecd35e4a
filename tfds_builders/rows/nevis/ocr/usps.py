# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: USPS handwritten digits."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import libsvm
from tfds_builders.rows.nevis.shared import digits
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_LIBSVM_URL = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/"

ROW = Row(
    "usps",
    title="USPS handwritten digits",
    layouts=(Layout(
        libsvm,
        files=(File("usps.bz2", _LIBSVM_URL + "usps.bz2",
                    ("md5:ec16c51db3855ca6c91edd34d0e9b197",)),
               File("usps.t.bz2", _LIBSVM_URL + "usps.t.bz2",
                    ("md5:8ea070ee2aca1ac39742fdd1ef5ed118",))),
        args={"parts": {"usps.bz2": splits.TRAIN, "usps.t.bz2": splits.TEST},
              "height": 16, "width": 16, "low": -1.0, "high": 1.0},
        num_examples={splits.TRAIN: 7291, splits.TEST: 2007}),),
    splits=splits.TRAIN_TEST,
    paper=paper_rules.TRAIN_TEST,
    paper_size=6207,
    num_classes=10,
    class_names=digits.CLASS_NAMES,
    channels=1,
    version="2.0.0",
    homepage="https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass.html#usps",
    notes="Values from -1 to 1 become the nearest of 256 grays; the reference rounds them down.",
    citation="""@article{hull1994database,
  title={A database for handwritten text recognition research},
  author={Hull, Jonathan J.},
  journal={IEEE Transactions on Pattern Analysis and Machine Intelligence},
  volume={16},
  number={5},
  year={1994}
}""")
