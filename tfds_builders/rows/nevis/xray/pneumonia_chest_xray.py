# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: Pneumonia in chest X-rays."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import class_folders
from tfds_builders.rows.nevis.shared import notes
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "pneumonia_chest_xray",
    title="Pneumonia in chest X-rays",
    layouts=(Layout(
        class_folders,
        files=(File("chest-xray-pneumonia.zip", "kaggle:paultimothymooney/chest-xray-pneumonia",
                    ("md5:930763e3580e76de9c2c849ec933b5d6",)),),
        args={"template": "chest_xray/chest_xray/{split}/{label}/{item}.jpeg",
              "split_folders": {"train": splits.TRAIN, "val": splits.VALIDATION,
                                "test": splits.TEST},
              # The archive holds everything twice.
              "ignore": "chest_xray/(train|val|test)/.*"},
        num_examples={splits.TRAIN: 5216, splits.VALIDATION: 16, splits.TEST: 624},
        notes=notes.KAGGLE_REPACKED),),
    splits=splits.OFFICIAL,
    paper_size=5216,
    num_classes=2,
    class_names=("NORMAL", "PNEUMONIA"),
    channels=1,
    version="2.0.0",
    homepage="https://www.kaggle.com/datasets/paultimothymooney/chest-xray-pneumonia",
    license="CC BY 4.0",
    notes="The published splits: `validation` has only 16 images, too few to develop on. The "
          "reference's draw of dev from the training images is not reproduced.",
    citation="""@article{kermany2018identifying,
  title={Identifying medical diagnoses and treatable diseases by image-based deep learning},
  author={Kermany, Daniel S and Goldbaum, Michael and Cai, Wenjia and others},
  journal={Cell},
  volume={172},
  number={5},
  pages={1122--1131},
  year={2018}
}""")
