# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: PASCAL VOC 2005."""

from __future__ import annotations

from tfds_builders import splits
from tfds_builders.parsers import image_names
from tfds_builders.rows.nevis.shared import pascal
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_VOC_CITATION = """@incollection{everingham2006pascal,
  title={The 2005 {PASCAL} visual object classes challenge},
  author={Everingham, Mark and Zisserman, Andrew and Williams, Christopher K I and others},
  booktitle={Machine Learning Challenges},
  year={2006}
}"""

# Beginnings of folders. The databases have more: other classes, and images that the challenge used
# on the other side.
_VOC2005_FOLDERS = {
    **{f"VOC2005_1/PNGImages/{folder}": label for folder, label in (
        ("Caltech_cars", "car"), ("ETHZ_sideviews-cars", "car"), ("TUGraz_cars", "car"),
        ("TUGraz_bike", "bike"), ("Caltech_motorbikes_side", "motorbike"),
        ("TUGraz_person", "person"))},
    **{f"VOC2005_2/PNGImages/{folder}": label for folder, label in (
        ("car", "car"), ("voiture", "car"), ("bicycle", "bike"), ("bike", "bike"),
        ("velo", "bike"), ("motocyclette", "motorbike"), ("motorbike", "motorbike"),
        ("motorcycle", "motorbike"), ("INRIA_graz-person-test", "person"),
        ("INRIA_inria-person-test", "person"), ("pedestrian", "person"), ("pieton", "person"))}}

ROW = Row(
    "pascal_voc2005",
    title="PASCAL VOC 2005",
    layouts=(Layout(
        image_names,
        files=(File("voc2005_1.tar.gz", pascal.DOWNLOAD_URL + "voc2005_1.tar.gz",
                    ("md5:6fbeaee73a81c462b190ca837b977896",)),
               File("voc2005_2.tar.gz", pascal.DOWNLOAD_URL + "voc2005_2.tar.gz",
                    ("md5:15ec3d318b84ffdfa25f1e05de0014e2",))),
        args={"template": "{label}{rest}", "extensions": ("png",),
              "split_files": {"voc2005_1.tar.gz": splits.TRAIN, "voc2005_2.tar.gz": splits.TEST},
              "labels": _VOC2005_FOLDERS, "others": True}),),
    splits=splits.TRAIN_TEST,
    paper_size=881,
    num_classes=4,
    class_names=("bike", "car", "motorbike", "person"),
    channels=3,
    version="2.0.0",
    homepage="http://host.robots.ox.ac.uk/pascal/VOC/voc2005/",
    notes="Labels are those of the folders that the reference chose, not those of the challenge's "
          "own lists: train is of the first database, test of the second. Its draw goes from class "
          "to class, and is not reproduced.",
    citation=_VOC_CITATION)
