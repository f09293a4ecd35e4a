# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: CBIS-DDSM mammograms."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import case_tables
from tfds_builders.rows.nevis.shared import notes
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "ddsm",
    title="CBIS-DDSM mammograms",
    layouts=(Layout(
        case_tables,
        files=(File("cbis-ddsm-breast-cancer-image-dataset.zip",
                    "kaggle:awsaf49/cbis-ddsm-breast-cancer-image-dataset",
                    ("md5:eba16e95a30193fcbda1d2668d96015f",)),),
        # The order is that of the reference.
        args={"tables": {"calc_case_description_train_set.csv": splits.TRAIN,
                         "mass_case_description_train_set.csv": splits.TRAIN,
                         "calc_case_description_test_set.csv": splits.TEST,
                         "mass_case_description_test_set.csv": splits.TEST},
              "info": "dicom_info.csv", "max_missing": 30},
        notes=notes.KAGGLE_REPACKED),),
    splits=splits.TRAIN_TEST,
    paper=paper_rules.TRAIN_TEST,
    paper_size=2075,
    num_classes=3,
    class_names=("BENIGN", "MALIGNANT", "BENIGN_WITHOUT_CALLBACK"),
    channels=1,
    version="2.0.0",
    homepage="https://www.kaggle.com/datasets/awsaf49/cbis-ddsm-breast-cancer-image-dataset",
    license="CC BY 3.0 (the collection at TCIA)",
    notes="Full mammograms of some 5,000 x 3,000 pixels; the official splits of masses and of "
          "calcifications, put together. An image with several abnormalities has the label of "
          "the first, as in the reference. Here the training images of one patient are in one "
          "split; the reference draws image by image. A patient whose masses are "
          "in one official split may have calcifications in the other.",
    citation="""@article{lee2017curated,
  title={A curated mammography data set for use in computer-aided detection and diagnosis research},
  author={Lee, Rebecca Sawyer and Gimenez, Francisco and Hoogi, Assaf and others},
  journal={Scientific Data},
  volume={4},
  year={2017}
}""")
