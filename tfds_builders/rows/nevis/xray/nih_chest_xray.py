# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: NIH chest X-rays."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import csv_labels
from tfds_builders.rows.nevis.shared import notes
from tfds_builders.rows.nevis.shared import paper_rules
from tfds_builders.rows.row import MULTI_LABEL
from tfds_builders.rows.row import SORTED
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

ROW = Row(
    "nih_chest_xray",
    title="NIH chest X-rays",
    layouts=(Layout(
        csv_labels,
        files=(File("data.zip", "kaggle:nih-chest-xrays/data",
                    ("md5:ddd3acbfa23adf60ac08312b3c4040e2",)),),
        args={"tables": {"Data_Entry_2017.csv": "all"}, "key": "Image Index",
              "image": "images/{item}.png", "group": r"(\d+)_", "joined": ("Finding Labels", "|"),
              "lists": {"train_val_list.txt": "train", "test_list.txt": "test"}}),),
    splits=splits.TRAIN_TEST,
    paper=paper_rules.TRAIN_TEST,
    paper_order=SORTED,
    paper_size=73638,
    kind=MULTI_LABEL,
    num_classes=15,
    class_names=("Atelectasis", "Consolidation", "Infiltration", "Pneumothorax", "Edema",
                 "Emphysema", "Fibrosis", "Effusion", "Pneumonia", "Pleural_Thickening",
                 "Cardiomegaly", "Nodule", "Mass", "Hernia", "No Finding"),
    channels=1,
    version="2.0.0",
    homepage="https://nihcc.app.box.com/v/ChestXray-NIHCC",
    notes="14 findings and \"No Finding\"; 112,120 images of about 45 GB. The images of one "
          "patient are in one split; the reference divides image by image. "
          + notes.KAGGLE_REPACKED,
    citation="""@inproceedings{wang2017chestx,
  title={{ChestX-ray8}: hospital-scale chest X-ray database and benchmarks},
  author={Wang, Xiaosong and Peng, Yifan and Lu, Le and Lu, Zhiyong and Bagheri, Mohammadhadi and
    Summers, Ronald M},
  booktitle={CVPR},
  year={2017}
}""")
