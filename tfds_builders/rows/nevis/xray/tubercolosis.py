# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Tuberculosis in chest X-rays."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import class_folders
from tfds_builders.rows.nevis.shared import notes
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import SORTED
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "tubercolosis",
    title="Tuberculosis in chest X-rays",
    layouts=(Layout(
        class_folders,
        files=(File("tuberculosis-tb-chest-xray-dataset.zip",
                    "kaggle:tawsifurrahman/tuberculosis-tb-chest-xray-dataset",
                    ("md5:3abdda8a1100ff97c9dce7cc2413d941",)),),
        args={"template": "{label}/{item}.png"},
        num_examples={splits.POOL: 4200},
        notes=notes.KAGGLE_REPACKED),),
    splits=splits.POOLED,
    paper=paper_rules.POOLED,
    paper_order=SORTED,
    paper_size=2809,
    num_classes=2,
    class_names=("Normal", "Tuberculosis"),
    channels=3,
    version="2.0.0",
    homepage="https://www.kaggle.com/datasets/tawsifurrahman/tuberculosis-tb-chest-xray-dataset",
    notes="The misspelled name is that of the paper and of the reference. The images of the two "
          "classes come from different collections, which may differ in more than the disease.",
    citation="""@article{rahman2020reliable,
  title={Reliable tuberculosis detection using chest X-ray with deep learning, segmentation and
         visualization},
  author={Rahman, Tawsifur and Khandakar, Amith and Kadir, Muhammad Abdul and others},
  journal={IEEE Access},
  volume={8},
  pages={191586--191601},
  year={2020}
}""")
