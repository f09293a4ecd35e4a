# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: ISIC 2017, skin lesions."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import csv_labels
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_ISIC = "https://isic-challenge-data.s3.amazonaws.com/2017/"

ROW = Row(
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
    splits=splits.OFFICIAL,
    paper_size=2000,
    num_classes=3,
    class_names=("melanoma", "seborrheic keratosis", "benign nevus"),
    channels=3,
    version="2.0.0",
    homepage="https://challenge.isic-archive.com/data/",
    license="CC0",
    notes="The official splits. The reference divides the training images further by a permutation "
          "of positions, which is not reproduced.",
    citation="""@inproceedings{codella2018skin,
  title={Skin lesion analysis toward melanoma detection},
  author={Codella, Noel C F and Gutman, David and Celebi, M Emre and others},
  booktitle={ISBI},
  year={2018}
}""")
