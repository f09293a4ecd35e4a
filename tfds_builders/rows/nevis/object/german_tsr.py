# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: German Traffic Sign Recognition Benchmark."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import traffic_signs
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import SORTED
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_GTSRB = "https://sid.erda.dk/public/archives/daaeac0d7ce1152aea9b61d9f1e19370"

ROW = Row(
    "german_tsr",
    title="German Traffic Sign Recognition Benchmark",
    layouts=(Layout(
        traffic_signs,
        files=(File("GTSRB_Final_Training_Images.zip", f"{_GTSRB}/GTSRB_Final_Training_Images.zip",
                    ("md5:f33fd80ac59bff73c82d25ab499e03a3",)),
               File("GTSRB_Final_Test_Images.zip", f"{_GTSRB}/GTSRB_Final_Test_Images.zip",
                    ("md5:c7e4e6327067d32654124b0fe9e82185",)),
               File("GTSRB_Final_Test_GT.zip", f"{_GTSRB}/GTSRB_Final_Test_GT.zip",
                    ("md5:fe31e9c9270bbcd7b84b7f21a9d9d9e5",))),
        args={"train": "GTSRB_Final_Training_Images.zip", "test": "GTSRB_Final_Test_Images.zip",
              "table": "GTSRB_Final_Test_GT.zip"},
        num_examples={splits.TRAIN: 39209, splits.TEST: 12630}),),
    splits=splits.TRAIN_TEST,
    paper=paper_rules.TRAIN_TEST,
    paper_order=SORTED,
    paper_size=33392,
    num_classes=43,
    channels=3,
    version="2.0.0",
    homepage="https://benchmark.ini.rub.de",
    notes="The 30 frames of one sign that was passed by are in one split here; the reference draws "
          "frame by frame, so its dev sets hold near copies of training images.",
    citation="""@inproceedings{stallkamp2011gtsrb,
  title={The {German Traffic Sign Recognition Benchmark}: A multi-class classification competition},
  author={Stallkamp, Johannes and Schlipsing, Marc and Salmen, Jan and Igel, Christian},
  booktitle={International Joint Conference on Neural Networks},
  year={2011}
}""")
