# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""NEVIS'22: the first PASCAL challenges, and the cars of UIUC."""

from __future__ import annotations

from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders.parsers import image_names
from tfds_builders.parsers import voc
from tfds_builders.rows.row import Compat
from tfds_builders.rows.row import File
from tfds_builders.rows.row import Layout
from tfds_builders.rows.row import Row

_VOC_URL = "http://host.robots.ox.ac.uk/pascal/VOC/download/"
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

PASCAL_VOC2005 = Row(
    "pascal_voc2005",
    title="PASCAL VOC 2005",
    layouts=(Layout(
        image_names,
        files=(File("voc2005_1.tar.gz", _VOC_URL + "voc2005_1.tar.gz",
                    ("md5:6fbeaee73a81c462b190ca837b977896",)),
               File("voc2005_2.tar.gz", _VOC_URL + "voc2005_2.tar.gz",
                    ("md5:15ec3d318b84ffdfa25f1e05de0014e2",))),
        args={"template": "{label}{rest}", "extensions": ("png",),
              "split_files": {"voc2005_1.tar.gz": splits.TRAIN, "voc2005_2.tar.gz": splits.TEST},
              "labels": _VOC2005_FOLDERS, "others": True}),),
    splits=splits.TRAIN_TEST,
    paper_size=881,
    num_classes=4,
    class_names=("bike", "car", "motorbike", "person"),
    channels=3,
    homepage="http://host.robots.ox.ac.uk/pascal/VOC/voc2005/",
    notes="Labels are those of the folders that the reference chose, not those of the challenge's "
          "own lists: train is of the first database, test of the second. Its draw goes from class "
          "to class, and is not reproduced.",
    citation=_VOC_CITATION)

PASCAL_VOC2006 = Row(
    "pascal_voc2006",
    title="PASCAL VOC 2006, images of one class",
    layouts=(Layout(
        voc,
        files=(File("voc2006_trainval.tar", _VOC_URL + "voc2006_trainval.tar",
                    ("md5:af06612e5ad9863bde6fa7aae55f8866",)),
               File("voc2006_test.tar", _VOC_URL + "voc2006_test.tar",
                    ("md5:6bd028d82d057621c4fc69e9c56517ef",))),
        args={"sets": {"voc2006_trainval.tar": ("trainval", splits.TRAIN),
                       "voc2006_test.tar": ("test", splits.TEST)},
              "image": "PNGImages/{item}.png"}),),
    splits=splits.TRAIN_TEST,
    compat=Compat(
        args={"several": voc.LAST},
        paper={splits.TRAIN: paper_draws.TRAIN_ONLY, splits.TEST: paper_draws.whole("test")},
        notes="An image of several classes has one of them as its label, that whose list comes "
              "last in the archive: a right answer may count as wrong, in test too. 2,618 images "
              "are train and validation."),
    paper_size=2211,
    num_classes=10,
    class_names=("bicycle", "bus", "car", "cat", "cow", "dog", "horse", "motorbike", "person",
                 "sheep"),
    channels=3,
    homepage="http://host.robots.ox.ac.uk/pascal/VOC/voc2006/",
    notes="The images of the challenge show one or more classes each; the stream wants one label. "
          "Images of several classes are left out here. The paper's size counts them.",
    citation="""@misc{everingham2006voc,
  title={The {PASCAL} visual object classes challenge 2006 results},
  author={Everingham, Mark and Zisserman, Andrew and Williams, Christopher K I and Van Gool, Luc},
  howpublished={http://www.pascal-network.org/challenges/VOC/voc2006/results.pdf},
  year={2006}
}""")

UIUC_CARS = Row(
    "uiuc_cars",
    title="UIUC cars, patches with a car or without",
    layouts=(Layout(
        image_names,
        files=(File("uiuc.tar.gz", _VOC_URL + "uiuc.tar.gz",
                    ("md5:716c6078f57839bb440967fa74116da3",)),),
        args={"template": "{label}{rest}", "extensions": ("pgm", "png", "jpg"),
              "labels": {"neg": "neg", "pos": "pos"}, "ignore": "TestImages"},
        num_examples={splits.POOL: 1050}),),
    splits=splits.POOLED,
    compat=Compat(
        args={"labels": {"neg": "neg", "pos": "pos", "test-": "neg"},
              "ignore": "TestImages_Scale"},
        paper={splits.POOL: paper_draws.POOLED},
        notes="170 street scenes of the detection test, with 200 cars in them, are further "
              "examples of `neg`."),
    paper_size=823,
    num_classes=2,
    class_names=("neg", "pos"),
    channels=1,
    homepage="http://host.robots.ox.ac.uk/pascal/VOC/databases.html#UIUC",
    notes="The 1,050 training patches only (550 with a car). The paper's size counts 170 street "
          "scenes too, which the reference takes for images without a car.",
    citation="""@inproceedings{agarwal2002learning,
  title={Learning a sparse representation for object detection},
  author={Agarwal, Shivani and Roth, Dan},
  booktitle={European Conference on Computer Vision},
  year={2002}
}""")

ROWS = (PASCAL_VOC2005, PASCAL_VOC2006, UIUC_CARS)
