# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: medical pictures with tables of findings."""

from __future__ import annotations

from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders.parsers import csv_labels
from tfds_builders.rows.row import MULTI_LABEL
from tfds_builders.rows.row import SORTED
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_ISIC = "https://isic-challenge-data.s3.amazonaws.com/2017/"

MELANOMA = Row(
    "melanoma",
    title="ISIC 2017, skin lesions",
    layouts=(Layout(
        csv_labels,
        files=(File("ISIC-2017_Training_Data.zip", _ISIC + "ISIC-2017_Training_Data.zip",
                    ("md5:a14a7e622c67a358797ae59abb8a0b0c",)),
               File("ISIC-2017_Training_Part3_GroundTruth.csv",
                    _ISIC + "ISIC-2017_Training_Part3_GroundTruth.csv",
                    ("md5:0cb4add57c65c22ca1a1cb469ad1f0c5",)),
               File("ISIC-2017_Validation_Data.zip", _ISIC + "ISIC-2017_Validation_Data.zip",
                    ("md5:8d6419d942112f709894c0d82f6c9038",)),
               File("ISIC-2017_Validation_Part3_GroundTruth.csv",
                    _ISIC + "ISIC-2017_Validation_Part3_GroundTruth.csv",
                    ("md5:8d4826a76adcd8fb928ca52a23ebae4c",)),
               File("ISIC-2017_Test_v2_Data.zip", _ISIC + "ISIC-2017_Test_v2_Data.zip",
                    ("md5:5f6a0b5e1f2972bd1f5ea02680489f09",)),
               File("ISIC-2017_Test_v2_Part3_GroundTruth.csv",
                    _ISIC + "ISIC-2017_Test_v2_Part3_GroundTruth.csv",
                    ("md5:9e957b72a0c4f9e0d924889fd03b36ed",))),
        args={"tables": {"ISIC-2017_Training_Part3_GroundTruth.csv": "train",
                         "ISIC-2017_Validation_Part3_GroundTruth.csv": "validation",
                         "ISIC-2017_Test_v2_Part3_GroundTruth.csv": "test"},
              "key": "image_id", "image": "{item}.jpg",
              "flags": (("melanoma", "melanoma"),
                        ("seborrheic_keratosis", "seborrheic keratosis")),
              "otherwise": "benign nevus"},
        num_examples={"train": 2000, "validation": 150, "test": 600}),),
    splits={"train": {splits.TRAIN: 1.0}, "validation": {splits.VALIDATION: 1.0},
            "test": {splits.TEST: 1.0}},
    paper_size=2000,
    num_classes=3,
    class_names=("melanoma", "seborrheic keratosis", "benign nevus"),
    channels=3,
    homepage="https://challenge.isic-archive.com/data/",
    licence="CC0",
    notes="The official splits. The reference divides the training images further by a permutation "
          "of positions, which is not reproduced.",
    citation="""@inproceedings{codella2018skin,
  title={Skin lesion analysis toward melanoma detection},
  author={Codella, Noel C F and Gutman, David and Celebi, M Emre and others},
  booktitle={ISBI},
  year={2018}
}""")

NIH_CHEST_XRAY = Row(
    "nih_chest_xray",
    title="NIH chest X-rays",
    layouts=(Layout(
        csv_labels,
        files=(File("data.zip", "kaggle:nih-chest-xrays/data",
                    ("md5:ddd3acbfa23adf60ac08312b3c4040e2",)),),
        args={"tables": {"Data_Entry_2017.csv": "all"}, "key": "Image Index",
              "image": "images/{item}.png", "joined": ("Finding Labels", "|"),
              "lists": {"train_val_list.txt": "train", "test_list.txt": "test"}}),),
    splits=splits.TRAIN_TEST,
    paper={"train": paper_draws.TRAIN_ONLY, "test": paper_draws.whole("test")},
    paper_order=SORTED,
    paper_size=73638,
    kind=MULTI_LABEL,
    num_classes=15,
    class_names=("Atelectasis", "Consolidation", "Infiltration", "Pneumothorax", "Edema",
                 "Emphysema", "Fibrosis", "Effusion", "Pneumonia", "Pleural_Thickening",
                 "Cardiomegaly", "Nodule", "Mass", "Hernia", "No Finding"),
    channels=1,
    homepage="https://nihcc.app.box.com/v/ChestXray-NIHCC",
    notes="14 findings, and none; 112,120 images of about 45 GB. Kaggle packs its archive again "
          "when it changes, and the sum changes with it.",
    citation="""@inproceedings{wang2017chestx,
  title={{ChestX-ray8}: hospital-scale chest X-ray database and benchmarks},
  author={Wang, Xiaosong and Peng, Yifan and Lu, Le and Lu, Zhiyong and Bagheri, Mohammadhadi and
    Summers, Ronald M},
  booktitle={CVPR},
  year={2017}
}""")

ROWS = (MELANOMA, NIH_CHEST_XRAY)
